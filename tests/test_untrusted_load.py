"""What `torch.load` runs, and for which releases of torch TNS311 speaks."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch

from torchlint.config import Config
from torchlint.diagnostics.model import Settings
from torchlint.linter.engine import check_bytes

RUN: list[str] = []


class Hostile:
    """What a pickle makes of it is a call."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _run, ("run",)


def _run(word: str) -> None:
    RUN.append(word)


def test_a_file_runs_code_unless_only_weights_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"weights": torch.ones(2)}, path)
    assert torch.load(path, weights_only=True)["weights"].tolist() == [1.0, 1.0]
    torch.save({"weights": Hostile()}, path)
    RUN.clear()
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path, weights_only=True)
    assert not RUN
    torch.load(path, weights_only=False)
    assert RUN == ["run"]


@pytest.mark.parametrize(
    ("target", "speaks", "repairs"),
    [(None, True, True), ((1, 12), True, False), ((1, 13), True, True), ((2, 5), True, True), ((2, 6), False, False)],
)
def test_the_oldest_torch_of_the_project_decides(target: tuple[int, int] | None, speaks: bool, repairs: bool) -> None:
    config = Config(select=("TNS311",), settings=Settings(target_torch=target))
    findings = check_bytes("<source>", b"import torch\n\nx = torch.load('x.pt')\n", config).findings
    assert bool(findings) is speaks
    assert any(each.fix is not None for each in findings) is repairs
