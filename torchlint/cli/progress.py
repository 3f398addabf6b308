"""A line on standard error that says how far a run is, where a person is looking and waits."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size

from torchlint.output.screen import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_PATIENCE = 1.0
"""Seconds that nobody minds to wait without a word."""
_EVERY = 0.25
_ERASE = "\r\x1b[K"


class Progress:
    """Counts what is done, and shows it once a run has lasted for a second.

    ``terminal`` is the descriptor to write to, None where nobody looks. It is written to directly, as a signal may come
    while the stream itself writes.
    """

    def __init__(self, total: int, terminal: int | None, title: str, unit: str) -> None:
        self._terminal, self._head, self._tail = terminal, title, f"of {total} {unit}"
        self._done, self._at = 0, ""
        self._began = self._shown = time.monotonic()

    def begin(self, path: str) -> None:
        """Note which file is looked at."""
        self._at = path

    def advance(self, count: int) -> None:
        """Note that so many more are done."""
        self._done += count
        self.show()

    def show(self, *_: object) -> None:
        """Write the line anew, if it is time to."""
        now = time.monotonic()
        if self._terminal is None or now - self._began < _PATIENCE or now - self._shown < _EVERY:
            return
        self._shown = now
        at = f": {self._at}" if self._at else ""
        self._write(f"{self._head} {self._done} {self._tail}, {now - self._began:.0f} s{at}")

    def erase(self) -> None:
        """Take the line away, if there is one."""
        if self._shown > self._began:
            self._write("")

    def _write(self, text: str) -> None:
        assert self._terminal is not None
        line = _ERASE + printable(text)[: get_terminal_size().columns - 1]
        with suppress(OSError):
            os.write(self._terminal, line.encode(errors="backslashreplace"))


@contextmanager
def progress(
    total: int, stream: TextIO, wanted: bool, title: str = "Checking", unit: str = "files"
) -> Iterator[Progress]:
    """Yield what to tell of what is done.

    A timer shows that the run is alive while one file takes long. It is a signal, as a process that forks while
    another thread holds a lock may never come back; on systems without it the line changes with each file.
    """
    terminal = stream.fileno() if wanted and stream.isatty() else None
    shown = Progress(total, terminal, title, unit)
    is_timed = terminal is not None and hasattr(signal, "setitimer")
    if is_timed:
        signal.signal(signal.SIGALRM, shown.show)
        signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _EVERY)
    try:
        yield shown
    finally:
        if is_timed:
            signal.setitimer(signal.ITIMER_REAL, 0)
        shown.erase()
