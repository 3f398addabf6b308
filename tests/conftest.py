"""How tests run the program: in a process of its own, with exact streams and exit status."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import proven

ROOT = Path(__file__).parents[1]
HEAVY = f"#{'-' * 8_000}\n"
"""A comment at the end of a file, so that a few files are enough for a pool of processes."""
STAND_IN = Path(__file__).parent / "fixtures" / "stand_in.py"


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    status: int
    raw: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        return self.raw.decode()


Program = Callable[..., Ran]


def _runner(folder: Path, *command: str) -> Program:
    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        # Beside the folder, not in it: tests list what is there. The stand-in has other rules of the same version.
        cache = f"{folder}.cache{len(command)}"
        kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT")}
        done = subprocess.run(
            [sys.executable, *command, *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            env={
                **kept,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TORCHLINT_CACHE_DIR": cache,
                **environment,
            },
            check=False,
            timeout=300,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    return run


@pytest.fixture
def torchlint(tmp_path: Path) -> Program:
    """The real program, started in the test's own folder."""
    return _runner(tmp_path, "-m", "torchlint")


@pytest.fixture
def stand_in(tmp_path: Path) -> Program:
    """The program with three plain rules in place of the real ones."""
    return _runner(tmp_path, str(STAND_IN))


@pytest.fixture
def in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Program:
    """The real program in this process, in the test's own folder, with exact streams: ten times as quick."""
    from torchlint.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", f"{tmp_path}.cache2")
    for name in ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        status = main(arguments)
        out, err = capfdbinary.readouterr()
        return Ran(status, out, err.decode())

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which proofs were run."""
    chosen = "all" if proven.ALL else f"what has changed, and the eighth that the tree {proven.turn()} chooses"
    terminalreporter.write_line(f"proofs: {chosen}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the thousands of tests and what they import out of every later search for garbage."""
    del session
    gc.collect()
    gc.freeze()
