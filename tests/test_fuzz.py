"""A short run of the fuzzer (``python -m benchmarks.fuzz``), what longer runs found, and that it sees what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fuzz import properties, world
from benchmarks.fuzz.kinds import KINDS, case, corpus
from benchmarks.fuzz.watchdog import Hung, limit
from tests.conftest import ROOT
from torchlint.diagnostics.model import FileResult
from torchlint.linter import engine
from torchlint.source.text import Source

REAL = corpus([ROOT / "tests" / "fixtures", ROOT / "torchlint"])
NUMBER = {"programs": 20, "damage": 12, "notebooks": 40, "configurations": 40, "together": 8, "grammar": 2}
HIT = b"import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\nx = w\n"


@pytest.mark.parametrize("kind", KINDS)
def test_no_promise_is_broken_by_inputs_made_at_random(kind: str) -> None:
    if kind == "grammar":
        pytest.importorskip("hypothesmith", reason="makes programs from Python's own grammar")
    wrong = {}
    for seed in range(NUMBER[kind]):
        with limit(60):
            said = KINDS[kind].judge(case(kind, seed, REAL))
        if said:
            wrong[seed] = said
    assert wrong == {}


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"grammar"}))
def test_a_seed_makes_the_same_input_again(kind: str) -> None:
    made = [case(kind, seed, REAL) for seed in range(5)]
    assert made == [case(kind, seed, REAL) for seed in range(5)]
    assert len({repr(each) for each in made}) == 5


def cells(*sources: str) -> bytes:
    code = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in sources
    ]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


RETURNS = cells("from torch.autograd import Variable\rx = 1\rx\r", "x\n")
FOUND = {
    "a cell whose rows end with a carriage return alone": ("a.ipynb", RETURNS),
    "an annotation of which nothing is inferred": ("a.py", b"import torch\nself: loss.numpy() = 1\n"),
    "a block whose indentation mixes tabs and blanks": (
        "a.py",
        b"import torch\ntype a = b\nif 1:\n    def reset_parameters(self):\n     \tw.data.copy_(x)\n",
    ),
    "an except clause of which nothing is inferred": ("a.py", b"import torch\ntry: 1\nexcept x.data.numpy(): 2\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_repaired(name: str) -> None:
    assert properties.broken(*FOUND[name]) == []


def test_what_is_already_written_is_not_asked_for_where_nothing_is_inferred() -> None:
    done = engine.fix_bytes("a.py", FOUND["an annotation of which nothing is inferred"][1], properties.UNSAFE)
    assert done.raw == b"import torch\nself: loss.detach().cpu().numpy() = 1\n"
    assert [each.code for each in done.fixed] == ["TNS103"]


def test_a_cell_that_ends_with_a_carriage_return_keeps_rows_and_places() -> None:
    raw = cells("import torch\r", "w = torch.ones(3, requires_grad=True)\r\rw.numpy()\r")
    (found,) = engine.check_bytes("a.ipynb", raw, properties.UNSAFE).findings
    source = engine.read("a.ipynb", raw).source
    assert (source.cell(source.position(found.start)[0]), source.address(found.start)) == (2, (3, 3))
    assert source.excerpt(found.start, found.end) == "numpy"
    fixed = json.loads(engine.fix_bytes("a.ipynb", raw, properties.UNSAFE).raw)
    assert [each["source"] for each in fixed["cells"]] == [
        "import torch\r", "w = torch.ones(3, requires_grad=True)\r\rw.detach().numpy()\r"
    ]  # fmt: skip


# ---------------------------------------------------------------------- the fuzzer itself
def test_a_fix_that_changes_other_text_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = properties.splice

    def spoilt(source: Source, findings: object) -> object:
        done = real(source, findings)  # type: ignore[arg-type]
        return replace(done, raw=done.raw.replace(b"x = w", b"x = v"))

    monkeypatch.setattr(properties, "splice", spoilt)
    assert properties.broken("a.py", HIT) == ["text outside the edits changed"]


def test_a_statement_that_became_another_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "_by_hand", lambda source, edits: properties.splice(source, RESULT.findings).raw)
    monkeypatch.setattr(
        properties, "_parsed", lambda text: REAL_PARSED(text.replace("x = w", "x = v") if "detach" in text else text)
    )
    assert properties.broken("a.py", HIT) == ["the statement in row 5 is another one after a fix elsewhere"]


RESULT = engine.check_bytes("a.py", HIT, properties.UNSAFE)
REAL_PARSED = properties._parsed


def test_a_second_answer_and_a_second_fix_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [1, 2]

    def forgetful(path: str, raw: bytes, config: object) -> FileResult:
        done = engine.check_bytes(path, raw, config)  # type: ignore[arg-type]
        return replace(done, findings=done.findings if left and left.pop() == 2 else ())

    monkeypatch.setattr(properties, "check_bytes", forgetful)
    monkeypatch.setattr(
        properties, "fix_bytes", lambda path, raw, config: replace(engine.fix_bytes(path, raw, config), raw=raw)
    )
    assert properties.broken("a.py", HIT) == ["two checks differ", *["a second run fixes ['TNS101']"] * 2]


def test_a_hang_is_seen() -> None:
    with pytest.raises(Hung, match="longer than 0.2 s"), limit(0.2):
        while True:
            try:
                time.sleep(5)
            except Exception:  # noqa: BLE001  # as a program that goes on whatever happens
                continue


def test_runs_that_differ_or_fail_without_a_word_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([(0, b"", b""), (0, b"", b""), (1, b"x", b"")])
    monkeypatch.setattr(world, "said", lambda _: next(answers))
    assert world.cold_and_warm({"a.py": HIT}) == ["the run with the cache says something else"]
    monkeypatch.setattr(world, "said", lambda _: (2, b"", b""))
    assert world.configured({"a.py": HIT}, ["-q"]) == ["it failed without a word"]


def test_a_run_goes_on_where_the_last_one_ended_and_keeps_what_it_found(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.fuzz",
        "--into",
        str(tmp_path / "found"),
        "--corpus",
        str(ROOT / "tests"),
    ]
    states = []
    for _ in range(2):
        subprocess.run([*command, "--minutes", "0.02", "--kind", "programs"], cwd=ROOT, check=True, timeout=120)
        states.append(json.loads((tmp_path / "found" / "state.json").read_text())["programs"])
    assert 0 < states[0] < states[1]
    again = subprocess.run(
        [*command, "--kind", "programs", "--seed", "3"], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    assert again.stdout == b"all promises hold\n"


def test_an_input_that_kills_its_process_is_kept_and_passed_by(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom benchmarks.fuzz import __main__ as fuzz, properties\n"
        "real = fuzz.case\n"
        "fuzz.case = lambda kind, seed, real_files: os._exit(9) if seed == 2 else real(kind, seed, real_files)\n"
        "sys.argv[0] = 'x'\nsys.exit(fuzz.main(sys.argv[1:]))\n"
    )
    (tmp_path / "deadly.py").write_text(program)
    driver = (
        "import subprocess, sys\nfrom benchmarks.fuzz import __main__ as fuzz\nreal = subprocess.run\n"
        f"deadly = {str(tmp_path / 'deadly.py')!r}\n"
        "fuzz.subprocess.run = lambda words, **more: real([words[0], deadly, *words[3:]], **more)\n"
        f"sys.exit(fuzz.main(['--into', {str(tmp_path / 'found')!r}, '--minutes', '0.05', '--kind', 'programs']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", driver],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "found" / "programs-2" / "WRONG").read_text().startswith("the process died, 9: ")
    assert json.loads((tmp_path / "found" / "state.json").read_text())["programs"] > 3
