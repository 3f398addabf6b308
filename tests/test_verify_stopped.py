"""`torchlint verify` on a terminal: the bar tells of each example, and Ctrl-C ends it and every process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")
pty = pytest.importorskip("pty", reason="terminals are made here as Linux and macOS make them")

from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.verify.table import of_rule  # noqa: E402

ROOT = Path(__file__).parents[1]
SOME_DONE = re.compile(rf" [1-9]\d*/{sum(len(of_rule(entry.code)) for entry in RULES if entry.words)}".encode())
"""What the bar shows of all examples: they take long enough to be stopped among them on any machine."""
LONGEST = 120.0
"""Seconds until a test gives up."""


def read_until(terminal: int, shown: re.Pattern[bytes]) -> bytes:
    """Read what is shown until something stands there, or until the program is gone."""
    seen, end = b"", time.monotonic() + LONGEST
    while not shown.search(seen) and time.monotonic() < end:
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
        [sys.executable, "-m", "torchlint", "verify", "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        # What is started in the background inherits that Ctrl-C is ignored; what stands at a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads run here
    )
    os.close(theirs)
    try:
        seen = read_until(ours, SOME_DONE)
        assert b"Verifying" in seen
        assert SOME_DONE.search(seen), "some of all examples are done"
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
        assert b"torchlint: error: interrupted" in read_until(ours, re.compile(b"interrupted"))
        out, _ = program.communicate(timeout=LONGEST)
        assert (program.returncode, out) == (2, b"")
        assert not living(program.pid)
    finally:
        program.kill()
        program.wait()
        os.close(ours)
