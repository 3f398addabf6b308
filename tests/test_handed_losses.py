"""Losses that one file revives, and another one differentiates."""

from __future__ import annotations

from pathlib import Path

from torchlint.config import Config
from torchlint.diagnostics.model import Finding
from torchlint.linter.engine import check_bytes

LOSS = """
import torch
from torch.autograd import Variable


def gap(found, wanted):
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
    (folder / "training.py").write_text(f"from gaps import gap\n\n\ndef train(net, x, y):\n    {training}\n")
    return check_bytes(str(path), path.read_bytes(), Config(select=("TNS503",))).findings


def test_the_place_that_differentiates_it_is_named_in_its_file(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, "gap(net(x), y).backward()")
    assert found.why[-1] == f"`gap(net(x), y).backward()` differentiates it, {tmp_path / 'training.py'} line 5"


def test_a_loss_that_is_only_shown_is_silent(tmp_path: Path) -> None:
    """Nothing differentiates what is printed."""
    assert not _found(tmp_path, "print(gap(net(x), y))")
