"""How work is shared among processes: the heaviest first, light items together, everything once."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import HEAVY, ROOT, Program
from tests.nightly import in_turn
from torchlint.linter.pool import chunks

HIT = "import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n"


def test_the_heaviest_go_first_and_alone() -> None:
    assert list(chunks([1, 900, 1, 400, 1, 1], 2)) == [[1], [3], [0, 2, 4, 5]]


@pytest.mark.parametrize("seed", range(20))
def test_every_item_is_handed_out_once_in_small_chunks(seed: int) -> None:
    dice = random.Random(seed)
    weights = [dice.choice((0, 1, 10, 1000)) for _ in range(dice.randrange(200))]
    made = list(chunks(weights, dice.randrange(2, 9)))
    assert sorted(at for chunk in made for at in chunk) == list(range(len(weights)))
    assert all(1 <= len(chunk) <= 8 for chunk in made)
    assert [weights[at] for chunk in made for at in chunk] == sorted(weights, reverse=True)


def processes(folder: Path, *arguments: str, **environment: str) -> int:
    """Count the processes that a run starts."""
    program = (
        "import multiprocessing.process as p, sys\nstarted = []\nreal = p.BaseProcess.start\n"
        "p.BaseProcess.start = lambda self: (started.append(self), real(self))[1]\n"
        f"from torchlint.cli import main\nmain({['--no-cache', '--isolated', '-q', *arguments]!r})\n"
        "print(len(started), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env={"PYTHONPATH": str(ROOT), **environment},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return int(done.stderr)


def test_a_pool_is_made_where_there_is_enough_to_do_and_not_inside_a_hook(tmp_path: Path) -> None:
    for number in range(16):
        (tmp_path / f"m{number}.py").write_text(HIT + HEAVY)
    assert processes(tmp_path, "--jobs", "3") == 3
    assert processes(tmp_path, PRE_COMMIT="1") == 0
    assert processes(tmp_path, "--jobs", "1") == 0
    assert processes(tmp_path, "--jobs", "3", "m1.py", "m2.py") == 0


@pytest.mark.parametrize("flag", in_turn(["--output-format=full", "--fix", "--diff"], 3, "ways to run in pools"))
def test_any_number_of_processes_says_and_writes_the_same(tmp_path: Path, program: Program, flag: str) -> None:
    seen = set()
    for jobs in ("1", "2", "5"):
        for number in range(30):
            (tmp_path / f"m{number}.py").write_text(HIT * (number % 4) + HEAVY * (number % 5))
        done = program("--no-cache", "--isolated", "--jobs", jobs, flag)
        files = tuple(path.read_bytes() for path in sorted(tmp_path.glob("*.py")))
        seen.add((done.status, done.raw, done.stderr, files))
    assert len(seen) == 1
