"""Projects run before and after `--fix`: modules made elsewhere, errors that are expected, copies meant to overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

# ---------------------------------------------------------------------- TNS108
QUEUE = """
import torch


class Queue(torch.nn.Linear):
    def to(self, *args, non_blocking=False, **kwargs):
        print("queued" if non_blocking else "waits")
        return self


layer = Queue(2, 2)
layer.to("cpu", non_blocking=True)
"""


def test_a_class_with_a_way_of_its_own_to_the_host_keeps_the_argument(tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": QUEUE}) == {}


# ---------------------------------------------------------------------- traced code
TRACED = """
import torch


def centred(x: torch.Tensor):
    return x - {} + x.sum()


compiled = torch.jit.trace(centred, (torch.ones(3),))
for wide in (torch.arange(3.0), torch.arange(4.0)):
    try:
        print(compiled(wide))
    except RuntimeError as error:
        print(type(error))
"""


@pytest.mark.parametrize("value", ["x.data.clone().mean()", "x.new_ones(x.data.shape)", "x.data.size(0)"])
def test_what_a_trace_keeps_of_data_stays(tmp_path: Path, value: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": TRACED.format(value)}) == {}


BUILT_IN_A_TRACE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.scale.data.mul_(3)

    def forward(self, x):
        return x * self.scale


print(torch.jit.trace(lambda x: Net()(x), (torch.ones(2),))(torch.ones(2)))
"""


def test_writes_that_a_trace_misses_stay(tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": BUILT_IN_A_TRACE}) == {}
