"""Projects run before and after `--fix`: what a trace keeps as a constant, and what it follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

TRACED = """
import torch


def widened(x):
    y = torch.relu(x)
    return {} + y.sum()


traced = torch.jit.trace(widened, torch.ones(2))
print(traced(torch.ones(3)))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.Tensor(3, 2).zero_()", "torch.zeros(3, 2)"),
        ("torch.LongTensor(3).fill_(5)", "torch.empty(3, dtype=torch.int64).fill_(5)"),
        ("y.new(3, 2).fill_(1)", "y.new_ones(3, 2)"),
    ],
)
def test_a_trace_keeps_a_size_that_is_written(tmp_path: Path, old: str, new: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": TRACED.format(old)})
    assert changed == {"main.py": TRACED.format(new)}


@pytest.mark.parametrize(
    "value",
    [
        "torch.Tensor(y.size(0), 2).zero_()",
        "torch.Tensor(y.shape).zero_()",
        "torch.Tensor(y.numel() * 2).zero_()",
        "torch.LongTensor(y.size(0)).zero_()",
        "y.new(y.size(0), 2).zero_()",
        "y.new(y.shape).fill_(1)",
    ],
)
def test_a_size_that_a_trace_would_follow_stays(tmp_path: Path, value: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": TRACED.format(value)}) == {}


def test_a_size_is_repaired_where_nothing_is_traced(tmp_path: Path) -> None:
    text = TRACED.replace("torch.jit.trace(widened, torch.ones(2))", "widened")
    changed = check_runs_alike(tmp_path, {"main.py": text.format("torch.Tensor(y.size(0), 2).zero_()")})
    assert changed == {"main.py": text.format("torch.zeros(y.size(0), 2)")}


@pytest.mark.parametrize("value", ["float(y.sum().detach().cpu().numpy())", "y.detach().cpu().numpy().tolist()[0]"])
def test_a_number_that_a_trace_warns_of_stays(tmp_path: Path, value: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": TRACED.format(value)}) == {}
