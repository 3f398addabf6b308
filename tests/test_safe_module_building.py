"""When a write into a module that is built or was just made may be repaired: projects run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

LEAVES_A_GRAPH = cases("""
# case: a parameter goes to what its annotation calls a number
KEPT = []
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.keep(self.weight)
        self.weight.data.fill_(0.3)

    def keep(self, w: float = 0.5):
        KEPT.append((w * w).sum())

net = Net()
KEPT[0].backward()
print(net.weight.grad)
# case: a list of the module grows by what is computed with its part
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.kept = []
        self.kept += [self.fc.weight.pow(2).sum()]
        self.fc.weight.data.fill_(0.3)

net = Net()
net.kept[0].backward()
print(net.fc.weight.grad)
# case: one of two attributes
PARAMETER
        self.scale, self.penalty = 1.0, self.w.pow(3).sum()
        self.w.data.fill_(3)

net = Net()
net.penalty.backward()
print(net.w.grad)
# case: a closure
PARAMETER
        penalty = self.w.pow(3).sum()
        self.penalty = lambda: penalty
        self.w.data.fill_(3)

net = Net()
net.penalty().backward()
print(net.w.grad)
# case: a dictionary
PARAMETER
        self.stats = dict(penalty=self.w.pow(3).sum())
        self.w.data.fill_(3)

net = Net()
net.stats["penalty"].backward()
print(net.w.grad)
# case: a global name
PARAMETER
        global PENALTY
        PENALTY = self.w.pow(3).sum()
        self.w.data.fill_(3)

net = Net()
PENALTY.backward()
print(net.w.grad)
# case: a loop
PARAMETER
        for self.penalty in [self.w.pow(3)[0]]:
            pass
        self.w.data.fill_(3)

net = Net()
net.penalty.backward()
print(net.w.grad)
# case: a property that remembers
from functools import cached_property
PARAMETER
        print("norm", self.norm.item())
        self.w.data.fill_(3)

    @cached_property
    def norm(self):
        return self.w.pow(3).sum()

net = Net()
net.norm.backward()
print(net.w.grad)
# case: a function that remembers
KEPT = []
def remember(w):
    KEPT.append(w.pow(3).sum())

PARAMETER
        remember(self.w)
        self.w.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.w.grad)
# case: a function in another file that remembers
from kept import KEPT, remember
PARAMETER
        remember(self.w)
        self.w.data.fill_(3)

net = Net()
KEPT[0].backward()
print(net.w.grad)
# file: kept.py
KEPT = []
def remember(w):
    KEPT.append(w.pow(3).sum())
# case: views that a method gives
PARAMETER
        self.i, self.f = self.w.chunk(2)
        self.w.data.normal_()

net = Net()
(x * net.i + net.f).sum().backward()
print(net.w.grad)
# case: views that are unpacked
PARAMETER
        i, f = self.w
        self.i, self.f = i, f
        self.w.data.normal_()

net = Net()
(x * net.i + net.f).sum().backward()
print(net.w.grad)
# case: a view that an index gives
PARAMETER
        self.first = self.w[0]
        self.first.data.fill_(2)

net = Net()
print(net.first, type(net.first.grad_fn))
# case: a constructor before the initialiser
PARAMETER
        self.fc = nn.Linear(2, 2)
        self.penalty = self.fc.weight.pow(3).sum()

def start(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)

net = Net()
net.apply(start)
net.penalty.backward()
print(net.fc.weight.grad)
""")
GIVES_ITS_OWN = cases("""
# case: a part gets something new by another name
LAYER
        fc = self.fc
        fc.bias = None
        fc.weight = nn.Parameter(torch.ones(2, 2))
        self.fc.weight.data.mul_(0.5)

print(Net().fc(x))
# case: a function makes a layer anew
def make(n):
    made = [nn.Linear(n, n)]
    return made[0]

LAYER
        self.fc = make(2)
        self.fc.weight.data.fill_(0.5)

print(Net().fc(x))
""")
GIVES_ANOTHERS = cases("""
# case: a part gets another's weight by another name
LAYER
        fc = self.fc
        fc.weight = other.weight
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a part gets another's weight by a loop
LAYER
        for mine, theirs in zip([self.fc], [other]):
            mine.weight = theirs.weight
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a part gets another's weight registered
LAYER
        self.fc.register_parameter("weight", other.weight)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a part takes over another's state
LAYER
        self.fc.load_state_dict(other.state_dict(keep_vars=True), assign=True)
        self.fc.weight.data.mul_(0.5)
IN_USE
# case: a function gives what it has made before
kept = {}
def make(n):
    if n not in kept:
        layer = nn.Linear(n, n)
        kept[n] = layer
    return kept[n]

LAYER
        self.fc = make(2)
        self.fc.weight.data.fill_(0.3)

loss = Net().fc(x).pow(2).sum()
Net()
loss.backward()
print(x.grad)
# case: a function is mapped
def make(n):
    return SHARED

LAYER
        self.body = nn.ModuleList(map(make, [2]))
        for m in self.body:
            m.weight.data.mul_(0.5)

SHARED = nn.Linear(2, 2)
loss = SHARED(x).pow(2).sum()
Net()
loss.backward()
print(x.grad)
""")
ANSWERED_OTHERWISE = cases("""
# case: a class below builds a part
BASE
class Net(Base):
    def build(self):
        return SHARED
IN_BASE
# case: a class below has another layer
BASE
class Net(Base):
    layer = staticmethod(lambda a, b: SHARED)
IN_BASE
# case: a class below has a property
BASE
class Net(Base):
    @property
    def body(self):
        return SHARED

    @body.setter
    def body(self, value):
        self.shared = SHARED
IN_BASE
# case: a class below sets attributes in its own way
BASE
class Net(Base):
    def __setattr__(self, name, value):
        super().__setattr__(name, SHARED if name == "body" else value)
IN_BASE
# case: a class below lists more modules
BASE
class Net(Base):
    def modules(self):
        yield from super().modules()
        yield SHARED
IN_BASE
# case: a class in another file builds a part
from base import SHARED, Base as First
class Net(First):
    def build(self):
        return SHARED
IN_BASE
# file: base.py
BASE
""")
CALLED_BY_THE_CONSTRUCTOR = cases("""
# case: two classes of a file have an initialiser of the same name
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.init_weights()

    def init_weights(self):
        nn.init.constant_(self.fc.weight.data, 0.5)
        nn.init.constant_(self.fc.bias.data, 0.5)

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.init_weights()

    def init_weights(self):
        nn.init.constant_(self.net.weight.data, 0.25)
        nn.init.constant_(self.net.bias.data, 0.25)

print(Net().fc(x), Other().net(x))
# case: an initialiser is applied
LAYER
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            m.weight.data.fill_(0.3)

print(Net().fc(x))
# case: an initialiser under no_grad
LAYER
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self):
        self.fc.weight.data.fill_(0.3)

print(Net().fc(x))
""")
CALLED_LATER = cases("""
# case: a class derives from two that apply an initialiser of the same name
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.apply(self.start)

    def start(self, m):
        if isinstance(m, nn.Linear):
            m.weight.data.fill_(0.5)

class Other:
    def __init__(self):
        self.start(self.fc)

    def start(self, m):
        pass

class Both(Net, Other):
    def __init__(self):
        Net.__init__(self)

    def again(self):
        Other.__init__(self)

net = Both()
loss = net.fc(x).pow(2).sum()
net.again()
loss.backward()
print(x.grad)
# case: an initialiser is kept as a hook
LAYER
        self.register_forward_hook(self.reset_weights)

    def reset_weights(self, module, args, out):
        self.fc.weight.data.mul_(0.5)

    def forward(self, x):
        return self.fc(x).pow(2)

Net()(x).sum().backward()
print(x.grad)
# case: an initialiser is kept as an attribute
LAYER
        self.init_weights()
        self.restart = self.init_weights

    def init_weights(self):
        self.fc.weight.data.fill_(0.1)

net = Net()
loss = net.fc(x).pow(2).sum()
net.restart()
loss.backward()
print(x.grad)
# case: an initialiser is handed to a decorator
KNOWN = {}
def register(f):
    KNOWN[f.__name__] = f
    return f

@register
def half(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)

net = nn.Sequential(nn.Linear(2, 2))
net.apply(half)
loss = net(x).pow(2).sum()
KNOWN["half"](net[0])
loss.backward()
print(x.grad)
""")

SAFE = GIVES_ITS_OWN | CALLED_BY_THE_CONSTRUCTOR
OPEN = LEAVES_A_GRAPH | GIVES_ANOTHERS | ANSWERED_OTHERWISE | CALLED_LATER


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_module_that_is_new_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_what_a_graph_may_hold_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(OPEN[name]))
