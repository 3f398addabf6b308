"""Two checkouts are compared by what they print, and a difference is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.compare import main
from tests.conftest import ROOT

HIT = "import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "code"
    made.mkdir()
    (made / "hit.py").write_text(HIT)
    return made


def test_a_checkout_gives_the_same_as_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(ROOT), str(ROOT), str(folder)]) == 0
    assert capsys.readouterr().out == "1 of 1 folders give the same bytes\n"


def test_another_message_is_a_difference(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "torchlint", other / "torchlint", ignore=shutil.ignore_patterns("__pycache__"))
    rule = other / "torchlint" / "rules" / "host" / "numpy_on_grad_tensor.py"
    text = rule.read_text(encoding="utf-8")
    assert "requires grad" in text
    rule.write_text(text.replace("requires grad", "wants grad"), encoding="utf-8")
    assert main([str(ROOT), str(other), str(folder)]) == 1
    assert capsys.readouterr().out == f"{folder}: differs\n0 of 1 folders give the same bytes\n"
