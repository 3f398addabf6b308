"""The program in processes that need not import it: each is forked from one that has, and that has torch too."""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["torchlint.cli", "torchlint.server.language_server", "torchlint.linter.engine", "torch"]
)


class Forked:
    """A process of the program with pipes for its streams; what it shares with ``Popen`` is named as there."""

    def __init__(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        ours, theirs = zip(*(_pipe(into=number == 0) for number in range(3)), strict=True)
        given = [Connection(end, readable=number == 0, writable=number > 0) for number, end in enumerate(theirs)]
        self._process = _CONTEXT.Process(target=_become, args=(str(folder), [*arguments], dict(environment), given))
        self._process.start()
        for end in given:
            end.close()
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(ours[0], "wb"),
            os.fdopen(ours[1], "rb"),
            os.fdopen(ours[2], "rb"),
        )

    def communicate(self, stdin: bytes) -> tuple[bytes, bytes]:
        """Return what the process writes into both streams until its end."""
        with ThreadPoolExecutor(2) as readers:
            out, err = readers.submit(self.stdout.read), readers.submit(self.stderr.read)
            self.stdin.write(stdin)
            self.stdin.close()
            return out.result(), err.result()

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        status = self._process.exitcode
        assert status is not None, f"still there after {timeout} s"
        return status

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def _pipe(into: bool) -> tuple[int, int]:
    """Return this process's end of a pipe, and the end of the other."""
    reading, writing = os.pipe()
    return (writing, reading) if into else (reading, writing)


def _become(folder: str, arguments: list[str], environment: dict[str, str], ends: list[Connection]) -> None:
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), encoding="utf-8", write_through=True)
    sys.argv = ["torchlint", *arguments]
    from torchlint.cli import main

    sys.exit(main())
