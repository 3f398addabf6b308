"""What a run has found is in the cache before the run has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, Program
from tests.test_cache import HIT, NETS, USE, known
from torchlint.cache import results
from torchlint.cache.results import EVERY, PeriodicWriter

HANGS = """
import pathlib, signal
from torchlint import cli
from torchlint.linter import runner
from torchlint.cache import results

results.EVERY = results.SHARE = 0
attempt = runner.attempt


def waits(target, **others):
    if target.path.endswith("z_last.py"):
        pathlib.Path("reached").write_text("")
        signal.pause()
    return attempt(target, **others)


runner.attempt = waits
cli.main(["project", "--jobs", "1"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "below").mkdir(parents=True)
    for name, text in (("nets.py", NETS), ("use.py", USE), ("below/hit.py", HIT), ("below/z.py", "import os\n")):
        (folder / name).write_text(text)
    return folder


@pytest.mark.skipif(not hasattr(signal, "pause"), reason="signals of POSIX")
def test_a_run_that_is_killed_keeps_what_it_had_found(project: Path, in_process: Program) -> None:
    (project / "below" / "z_last.py").write_text(HIT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.Popen([sys.executable, "-c", HANGS], cwd=project.parent, env=environment)
    for _ in range(1200):
        if (project.parent / "reached").exists() or killed.poll() is not None:
            break
        time.sleep(0.05)
    killed.kill()
    assert killed.wait(timeout=60) == -signal.SIGKILL
    fresh = in_process("project", "--no-cache")
    after = in_process("project", "-v")
    assert known(after) == 4
    assert after.raw == fresh.raw
    assert known(in_process("project", "-v")) == 5


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_written_at_intervals_is_what_the_end_of_a_run_would_write(
    project: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setattr(results, "EVERY", 0)
    monkeypatch.setattr(results, "SHARE", 0)
    monkeypatch.setattr("torchlint.linter.runner.POOL_FROM", 1)
    fresh = in_process("project", "--no-cache", "--jobs", jobs)
    assert in_process("project", "--jobs", jobs) == fresh
    assert in_process("project", "--jobs", jobs) == fresh
    assert known(in_process("project", "-v")) == 4


def test_nothing_is_kept_before_repaired_files_are_written(
    project: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "EVERY", 0)
    monkeypatch.setattr(results, "SHARE", 0)
    in_process("project", "--fix", "--unsafe-fixes")
    assert in_process("project").raw == in_process("project", "--no-cache").raw


class Slow:
    """A cache that takes its time: what it was told, and when."""

    def __init__(self, writing: int) -> None:
        self.now = 0
        self.writing = writing
        self.written: list[tuple[int, int]] = []
        self.kept = 0

    def clock(self) -> int:
        return self.now

    def refresh(self) -> None:
        pass

    def remember(self, *given: object) -> None:
        self.kept += len(given) == 3

    def write(self) -> None:
        self.written.append((self.now, self.kept))
        self.now += self.writing


def test_writing_comes_at_intervals_and_takes_a_small_part_of_the_time() -> None:
    quick, slow = Slow(0), Slow(EVERY)
    for cache in (quick, slow):
        taken = PeriodicWriter(cache)
        for _ in range(80):
            cache.now += EVERY // 2
            taken.add(None, None, b"")
    assert quick.written == [(EVERY // 2 * each, each) for each in range(2, 81, 2)]
    assert slow.written == [(EVERY, 2), (22 * EVERY, 42)]
