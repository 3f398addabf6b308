"""`torchlint verify` on a terminal: the bar tells of each example, and Ctrl-C ends it and every process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")
pty = pytest.importorskip("pty", reason="terminals are made here as Linux and macOS make them")

from torchlint.proof.table import of_rule  # noqa: E402

ROOT = Path(__file__).parents[1]
ONE_DONE = f" 1/{len(of_rule('TNS201'))}".encode()
LONGEST = 120.0
"""Seconds until a test gives up."""


def read_until(terminal: int, word: bytes) -> bytes:
    """Read what is shown until a word stands there, or until the program is gone."""
    seen, end = b"", time.monotonic() + LONGEST
    while word not in seen and time.monotonic() < end:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        seen += part
        if not part:
            break
    return seen


def living(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_shows_each_example_and_stops_at_once_with_all_its_processes() -> None:
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "torchlint", "verify", "--codes", "TNS201", "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        seen = read_until(ours, ONE_DONE)
        assert b"Verifying" in seen
        assert ONE_DONE in seen, "one example of all is done"
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
        assert b"torchlint: error: interrupted" in read_until(ours, b"interrupted")
        out, _ = program.communicate(timeout=LONGEST)
        assert (program.returncode, out) == (2, b"")
        assert not living(program.pid)
    finally:
        program.kill()
        program.wait()
        os.close(ours)
