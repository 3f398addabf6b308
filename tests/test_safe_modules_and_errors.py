"""Projects run before and after `--fix`: modules made elsewhere, errors that are expected, copies meant to overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, printed, written

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


# ---------------------------------------------------------------------- errors that are expected
EXPECTED = {
    "a handler": """
import torch

weight = torch.ones(2, requires_grad=True)
try:
    print(weight.numpy())
except RuntimeError:
    print("is trained")
""",
    "a test": """
import pytest
import torch


def test_refused():
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        weight.numpy()


test_refused()
""",
    "a caller": """
import torch


def converted():
    weight = torch.ones(2, requires_grad=True)
    return weight.numpy()


try:
    print(converted())
except (OSError, RuntimeError) as error:
    print(type(error))
""",
    "a function handed over": """
import unittest

import torch


class Cases(unittest.TestCase):
    def runTest(self):
        def convert():
            return torch.ones(2, requires_grad=True).numpy()

        self.assertRaises(RuntimeError, convert)


print(unittest.TextTestRunner(open("/dev/null", "w")).run(Cases()).wasSuccessful())
""",
    "a refused keyword": """
import torch

try:
    print(torch.Tensor([1], dtype=torch.float64))
except TypeError:
    print("no such keyword")
""",
    "an index of a number": """
import torch

loss = torch.ones(3, requires_grad=True).sum()
try:
    print(loss.data[0])
except IndexError:
    print("torch 0.4 or newer")
""",
    "a round trip": """
import torch

total = torch.ones(3, requires_grad=True).sum()
try:
    print(total.numpy().item())
except RuntimeError:
    print("is trained")
""",
}


@pytest.mark.parametrize("case", EXPECTED)
def test_an_error_that_is_expected_stays(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": EXPECTED[case]}) == {}


def test_an_error_that_nothing_waits_for_is_repaired(tmp_path: Path) -> None:
    text = EXPECTED["a handler"].replace("RuntimeError", "KeyError").replace("weight.numpy", "weight.detach().numpy")
    assert check_runs_alike(tmp_path, {"main.py": text.replace(".detach()", ".data")}) == {"main.py": text}


# ---------------------------------------------------------------------- what a constructor is given
GIVEN = {
    "a test in one expression": """
import torch


def made(n):
    return torch.Tensor(n) if not isinstance(n, int) else torch.zeros(n)


print(made([1, 2]), made(3))
""",
    "a test and a return": """
import torch


def made(size):
    if isinstance(size, int):
        return torch.zeros(size)
    return torch.Tensor(size)


print(made([1, 2]), made(3))
""",
    "the shape of an array": """
import numpy as np
import torch

image = np.zeros((4, 6, 3))


def extent(image):
    return torch.Tensor(image.shape[1::-1]), torch.Tensor(image.shape), torch.Tensor(image.shape).fill_(1)


print(extent(image))
""",
    "a product": """
import numpy as np
import torch


def made(shape):
    count = np.prod(shape)
    return torch.Tensor(count).fill_(1), torch.Tensor(np.prod(shape)).fill_(2)


print(made((2, 3)))
""",
    "lengths": """
import torch


def made(seq_len):
    return torch.Tensor(seq_len) / max(seq_len)


def scaled(word_len):
    for each in word_len:
        print(each)
    return torch.Tensor(word_len)


print(made([1, 2]), scaled([1, 2]))
""",
    "a storage": """
import torch


def joined(elem: torch.Tensor, batch, storage):
    return torch.stack(batch, 0, out=elem.new(storage).resize_(2, 2))


batch = [torch.ones(2), torch.zeros(2)]
print(joined(batch[0], batch, batch[0].untyped_storage()._new_shared(16)))
""",
}


@pytest.mark.parametrize("case", GIVEN)
def test_what_a_constructor_is_given_is_read_from_tests_uses_and_owners(tmp_path: Path, case: str) -> None:
    written(tmp_path, {"main.py": GIVEN[case]})
    before = printed(tmp_path)
    fixed(tmp_path, flags=["--unsafe-fixes"])
    assert printed(tmp_path) == before
