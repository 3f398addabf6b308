"""Runs on a terminal: a line tells how far they are, and Ctrl-C ends them and every process of their own."""

from __future__ import annotations

import os
import re
import select
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
SOME_DONE = re.compile(rf" [1-9]\d* of {sum(len(of_rule(entry.code)) for entry in RULES if entry.words)} ".encode())
"""What is shown of all examples: they take long enough to be stopped among them on any machine."""
LONGEST = 120.0
"""Seconds until a test gives up."""


def read_until(terminal: int, shown: re.Pattern[bytes]) -> bytes:
    """Read what is shown until something stands there, or until the program is gone."""
    seen, end = b"", time.monotonic() + LONGEST
    while not shown.search(seen) and time.monotonic() < end:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
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


LONG = "import torch\n\n\ndef f(x):\n" + "    x = torch.relu(x)\n    x.numpy()\n" * 4_000
"""Takes longer than a second to check, and so long that it can be stopped."""
MANY = "import torch\n" + "torch.ones(2, requires_grad=True).numpy()\n" * 1_000
"""Gives a report that is longer than what a pipe takes at once."""
CHECKING = re.compile(rb"Checking \d+ of \d+ files, \d+ s")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [(["verify"], SOME_DONE), (["--no-cache", "."], CHECKING), (["--no-cache", "a0.py"], CHECKING)],
    ids=["verify", "a folder", "a file"],
)
def test_it_shows_how_far_it_is_and_stops_at_once_with_all_its_processes(
    arguments: list[str], shown: re.Pattern[bytes], tmp_path: Path
) -> None:
    for number in range(40):
        (tmp_path / f"a{number}.py").write_text(LONG)
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "torchlint", *arguments, "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
        stdout=(tmp_path / "out").open("wb"),
        stderr=theirs,
        cwd=tmp_path,
        start_new_session=True,
        # What is started in the background inherits that Ctrl-C is ignored; what stands at a terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads run here
    )
    os.close(theirs)
    try:
        assert shown.search(read_until(ours, shown)), "it says how far it is"
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
        told = read_until(ours, re.compile(b"interrupted\r\n"))
        assert told.rpartition(b"\x1b[K")[2] == b"torchlint: error: interrupted\r\n", "one line, and no traceback"
        assert (program.wait(LONGEST), (tmp_path / "out").read_bytes()) == (130, b"")
        end = time.monotonic() + LONGEST  # what was killed takes a moment to be gone on a busy machine
        while living(program.pid) and time.monotonic() < end:
            time.sleep(0.01)
        assert not living(program.pid)
    finally:
        program.kill()
        program.wait()
        os.close(ours)


STOPPED = """
import os, signal, sys

class Stop:
    def find_spec(self, name, *_):
        if name == "{}":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Stop())
sys.argv[1:] = ["."]
from torchlint.__main__ import run
run()
"""


@pytest.mark.parametrize("module", ["torchlint.cli", "torchlint.config.options", "torchlint.linter.engine"])
def test_it_stops_without_a_traceback_while_it_is_loaded(module: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LONG)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", STOPPED.format(module)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"torchlint: error: interrupted\n")


def test_a_reader_that_has_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(MANY)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(
        [sys.executable, "-m", "torchlint", "."],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.readline()
    program.stdout.close()
    assert (program.stderr.read(), program.wait()) == (b"", 0)
