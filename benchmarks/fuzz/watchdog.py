"""A limit for each input: what takes longer is a finding, also where the time is lost outside of Python."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
from collections.abc import Iterator
from types import FrameType


class Hung(BaseException):
    """An input took longer than it may; no handler for exceptions may swallow it."""


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Hung` after some seconds; where Python does not get to do so, end the process with a trace."""

    def ring(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise Hung(f"longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    faulthandler.dump_traceback_later(3 * seconds, exit=True)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
