"""The table of operations, measured again in part with the torch at hand: what it says is what torch does."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from tests import nightly
from torchlint.models import operation_sets
from torchlint.syntax.places import leaf
from torchlint.values.abstract import INTEGER, SIZE

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "torchlint" / "models" / "operations.json"
SAMPLE, SEED = 120, 1


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _reason_to_skip() -> str | None:
    torch, table = _installed("torch"), json.loads(TABLE.read_text(encoding="utf-8"))["torch"]
    if torch is None or _installed("expecttest") is None:
        return "measuring operations needs torch and expecttest"
    same = torch.split(".")[:2] == table.split(".")[:2]
    return None if same else f"the table is of torch {table}, the installed one is {torch}"


REASON = _reason_to_skip()
needs_torch = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def table() -> dict[str, Any]:
    return json.loads(TABLE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def run(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "operations_table", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


# ---------------------------------------------------------------------- the table as it stands
def test_the_table_is_sorted_and_says_each_thing_once() -> None:
    for key, value in table().items():
        if isinstance(value, list | dict):
            names = list(value)
            assert names == sorted(set(names)), key


def test_what_the_table_says_of_an_operation_is_of_an_operation_it_lists() -> None:
    whole = table()
    listed = {*whole["methods"], *whole["functions"]}
    for key, value in whole.items():
        if isinstance(value, list | dict) and key not in ("distributions", "scalars"):
            assert set(value) <= listed, key
    assert set(whole["scalars"]) <= set(map(leaf, listed))
    assert whole["tried"] + len(whole["untried"]) == len(listed)


def test_no_operation_is_of_two_sorts() -> None:
    whole = table()
    sorts = [
        {*whole["never_methods"], *whole["never_functions"]},
        {*whole["keeps_grad_methods"], *whole["keeps_grad_functions"]},
        {*whole["nontensor_methods"], *whole["nontensor_functions"]},
        {*whole["factories"], *whole["factory_methods"]},
        {*whole["untried"]},
    ]
    for at, one in enumerate(sorts):
        for other in sorts[at + 1 :]:
            assert one & other == set()


def test_what_could_not_be_tried_is_named_with_the_reason() -> None:
    untried = table()["untried"]
    assert set(untried.values()) <= {
        "another device or build",
        "arguments that were not found",
        "changes settings of the program",
        "nested tensors",
        "no end within the time",
        "removed from torch",
        "the end of the process",
    }
    assert len(untried) < 0.05 * table()["tried"]


def test_the_program_reads_the_table() -> None:
    whole = table()
    assert {*whole["never_methods"], *whole["never_functions"]} == operation_sets.NEVER
    lengths = tuple(whole["partial_functions"]["torch.linalg.lstsq"])
    assert operation_sets.PARTIAL["torch.linalg.lstsq"] == lengths == (2, 3)
    assert operation_sets.NO_TENSOR["size"] == SIZE | INTEGER
    assert {"torch.zeros", "new_zeros"} <= operation_sets.TENSOR_MAKERS


# ---------------------------------------------------------------------- measured again
@nightly.only("measuring a sample of the operations of torch again")
@needs_torch
def test_a_sample_measured_again_agrees() -> None:
    status, said = run("--sample", str(SAMPLE), "--seed", str(SEED))
    assert said.splitlines()[:-1] == []
    assert said.startswith(f"{SAMPLE} operations measured, 0 differences from ")
    assert status == 0


FALSIFIED = {
    "never_functions": "torch.relu",
    "keeps_grad_methods": "clone",
    "factories": "torch.ones",
    "partial_functions": "torch.topk",
    "nontensor_methods": "dim",
}
"""A thing that is put into the table, or taken out of it where it is there."""


@needs_torch
def test_a_falsified_table_is_noticed(tmp_path: Path) -> None:
    whole = table()
    for key, name in FALSIFIED.items():
        values = whole[key]
        if isinstance(values, dict):
            values[name] = [0] if key == "partial_functions" else ["STRING"]
        elif name in values:
            values.remove(name)
        else:
            values.append(name)
    falsified = tmp_path / "falsified.json"
    falsified.write_text(json.dumps(whole), encoding="utf-8")
    status, said = run("--only", *sorted({*FALSIFIED.values(), "torch.argmax"}), "--table", str(falsified))
    assert said.splitlines() == [
        "clone: keeps_grad_methods: the table says yes, measured nothing",
        'dim: nontensor_methods: the table says ["STRING"], measured ["INTEGER"]',
        "torch.ones: factories: the table says nothing, measured yes",
        "torch.relu: never_functions: the table says yes, measured nothing",
        "torch.topk: partial_functions: the table says [0], measured [1]",
        f"6 operations measured, 5 differences from {falsified}",
    ]
    assert status == 1


@needs_torch
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory; --write makes it"),
        ("{", "not JSON"),
        ('{"torch": "1.0.0"}', "table.json: of torch 1.0.0, the installed one is"),
    ],
)
def test_an_unusable_table_is_said(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "table.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    status, said = run("--only", "torch.argmax", "--table", str(path))
    assert message in said
    assert status != 0


@needs_torch
def test_an_unknown_operation_is_said() -> None:
    status, said = run("--only", "torch.no_such_thing")
    assert "no operation of torch" in said
    assert "torch.no_such_thing" in said
    assert status != 0


# ---------------------------------------------------------------------- distributions
@needs_torch
@pytest.mark.filterwarnings("ignore")
def test_the_distributions_agree() -> None:
    pytest.importorskip("torch")
    from tools.operations_table import distributions

    assert distributions.measure() == table()["distributions"]


@needs_torch
def test_samples_are_cut_off_from_their_parameters_and_densities_are_not() -> None:
    found = table()["distributions"]
    assert len(found) > 35
    for name, members in found.items():
        assert {"sample", "sample_n"} <= set(members["never"]), name
        assert "log_prob" in members["live"], name
        assert "rsample" not in members["never"], name
    assert "mode" in found["Categorical"]["never"]
    assert "mode" in found["Normal"]["live"]
    assert "mean" in found["Cauchy"]["never"]
