"""What a constructor may do with parts that it writes to later: projects run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

HANDED_TO_WHAT_IS_KNOWN = cases("""
# case: abs of a parameter
PARAMETER
        self.cost = abs(self.w)
        self.w.data.fill_(-3)

net = Net()
net.cost.sum().backward()
print(net.w.grad)
# case: math.prod
import math
PARAMETER
        self.cost = math.prod(self.w)
        self.w.data.fill_(3)

net = Net()
net.cost.backward()
print(net.w.grad)
# case: forward by the class
LAYER
        self.out = nn.Linear.forward(self.fc, x)
        self.fc.weight.data.fill_(3)

Net().out.sum().backward()
print(x.grad)
# case: called by the class
LAYER
        self.out = nn.Module.__call__(self.fc, x)
        self.fc.weight.data.fill_(3)

Net().out.sum().backward()
print(x.grad)
# case: a function of nn
LAYER
        self.out = nn.parallel.data_parallel(self.fc, x)
        self.fc.weight.data.fill_(3)

Net().out.sum().backward()
print(x.grad)
""")
KEPT_BY_ANOTHER_NAME = cases("""
# case: detached
PARAMETER
        self.cost = (x * self.w.detach()).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: detached under a name
PARAMETER
        start = self.w.detach().view(-1)
        self.cost = (x * start).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: from the state of a layer
LAYER
        self.cost = (x * self.fc.state_dict()["weight"]).sum()
        self.fc.weight.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: a view that is made without a graph
PARAMETER
        with torch.no_grad():
            start = self.w[:]
        self.cost = (x * start).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: what a function of torch makes
BUILT
        self.w = torch.ones(2)
        self.cost = (x * self.w).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
""")
APPLIED_WHAT_WRITES = cases("""
# case: initialisers
@torch.no_grad()
def half(m):
    if hasattr(m, "weight") and type(m) is nn.Linear:
        m.weight.fill_(0.5)
        nn.init.zeros_(m.bias)

LAYER
        self.apply(half)
        self.fc.apply(self.begin)
        self.fc.weight.data.fill_(3)

    def begin(self, m):
        if isinstance(m, nn.Linear):
            std = m.weight.size(0) ** -0.5
            m.weight.data.uniform_(-std, std)

print(Net().fc.weight)
""")
LIVE_BEFORE_IT_IS_A_PART = cases("""
# case: a view in a buffer
BUILT
        w = torch.ones(2, 2)
        self.register_buffer("w", w[0])
        self.cost = (x * w).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
""")
ANSWERED_BY_OWN_CLASSES = cases("""
# case: update of an object of the file
class Total:
    value = 0

    def update(self, w):
        self.value = self.value + w.pow(2).sum()

TOTAL = Total()
PARAMETER
        TOTAL.update(self.w)
        self.w.data.fill_(3)

net = Net()
TOTAL.value.backward()
print(net.w.grad)
# case: update of the module itself
BUILT
        self.w = nn.Parameter(torch.ones(2))
        self.update(self.w)
        self.w.data.fill_(3)

    def update(self, w):
        self.cost = w.pow(2).sum()

net = Net()
net.cost.backward()
print(net.w.grad)
# case: eval of a layer
class Low(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.a = nn.Parameter(torch.ones(2, 2))

    def train(self, mode=True):
        self.merged = None if mode else self.a @ self.a
        return super().train(mode)

BUILT
        self.low = Low()
        self.low.eval()
        self.low.a.data.fill_(3)

net = Net()
net.low.merged.sum().backward()
print(net.low.a.grad)
""")
SAFE = APPLIED_WHAT_WRITES
OPEN = ANSWERED_BY_OWN_CLASSES | LIVE_BEFORE_IT_IS_A_PART
OPEN |= HANDED_TO_WHAT_IS_KNOWN | KEPT_BY_ANOTHER_NAME


@pytest.mark.parametrize("name", SAFE)
def test_parts_that_are_looked_at_are_written_to_in_the_open(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_parts_that_a_graph_may_keep_are_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(OPEN[name]))
