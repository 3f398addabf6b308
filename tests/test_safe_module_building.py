"""When a write into a module that is built or was just made may be repaired: projects run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

HEAD = "import torch\nfrom torch import nn\n\nx = torch.ones(1, 2, requires_grad=True)\n"
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def start(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)


def show():
    return net(x).pow(2).sum()

"""


def _cases(text: str) -> dict[str, str]:
    """Return programs by what they are about: each begins behind a line `# case: ...`."""
    parts = (each.partition("\n") for each in text.split("# case: ")[1:])
    return {name: code for name, _, code in parts}


RUN_LATER = _cases("""
# case: a function that sees the name is not called before
NET
net = Net()
net.apply(start)
print(show())
# case: another network is made before
NET
class Other(nn.Module):
    pass

net = Net()
other = Other()
torch.manual_seed(0)
net.apply(start)
print(show())
# case: nothing else sees the name
def main():
    net = nn.Linear(2, 2)
    tell("made")
    net.weight.data.fill_(2)
    print(net(x))

def tell(text):
    print(text)

main()
""")
RUN_OUT_OF_SIGHT = _cases("""
# case: a function runs it by its name
NET
net = Net()
loss = show()
net.apply(start)
loss.backward()
print(x.grad)
# case: a lambda runs it by its name
show = lambda x: head(x).pow(2).sum()
head = nn.Linear(2, 1)
loss = show(x)
head.weight.data.clamp_(-0.1, 0.1)
loss.backward()
print(x.grad.shape)
# case: a closure runs it by its name
def main():
    def show():
        return net(x).pow(2).sum()
    net = nn.Linear(2, 2)
    loss = show()
    net.weight.data.fill_(0.5)
    loss.backward()
    print(x.grad)

main()
# case: a method of an object runs it by its name
NET
class Probe:
    def score(self):
        return show()

probe = Probe()
net = Net()
loss = probe.score()
net.apply(start)
loss.backward()
print(x.grad)
# case: the initialiser runs it by its name
NET
kept = []
def begin(m):
    kept.append(show())
    m.fc.weight.data.fill_(0.5)

net = Net()
begin(net)
kept[0].backward()
print(x.grad)
# case: who called a generator runs it
net = None
def steps():
    global net
    net = nn.Linear(2, 2)
    yield
    net.weight.data.fill_(0.2)
    yield

made = steps()
next(made)
loss = net(x).pow(2).sum()
next(made)
loss.backward()
print(x.grad)
# case: it is found by its text
def main():
    m = nn.Linear(2, 2)
    loss = locals()["m"](x).pow(2).sum()
    m.weight.data.fill_(0.2)
    loss.backward()
    print(x.grad)

main()
""")

BUILT = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
PARAMETER = BUILT + "        self.w = nn.Parameter(torch.ones(2))\n"
LEAVES_NO_GRAPH = _cases("""
# case: parts are made and looked at
class Block(nn.Module):
    def __init__(self, down):
        super().__init__()
        self.down = down

class Net(nn.Module):
    def __init__(self, block, width):
        super().__init__()
        self.width = width
        self.body = self.build(block, width * 2)
        self.width += self.body[0].down.in_features // 2
        self.table = dict(kept=self.body, width=self.width)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.normal_(0, 1 / m.in_features)

    def build(self, block, width):
        down = nn.Linear(width, 2)
        layers = [block(down)]
        return nn.Sequential(*layers)

print(Net(Block, 1).body[0].down.weight)
# case: what is computed is a number
PARAMETER
        self.norm = self.w.norm().item() * 2
        self.half = nn.Parameter(self.w / 2)
        with torch.no_grad():
            self.first = self.w[0] * 2
        self.w.data.fill_(3)

print(Net().w)
""")
LEAVES_A_GRAPH = _cases("""
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
# case: what an initialiser returns
PARAMETER
        self.terms = self.reset_parameters()
        self.w.data.fill_(3)

    def reset_parameters(self):
        self.w.data.fill_(2)
        return [self.w.pow(3).sum()]

net = Net()
net.terms[0].backward()
print(net.w.grad)
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
# case: a parameter of a local name
BUILT
        w = nn.Parameter(torch.ones(2))
        self.penalty = w.pow(3).sum()
        self.w = w
        self.w.data.fill_(3)

net = Net()
net.penalty.backward()
print(net.w.grad)
""")

SAFE = RUN_LATER | LEAVES_NO_GRAPH
OPEN = RUN_OUT_OF_SIGHT | LEAVES_A_GRAPH


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_module_that_is_new_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, _project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_what_a_graph_may_hold_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, _project(OPEN[name]))


def _project(code: str) -> dict[str, str]:
    """Return the files of a project: the program, and others that begin behind `# file: name`."""
    names, texts = ["main.py"], [""]
    for word, text in (("NET", NET), ("BUILT", BUILT), ("PARAMETER", PARAMETER)):
        code = code.replace(f"{word}\n", text)
    for line in code.splitlines(keepends=True):
        if line.startswith("# file: "):
            names.append(line.split()[-1])
            texts.append("")
        else:
            texts[-1] += line
    return {name: HEAD + text for name, text in zip(names, texts, strict=True)}
