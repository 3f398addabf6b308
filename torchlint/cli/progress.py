"""A progress bar on standard error for long runs, where a person is looking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


FILES = 200
"""Fewer files than this are done before a bar can be read."""
_EVERY = 0.1


@contextmanager
def progress(
    total: int, stream: TextIO, wanted: bool, title: str = "Checking", least: int = FILES, wait: float = 0.0
) -> Iterator[Callable[[int], None]]:
    """Yield the function to tell of what is done; it shows nothing without a terminal or for fewer than ``least``.

    Nor in the first ``wait`` seconds.
    """
    if not wanted or total < least or not stream.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    # No refreshing thread: a process that forks while another thread holds a lock may never come back.
    columns = (title, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(file=stream), auto_refresh=False, transient=True)
    task = bar.add_task("check", total=total)
    due = time.monotonic() + wait

    def advance(count: int) -> None:
        nonlocal due
        bar.advance(task, count)
        if time.monotonic() >= due:
            due = time.monotonic() + _EVERY
            bar.start()
            bar.refresh()

    try:
        if not wait:
            bar.start()
        yield advance
    finally:
        bar.stop()
