"""Statements that may move under `no_grad`, and those that run the project's own code: before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases

HEAD = """
import math
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

enc = nn.Linear(3, 3)
kept = []


def run(x=torch.ones(3)):
    kept.append(enc(x).sum())
    return kept[-1].detach() * torch.ones(3)


class Rows:
    def __len__(self):
        return 2

    def __getitem__(self, at):
        if at > 1:
            raise IndexError(at)
        return run()


class Loader:
    def __iter__(self):
        return iter([run(), run()])


class Lazy:
    def __float__(self):
        return float(run()[0])

    def __mul__(self, other):
        return run() * other

    def __neg__(self):
        return run()

    def __bool__(self):
        return bool(run()[0] > 0)

    def __lt__(self, other):
        return bool(run()[0] < 0)


class Store:
    def __init__(self):
        self.data = self

    def encode(self):
        return run()


def features(count=2):
    for _ in range(count):
        yield run()


class Head(nn.Module):
    def __init__(self, x=None):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2, 3))
        self.v = nn.Parameter(torch.zeros(3))
        WRITE


def main():
    head = Head(GIVEN)
    print(head.w, head.v)
    if kept:
        sum(kept).backward()
        print(enc.weight.grad)


main()
"""
OWN = cases("""
# case: a generator by a name
self.w.data.copy_(torch.stack(rows := None or list(x)))
features()
# case: a generator in pairs
self.w.data.copy_(torch.stack([each * by for each, by in zip(x, [1, 2])]))
features()
# case: an object with items made a tensor of
self.w.data[0] = torch.tensor(x)[0]
Rows()
# case: an object in a list of numbers
self.v.data.add_(torch.tensor([x, x, 1.0]))
Lazy()
# case: the least by a key
self.v.data.add_(max([1, 2], key=lambda each: run()[0]))
None
# case: a function checkpointed
self.v.data.copy_(checkpoint(run, torch.ones(3), use_reentrant=False))
None
# case: the grad mode itself
self.v.data.add_(float(torch.is_grad_enabled()))
None
# case: whether something is recorded
self.v.data.add_(float((self.v * 2).requires_grad))
None
# case: a function named as a built-in one
from math import fsum as sum
        self.v.data.add_(sum(each[0] for each in [x]))
[torch.ones(1)]
""")
KNOWN = cases("""
# case: a list
rows = [torch.ones(3), torch.zeros(3)]
        self.w.data.copy_(torch.stack(rows))
None
# case: a list made of a list
rows = [torch.ones(3), torch.zeros(3)]
        self.w.data.copy_(torch.stack(list(rows)))
None
# case: numbers in a list
self.v.data.copy_(torch.tensor([1.0, 2.0, 3.0]))
None
# case: numbers computed
bound = 1 / math.sqrt(self.v.size(0))
        self.v.data.mul_(bound).add_(-bound * 2)
None
# case: an array
a = np.ones(3, dtype=np.float32)
        self.v.data.copy_(torch.from_numpy(a * 2))
None
# case: random numbers
self.v.data.copy_(torch.randn(3) * 0.02 + float(np.sqrt(2)))
None
# case: a tensor's elements
rows = torch.ones(2, 3)
        self.w.data.copy_(torch.stack([each * 2 for each in rows]))
None
# case: sizes
self.w.data[:, 0] = torch.arange(self.w.shape[0]).float() / max(self.w.size(0), 1)
None
# case: its own values
self.w.data.div_(self.w.data.norm(dim=1, keepdim=True) + 1)
None
# case: an argument that is only copied
self.v.data.copy_(x)
torch.ones(3)
# case: beside a test of a flag
self.v.data.add_(1)
        if self.w is not None:
            self.w.data.mul_(2)
None
""")


def program(case: str) -> str:
    write, _, given = case.rstrip("\n").rpartition("\n")
    return HEAD.replace("WRITE", write).replace("GIVEN", given)


@pytest.mark.parametrize("name", OWN)
def test_what_runs_own_code_stays_out_of_the_block(name: str, tmp_path: Path) -> None:
    check_runs_alike(tmp_path, {"main.py": program(OWN[name])})


@pytest.mark.parametrize("name", KNOWN)
def test_what_runs_known_code_moves_into_the_block(name: str, tmp_path: Path) -> None:
    assert "no_grad" in check_runs_alike(tmp_path, {"main.py": program(KNOWN[name])})["main.py"]


KEPT_BY_THE_STATEMENT = cases("""
# case: a function is given the layer
m.weight.data.fill_(score(m))
# case: a function is given the weight
m.weight.data.copy_(m.weight.data * score(m.weight))
# case: a list is given what is computed
m.weight.data.mul_(graphs.append((m.weight ** 2).sum()) or 2.0)
# case: the layer is run
m.weight.data.fill_(score(m(torch.ones(3)) ** 2))
# case: an object keeps what it is multiplied with
m.weight.data.copy_(own * m.weight)
# case: a method of a tensor's name keeps it
m.weight.data.fill_(own.mul(m.weight ** 2))
# case: an argument by its name
m.weight.data.fill_(score(m=m.weight ** 2))
# case: a constructor hands on the weight
class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = m.weight
            self.v = nn.Parameter(torch.ones(3))
            self.v.data.fill_(score(self.v))
    Net()
# case: a tensor that is given
w = torch.ones(3)
    w.data.mul_(score(torch.ones(3, requires_grad=True) * w))
""")
FORGOTTEN_BY_IT = cases("""
# case: its size
m.weight.data.fill_(1.0 / m.weight.size(1))
# case: the least element
m.weight.data.clamp_(float(m.weight.min()), max(0.5, m.weight.max().item()))
# case: numbers of the layer
m.weight.data.uniform_(-1.0 / m.in_features, 1.0 / m.in_features)
""")
SCORED = """
import torch
from torch import nn

graphs = []


def score(m):
    if isinstance(m, nn.Module):
        m = m.weight
    graphs.append((m * m).sum())
    return 3.0


def total(x):
    return x.sum() * 2


class Own:
    def __mul__(self, other):
        return score(other) * torch.ones(3, 3)

    def __eq__(self, other):
        return score(other)

    def mul(self, other):
        return score(other)


own = Own()


def main():
    m = nn.Linear(3, 3)
    WRITE
    print(m.weight)
    if graphs:
        sum(graphs).backward()
        print(m.weight.grad)


main()
"""


@pytest.mark.parametrize("name", KEPT_BY_THE_STATEMENT)
def test_what_the_statement_itself_keeps_is_in_use(name: str, tmp_path: Path) -> None:
    write = KEPT_BY_THE_STATEMENT[name].rstrip("\n")
    assert not check_runs_alike(tmp_path, {"main.py": SCORED.replace("WRITE", write)})


@pytest.mark.parametrize("name", FORGOTTEN_BY_IT)
def test_what_the_statement_forgets_is_not_in_use(name: str, tmp_path: Path) -> None:
    write = FORGOTTEN_BY_IT[name].rstrip("\n")
    assert (
        "m.weight.data.fill_" not in check_runs_alike(tmp_path, {"main.py": SCORED.replace("WRITE", write)})["main.py"]
    )


RESIZED = cases("""
# case: an empty buffer grows
self.register_buffer("order", torch.zeros(0, dtype=torch.long))
        torch.arange(3, out=self.order.data)
# case: a parameter that may not grow
self.w = nn.Parameter(torch.zeros(0))
        torch.randn(3, out=self.w.data)
# case: it grows without grad mode
with torch.no_grad():
            self.register_buffer("order", torch.zeros(0, dtype=torch.long))
            torch.arange(3, out=self.order.data)
""")
BUFFERS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = nn.Parameter(torch.ones(3))
        self.register_buffer("s", torch.ones(3))
        WRITE


torch.manual_seed(0)
print(Net().state_dict())
"""


@pytest.mark.parametrize("name", RESIZED)
def test_what_out_may_resize_stays_detached(name: str, tmp_path: Path) -> None:
    text = check_runs_alike(tmp_path, {"main.py": BUFFERS.replace("WRITE", RESIZED[name].rstrip("\n"))})["main.py"]
    assert ".data" not in text
