"""The one thread that checks, beside the event loop: with room for deep recursion, never holding up the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

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
