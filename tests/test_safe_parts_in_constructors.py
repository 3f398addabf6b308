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
HANDED_TO_WHAT_ONLY_LOOKS = cases("""
# case: numbers of parts
import math
import numpy as np
PARAMETER
        self.high = abs(self.w).max().item()
        self.size = sum(each.numel() for each in self.parameters())
        self.root = math.sqrt(self.w.size(0)) + np.sqrt(self.w.shape[0])
        self.w.data.fill_(3)

print(Net().w, Net().high, Net().root)
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
# case: an index
BUILT
        self.register_buffer("index", torch.tensor([0]))
        self.chosen = x[self.index]
        self.index.data.fill_(5)

Net().chosen.sum().backward()
print(x.grad)
# case: what a function of torch makes
BUILT
        self.w = torch.ones(2)
        self.cost = (x * self.w).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
""")
WITHOUT_A_GRAPH = cases("""
# case: what is detached, and a buffer
PARAMETER
        self.register_buffer("mask", torch.ones(2))
        self.register_buffer("start", self.w.detach().clone())
        self.other = 1 - self.mask
        self.kept = self.mask[torch.tensor([0])]
        self.mean = self.w.detach().mean()
        print(self.w.detach().numpy(), list(self.state_dict()))
        self.mask.data.fill_(2)
        self.w.data.fill_(3)

net = Net()
print(net.w, net.mask, net.start, net.other, net.mean)
""")
APPLIED_WHAT_COMPUTES = cases("""
# case: a method
LAYER
        self.kept = []
        self.apply(self.collect)
        self.fc.weight.data.fill_(3)

    def collect(self, m):
        if isinstance(m, nn.Linear):
            self.kept.append(m.weight.pow(2).sum())

net = Net()
net.kept[0].backward()
print(net.fc.weight.grad)
# case: a function
KEPT = []
def collect(m):
    if isinstance(m, nn.Linear):
        KEPT.append(m.weight.pow(2).sum())

LAYER
        self.fc.apply(collect)
        self.fc.weight.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.fc.weight.grad)
# case: a lambda
KEPT = []
LAYER
        self.apply(lambda m: KEPT.append(m.weight.pow(2)) if isinstance(m, nn.Linear) else None)
        self.fc.weight.data.fill_(3)

net = Net()
KEPT[0].sum().backward()
print(net.fc.weight.grad)
# case: a function that a function makes
KEPT = []
def collecting(power):
    def collect(m):
        if isinstance(m, nn.Linear):
            KEPT.append(m.weight.pow(power).sum())
    return collect

LAYER
        self.apply(collecting(2))
        self.fc.weight.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.fc.weight.grad)
# case: a key
KEPT = []
def size(m):
    KEPT.append(m.weight.pow(2).sum())
    return 0

LAYER
        self.sizes = len(sorted([self.fc], key=size))
        self.fc.weight.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.fc.weight.grad)
# case: a function of autograd
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return w * w

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

PARAMETER
        self.cost = Square.apply(self.w)
        self.w.data.fill_(3)

net = Net()
net.cost.sum().backward()
print(net.w.grad)
""")
APPLIED_WHAT_WRITES = cases("""
# case: initialisers
from functools import partial

@torch.no_grad()
def half(m, gain=1):
    if hasattr(m, "weight") and type(m) is nn.Linear:
        m.weight.fill_(0.5 * gain)
        nn.init.zeros_(m.bias)

def starting(kind):
    def start(m):
        name = m.__class__.__name__
        if name.find("Linear") != -1 and kind == "ones":
            nn.init.constant_(m.weight.data, 1 / m.in_features)
            if m.bias is not None:
                m.bias.data.zero_()
    return start

LAYER
        self.apply(half)
        self.apply(partial(half, gain=2))
        self.apply(starting("ones"))
        self.fc.apply(self.begin)
        self.apply(lambda m: m.reset_parameters() if isinstance(m, nn.Linear) else None)
        self.count = len(list(filter(lambda p: p.requires_grad, self.parameters())))
        self.fc.weight.data.fill_(3)

    def begin(self, m):
        if isinstance(m, nn.Linear):
            std = m.weight.size(0) ** -0.5
            m.weight.data.uniform_(-std, std)

print(Net().fc.weight, Net().count)
""")
LIVE_BEFORE_IT_IS_A_PART = cases("""
# case: a parameter
BUILT
        w = torch.ones(2)
        self.cost = (x * w).sum()
        self.w = nn.Parameter(w)
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: a view in a buffer
BUILT
        w = torch.ones(2, 2)
        self.register_buffer("w", w[0])
        self.cost = (x * w).sum()
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
# case: an attribute, by way of another name
BUILT
        w = torch.ones(2)
        same = w.view(-1)
        self.cost = (x * same).sum()
        self.w = w
        self.w.data.fill_(3)

Net().cost.backward()
print(x.grad)
""")
PLAIN_BEFORE_IT_IS_A_PART = cases("""
# case: computed with numbers and new tensors
BUILT
        place = torch.arange(4).unsqueeze(1) * torch.exp(torch.arange(0, 4, 2).float() / 4)
        w = torch.zeros(4, 4)
        w[:, 0::2] = torch.sin(place)
        w = w / w.norm()
        n = 2 * 2
        self.n = n
        self.w = nn.Parameter(w.view(n, -1))
        self.register_buffer("scale", w.sum() / (n - 1))
        self.w.data.mul_(3)

print(Net().w, Net().scale)
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
# case: append of an object of another file
from total import Total

TOTAL = Total()
PARAMETER
        TOTAL.append(self.w)
        self.w.data.fill_(3)

net = Net()
TOTAL.value.backward()
print(net.w.grad)
# file: total.py
class Total:
    value = 0

    def append(self, w):
        self.value = self.value + w.pow(2).sum()
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
ANSWERED_PLAINLY = cases("""
# case: lists, a meter and a layer that is frozen
class Meter:
    value = 0

    def update(self, value):
        self.value += value

    def append(self, value):
        self.value = value * 2

class Frozen(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.norm = nn.BatchNorm1d(2)

    def train(self, mode=True):
        super().train(mode)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.eval()
        for p in self.parameters():
            p.requires_grad = False
        return self

BUILT
        layers = []
        table = {}
        self.blocks = nn.ModuleList()
        self.fc = nn.Linear(2, 2)
        layers.append(self.fc)
        table.update(fc=self.fc)
        self.blocks.append(self.fc)
        self.frozen = Frozen()
        self.frozen.eval()
        self.fc.weight.data.fill_(3)
        self.frozen.weight.data.fill_(3)

print(Net().fc.weight, Net().frozen.weight)
""")
REACHED_ELSEWHERE = cases("""
# case: a list of the file
LAYERS, KEPT = [], []
def penalise():
    KEPT.append(sum(w.pow(2).sum() for w in LAYERS))

PARAMETER
        LAYERS.append(self.w)
        penalise()
        self.w.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.w.grad)
""")
KEPT_ELSEWHERE = cases("""
# case: a list of the file that nothing reads
LAYERS = []
PARAMETER
        LAYERS.append(self.w)
        print(len(LAYERS))
        self.w.data.fill_(3)

print(Net().w)
""")
SAFE = KEPT_ELSEWHERE | ANSWERED_PLAINLY | PLAIN_BEFORE_IT_IS_A_PART
SAFE |= APPLIED_WHAT_WRITES | HANDED_TO_WHAT_ONLY_LOOKS | WITHOUT_A_GRAPH
OPEN = ANSWERED_BY_OWN_CLASSES | LIVE_BEFORE_IT_IS_A_PART | APPLIED_WHAT_COMPUTES
OPEN |= REACHED_ELSEWHERE | HANDED_TO_WHAT_IS_KNOWN | KEPT_BY_ANOTHER_NAME


@pytest.mark.parametrize("name", SAFE)
def test_parts_that_are_looked_at_are_written_to_in_the_open(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_parts_that_a_graph_may_keep_are_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(OPEN[name]))
