"""All that a command may touch of the world around it: folder, streams, screen, processors, clock, environment."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchlint.output.screen import UNBOUNDED, Screen, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

    from torchlint.config.options import Options


@dataclass(frozen=True, slots=True)
class Session:
    """All that a command may touch of the world around it."""

    cwd: str
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO
    screen: Screen
    jobs: int
    clock: Callable[[], int] = time.time_ns
    """Nanoseconds since the epoch."""

    def say(self, kind: str, message: str) -> None:
        """Write a line for the person at the terminal."""
        print(f"torchlint: {kind}: {printable(message)}", file=self.stderr)


def session_for(options: Options, environment: Mapping[str, str]) -> Session:
    """Return the session of this process; under pre-commit, which runs several, it has one processor."""
    screen = _screen(sys.stdout, options.color, environment)
    stdin = sys.stdin.buffer if sys.stdin is not None else io.BytesIO()  # none where it was closed
    return Session(os.getcwd(), stdin, sys.stdout, sys.stderr, screen, options.jobs or _processors(environment))


def _screen(stream: TextIO, color: str, environment: Mapping[str, str]) -> Screen:
    terminal = stream.isatty()
    width = UNBOUNDED
    if terminal:
        from shutil import get_terminal_size

        width = min(get_terminal_size().columns, 100)
    return Screen(_colored(terminal, color, environment), max(width, 40))


def _colored(terminal: bool, color: str, environment: Mapping[str, str]) -> bool:
    if color != "auto":
        return color == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") != "0":
        return True
    return terminal and environment.get("TERM") != "dumb"


def _processors(environment: Mapping[str, str]) -> int:
    if environment.get("PRE_COMMIT"):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
