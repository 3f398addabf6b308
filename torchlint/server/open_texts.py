"""What is open and what is known of it: when texts are checked, on one thread, and that nothing old is ever told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Protocol, TypeVar

from lsprotocol.types import Diagnostic

from torchlint.server.documents import Cells, Document, Open, Script
from torchlint.server.folders import Folders, changed
from torchlint.server.published import Judged, judge

Result = TypeVar("Result")

_STACK = 64 * 1024 * 1024
"""Bytes of stack: both trees are walked by recursion in places."""


class Worker:
    """Does one thing after another; what is cancelled before its turn is not done."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        before = threading.stack_size(_STACK)
        try:
            # Not a pool of the library: the interpreter would wait for it at the end, and the editor for both.
            threading.Thread(target=self._work, name="torchlint", daemon=True).start()
        finally:
            threading.stack_size(before)

    def do(self, work: Callable[[], Result]) -> Future[Result]:
        """Do work when its turn comes; what it raises comes with the future."""
        future: Future[Result] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001  # handed on to be told
                future.set_exception(error)

        self._jobs.put(job)
        return future

    def _work(self) -> None:
        while True:
            self._jobs.get()()


DELAY = 0.2
"""Seconds without a keystroke after which a text is checked."""

POLL = 1.0
"""Seconds between two looks at the files that results rest on, where the editor does not watch them."""


class Editor(Protocol):
    """What the session tells the editor."""

    @property
    def encoding(self) -> str:
        """The units in which the editor counts columns."""

    @property
    def trail(self) -> bool:
        """Whether the editor shows places related to a diagnostic."""

    def publish(self, uri: str, version: int | None, diagnostics: list[Diagnostic]) -> None:
        """Show the diagnostics of a document, in place of those before."""

    def complain(self, message: str) -> None:
        """Tell the user what went wrong."""

    def log(self, message: str) -> None:
        """Write down what was done."""


@dataclass
class Held:
    """What is open as one file, and how far its check is."""

    opened: Open
    revision: int = 0
    """Counts changes of the text and of what its result rests on."""
    timer: asyncio.TimerHandle | None = None
    task: asyncio.Task[None] | None = None
    done: int = -1
    """The revision that the last check was of."""
    judged: Judged = field(default_factory=Judged)
    """What was last told."""
    complaints: frozenset[str] = frozenset()


class OpenTexts:
    """All that is open; everything here runs on one event loop, and only checks run beside it, one at a time."""

    def __init__(self, folders: Folders, editor: Editor) -> None:
        self.folders = folders
        self._editor = editor
        self._held: dict[str, Held] = {}
        self._worker = Worker()

    # ------------------------------------------------------------------ what is open
    def open(self, opened: Open) -> None:
        """Take a document or a notebook and check it at once."""
        self.close(opened.uri, silently=True)
        self._held[opened.uri] = Held(opened)
        self.touched(opened.uri, 0)

    def close(self, uri: str, silently: bool = False) -> None:
        """Forget what is open there, and take its diagnostics away."""
        held = self._held.pop(uri, None)
        if held is None:
            return
        held.revision += 1
        if held.timer is not None:
            held.timer.cancel()
        for document in held.opened.documents if not silently else ():
            self._editor.publish(document.uri, None, [])

    def clear(self, uri: str) -> None:
        """Take away the diagnostics of a document that is no more."""
        self._editor.publish(uri, None, [])

    def end(self) -> None:
        """Stop checking; what is under way comes to its end untold."""
        for uri in list(self._held):
            self.close(uri, silently=True)

    def script(self, uri: str) -> Script | None:
        """Return the document that is open there and is no cell."""
        held = self._held.get(uri)
        return held.opened if held is not None and isinstance(held.opened, Script) else None

    def notebook(self, uri: str) -> Cells | None:
        """Return the notebook that is open there."""
        held = self._held.get(uri)
        return held.opened if held is not None and isinstance(held.opened, Cells) else None

    def holding(self, uri: str) -> tuple[Held, Document] | None:
        """Return what a document belongs to, itself or the notebook around it, and the document."""
        for held in self._held.values():
            for document in held.opened.documents:
                if document.uri == uri:
                    return held, document
        return None

    # ------------------------------------------------------------------ when to check
    def touched(self, uri: str, delay: float | None = None) -> None:
        """Check again, when nothing else has changed for so many seconds; by default as long as typing pauses."""
        held = self._held.get(uri)
        if held is None:
            return
        held.revision += 1
        if held.timer is not None:
            held.timer.cancel()
        held.timer = asyncio.get_running_loop().call_later(DELAY if delay is None else delay, self._due, held)

    def look_around(self, everything: bool = False) -> None:
        """Check again what rests on files that have changed, or all that is open."""
        for uri, held in self._held.items():
            if everything or (held.done == held.revision and changed(held.judged.rests_on)):
                self.touched(uri, 0)

    async def look_around_for_ever(self) -> None:
        """Look again and again, for editors that do not watch files."""
        while True:
            await asyncio.sleep(POLL)
            self.look_around()

    def _due(self, held: Held) -> None:
        held.timer = None
        self._begin(held)

    def _begin(self, held: Held) -> asyncio.Task[None]:
        if held.task is None or held.task.done():
            held.task = asyncio.get_running_loop().create_task(self._check(held))
            held.task.add_done_callback(self._failed)
        return held.task

    def _failed(self, task: asyncio.Task[None]) -> None:
        error = task.exception() if not task.cancelled() else None
        if error is not None:
            self._editor.complain(f"internal fault, please report it: {type(error).__name__}: {error}")

    async def judged(self, held: Held) -> Judged:
        """Return what is known of a text as it is now; it is checked first where that was not done yet."""
        while held.done != held.revision and self._held.get(held.opened.uri) is held:
            await asyncio.shield(self._begin(held))
        return held.judged if held.done == held.revision else Judged()

    async def beside(self, work: Callable[[], Result]) -> Result:
        """Do work in the thread that checks."""
        return await asyncio.wrap_future(self._worker.do(work))

    # ------------------------------------------------------------------ checking
    async def _check(self, held: Held) -> None:
        """Check what is open; where it changes meanwhile, what came is dropped, and the next check waits its time."""
        while held.done != held.revision and self._held.get(held.opened.uri) is held:
            revision = held.revision
            judged = await self.beside(partial(self._judge, held, revision, held.opened.kept()))
            if held.revision == revision:
                self._settle(held, judged)
            elif held.timer is not None:
                break

    def _judge(self, held: Held, revision: int, opened: Open) -> Judged:
        """Check a text, in the thread for it, unless it has been overtaken while it waited its turn."""
        if held.revision != revision:
            return held.judged
        return judge(opened, self.folders, held.judged, self._editor.encoding, self._editor.trail)

    def _settle(self, held: Held, judged: Judged) -> None:
        """Tell what came of a check of the text that is open now."""
        checked = judged.checked
        if checked is not None and checked is not held.judged.checked:
            self._editor.log(f"checked {checked.wanted.name}: {len(checked.result.findings)} findings")
        held.done, held.judged = held.revision, judged
        for document in held.opened.documents:
            diagnostics = judged.drawn.of(document.uri) if judged.drawn is not None else []
            self._editor.publish(document.uri, document.version, diagnostics)
        self._complain(held, judged.complaints)
        if changed(judged.rests_on):  # while it was being checked, when a notice of it was not heeded
            self.touched(held.opened.uri, 0)

    def _complain(self, held: Held, complaints: Iterable[str]) -> None:
        """Tell what went wrong, once for all that is open and not at every keystroke."""
        before = frozenset[str]().union(*(each.complaints for each in self._held.values()))
        held.complaints = frozenset(complaints)
        for message in sorted(held.complaints - before):
            self._editor.complain(message)
