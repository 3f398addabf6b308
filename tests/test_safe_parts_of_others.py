"""Where a module that is built takes over a part that is in use: projects run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

MADE_ANEW = cases("""
# case: numbers are drawn and computed
import math
import random
import numpy as np
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = random.choice([width])
        self.fc = nn.Linear(2, self.width)
        self.w = nn.Parameter(torch.from_numpy(np.random.normal(0, 1 / np.sqrt(width), (2, 2))))
        self.fc.weight.data.fill_(random.choice([0.5]) / math.sqrt(width))
        self.w.data.mul_(0.5)

print(Net(2).fc(x))
# case: a deep copy
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.body = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
        for m in self.body:
            m.weight.data.fill_(0.5)

import copy
print(Net(nn.Linear(2, 2)).body[0](x))
""")
HANDED_OUT = cases("""
# case: a member of a list is chosen
import random
LAYER
        self.fc = random.choice(other)
        self.fc.weight.data.mul_(0.5)
IN_LIST
# case: members of a list are drawn
import random
LAYER
        self.body = nn.ModuleList(random.sample(other, 1))
        for m in self.body:
            m.weight.data.mul_(0.5)
IN_LIST
# case: a member is drawn by NumPy
import numpy as np
LAYER
        self.body = nn.ModuleList(np.random.permutation(other).tolist())
        for m in self.body:
            m.weight.data.mul_(0.5)
IN_LIST
# case: what a base class lists
LAYER
        self.body = other[0]
        self.kept = nn.ModuleList(super().children())
        self.kept[1].weight.data.mul_(0.5)
IN_LIST
# case: a class is its own copy
import copy
class Shared(nn.Linear):
    def __deepcopy__(self, memo):
        return self

class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.fc = copy.deepcopy(layer)
        self.fc.weight.data.mul_(0.5)

other = Shared(2, 2)
loss = other(x).pow(2).sum()
Net(other)
loss.backward()
print(x.grad)
# case: a class of another file is copied by what it gives
import copy
from shared import Shared
class Net(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.fc = copy.deepcopy(layer)
        self.fc.weight.data.mul_(0.5)

other = Shared(2, 2)
loss = other(x).pow(2).sum()
Net(other)
loss.backward()
print(x.grad)
# file: shared.py
class Shared(nn.Linear):
    def __reduce__(self):
        return KEPT.pop, ()

    def __init__(self, *sizes):
        super().__init__(*sizes)
        KEPT.append(self)

KEPT = []
""")
SAFE = MADE_ANEW
OPEN = HANDED_OUT


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_part_that_was_made_there_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_a_part_of_others_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(OPEN[name]))
