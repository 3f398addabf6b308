"""The scorer of labelled places counts what is found and what is flagged wrongly, and the labels are of one form."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

CODE = """\
import torch
from torch.autograd import Variable

w = torch.ones(3, requires_grad=True)
print(w.numpy(), torch.ones(3).numpy(), w.data.clone())
x = torch.Tensor([1, 2])
"""
AT = {"split": "made", "release": "made==1.0", "path": "a.py"}
LABELS = (
    {**AT, "kind": "numpy", "line": 5, "column": 9, "verdict": "error", "needs": "detach"},
    {**AT, "kind": "numpy", "line": 5, "column": 31, "verdict": "safe", "verdict_any": "latent", "needs": "none"},
    {**AT, "kind": "data", "line": 5, "column": 43, "verdict": "torch-data", "use": "read", "safe_auto": True},
    {**AT, "kind": "ctor", "line": 6, "column": 11, "verdict": "torch-ctor", "arg": "sizes", "safe_auto": True},
    {**AT, "kind": "variable", "line": 2, "column": 1, "verdict": "torch-variable", "form": "import", "used": False},
    {**AT, "split": "other", "kind": "TNS501", "line": 4, "verdict": "look-alike"},
)
MUST = {"split", "kind", "path", "line", "verdict"}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("score", ROOT / "benchmarks" / "score.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "score", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    (tmp_path / "made==1.0").mkdir()
    (tmp_path / "made==1.0" / "a.py").write_text(CODE)
    (tmp_path / "sites.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in LABELS))
    return ["--labels", str(tmp_path), "--into", str(tmp_path)]


def test_each_split_and_kind_is_a_row(script: ModuleType, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(given) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| made | ctor | 1 of 1 (100.0 %) |  | 0 of 1 (0.0 %) | 1 of 1 (100.0 %) |",
        "| made | data | 1 of 1 (100.0 %) |  | 1 of 1 (100.0 %) | 1 of 1 (100.0 %) |",
        "| made | numpy | 1 of 1 (100.0 %) | 0 of 1 (0.0 %) | 1 of 1 (100.0 %) |  |",
        "| made | variable | 1 of 1 (100.0 %) |  |  |  |",
        "| other | TNS501 |  | 0 of 1 (0.0 %) |  |  |",
    ]


def test_one_split_and_what_is_disagreed_on(
    script: ModuleType, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    script.main([*given, "--split", "made", "--any-caller", "--show", "all"])
    out = capsys.readouterr().out
    assert "| other |" not in out
    assert "| made | numpy | 1 of 2 (50.0 %) |" in out
    assert "found: made==1.0/a.py:5:31\n  label: safe: \n  torchlint: silence\n" in out
    assert "kinds: made==1.0/a.py:6:11\n" in out


def test_levels_count_what_was_true(script: ModuleType, given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    script.main([*given, "--levels"])
    out = capsys.readouterr().out
    assert "| made | `certain` | 1 of 1 | 100.0 % (21 to 100 %) |" in out
    assert "| made | safe, flagged at `unproven` | 0 of 1 | 0.0 % |" in out


def test_every_label_points_somewhere_and_says_what_was_read(script: ModuleType) -> None:
    labels = list(script.labelled(script.LABELS))
    assert len(labels) >= 2000
    for label in labels:
        assert label.keys() >= MUST
        assert "release" in label or label.keys() >= {"repository", "commit"}
        assert str(label["kind"]).startswith("TNS") or "column" in label
