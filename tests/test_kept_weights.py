"""Weights that a class keeps while others train the model, wherever they are loaded again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Finding
from torchlint.knowledge import look_again
from torchlint.linter.engine import check_bytes

STOPPING = """class Stopping:
    def __init__(self):
        self.best, self.weights = None, None

    def step(self, loss, model):
        if self.best is None or loss < self.best:
            self.best = loss
            self.weights = {}
"""
LIVE, COPIED = "model.state_dict()", "{k: v.clone() for k, v in model.state_dict().items()}"


def _found(folder: Path, kept: str, training: str) -> tuple[Finding, ...]:
    (folder / ".git").mkdir()
    path = folder / "stopping.py"
    path.write_text(STOPPING.format(kept))
    (folder / "training.py").write_text(f"import torch\nfrom stopping import Stopping\n\n{training}")
    look_again()
    config = replace(Config(), select=("TNS501",))
    return check_bytes(str(path), path.read_bytes(), config).findings


HANDED_OUT = "{}\n\n    def best_weights(self):\n        return self.weights"


def test_a_method_hands_them_out(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, HANDED_OUT.format(LIVE), "model.load_state_dict(stopping.best_weights())\n")
    assert found.confidence is Confidence.LIKELY
    assert found.why[-1] == "`return self.weights` uses what was kept, line 11"


@pytest.mark.parametrize(
    ("kept", "training"),
    [
        (HANDED_OUT.format(COPIED), "model.load_state_dict(stopping.best_weights())\n"),
        (COPIED, "model.load_state_dict(stopping.weights)\n"),
        (LIVE, "model.load_state_dict(torch.load('best.pt'))\nprint(stopping.weights)\n"),
        (LIVE, "torch.load('best.pt')\n"),
    ],
)
def test_copies_and_what_nobody_loads_are_silent(tmp_path: Path, kept: str, training: str) -> None:
    assert _found(tmp_path, kept, training) == ()


def test_a_file_that_uses_another_framework_is_silent(tmp_path: Path) -> None:
    path = tmp_path / "stopping.py"
    restore = "    def restore(self, model):\n        model.load_state_dict(self.weights)\n"
    text = f"import paddle\n\n\n{STOPPING.format(LIVE)}\n{restore}"
    config = replace(Config(), select=("TNS501",))
    assert check_bytes(str(path), text.encode(), config).findings == ()
