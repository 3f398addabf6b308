"""Whole programs that were written from a rule's row of the catalogue alone: what it finds in them, and what it leaves.

Each folder of ``fixtures/programs`` is named by a rule and holds its programs with ``truth.json``: of each program the
``lines`` at fault, which bear ``# here``, and why; ``missed`` says why the rule does not find one. A program whose line
``needs`` a device raises under the simulated one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import nightly
from torchlint.config import Config
from torchlint.linter.engine import check_bytes

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "tests" / "fixtures" / "programs"
CASES: list[tuple[Path, dict[str, Any]]] = [
    (truth.parent / each["file"], each)
    for truth in sorted(PROGRAMS.glob("*/truth.json"))
    for each in json.loads(truth.read_text(encoding="utf-8"))
]
NAMES = [f"{path.parent.name}/{path.stem}" for path, _ in CASES]
_MOST_MISSED = 3
"""Of the programs of one rule, so many may be missed."""
_RUNNER = """
import contextlib, io, sys, traceback, warnings

path, is_simulated = sys.argv[1], sys.argv[2] == "simulated"
warnings.simplefilter("ignore")
world = contextlib.nullcontext()
if is_simulated:
    from torchlint.verify import simulated
    world = simulated.simulated()
said = "ended"
with world, contextlib.redirect_stdout(io.StringIO()):
    try:
        exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__"})
    except Exception as error:
        said = str([each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == path][-1])
print(said)
"""


def at_fault(path: Path) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [row for row, line in enumerate(lines, 1) if line.endswith("# here")]


@pytest.mark.parametrize(("path", "truth"), CASES, ids=NAMES)
def test_a_program_is_judged_as_it_runs(path: Path, truth: dict[str, Any]) -> None:
    assert at_fault(path) == truth["lines"]
    code = path.parent.name
    result = check_bytes(f"/alone/{path.name}", path.read_bytes(), Config(select=(code,)))
    assert result.source
    found = {result.source.position(each.start)[0] for each in result.findings}
    assert sorted(found) == ([] if "missed" in truth else truth["lines"])


@pytest.mark.parametrize("code", sorted({path.parent.name for path, _ in CASES}))
def test_few_programs_are_missed(code: str) -> None:
    missed = [path.name for path, truth in CASES if path.parent.name == code and "missed" in truth]
    assert len(missed) <= _MOST_MISSED, missed


@nightly.only("programs of rules are run, each in a process of its own, plainly and with a simulated device")
@pytest.mark.parametrize("world", ["plain", "simulated"])
@pytest.mark.parametrize(("path", "truth"), CASES, ids=NAMES)
def test_a_program_raises_where_its_truth_says(path: Path, truth: dict[str, Any], world: str) -> None:
    pytest.importorskip("torch")
    for library in truth.get("imports", ()):
        pytest.importorskip(library)
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _RUNNER, str(path), world]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()[-1]
    if truth.get("needs") == "cpu" and world == "plain":
        return  # what it does without a device says nothing: it ends, or has no driver
    assert said in (list(map(str, truth["lines"])) or ["ended"])
