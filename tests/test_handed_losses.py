"""Losses that one file revives, and another one differentiates."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Finding
from torchlint.linter.engine import check_bytes

LOSS = """
import torch
from torch import nn
from torch.autograd import Variable


class Gap(nn.Module):
    def forward(self, found, wanted):
        loss = torch.zeros(())
        for one, other in zip(found, wanted):
            loss = loss + (one - other).abs().sum()
        loss = Variable(loss, requires_grad=True)
        return loss
"""


def _found(folder: Path, training: str) -> tuple[Finding, ...]:
    (folder / "pyproject.toml").write_text("")
    path = folder / "gaps.py"
    path.write_text(LOSS)
    (folder / "training.py").write_text(f"from gaps import Gap\n{training}")
    return check_bytes(str(path), path.read_bytes(), Config(select=("TNS503",))).findings


@pytest.mark.parametrize(
    ("training", "word"),
    [
        ("Gap()(net(x), y).backward()\n", "backward"),
        (
            "class Net(LightningModule):\n    def training_step(self, x, at):\n        return Gap()(x, x)\n",
            "training_step",
        ),
    ],
)
def test_a_file_that_differentiates_is_named_by_its_word(tmp_path: Path, training: str, word: str) -> None:
    """Lightning differentiates what a training step returns, and no file need spell `backward`."""
    (found,) = _found(tmp_path, training)
    assert found.why[-1] == f"`Gap` returns it, and is spelled in a file with `{word}`"


def test_a_loss_that_is_only_shown_is_silent(tmp_path: Path) -> None:
    """Nothing differentiates what a validation step logs."""
    assert not _found(tmp_path, "def validation_step(self, x, at):\n    print(Gap()(x, x))\n")
