"""Whether a module may be run between the place where it is made and a write: projects before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

RUN_LATER = cases("""
# case: two networks that a function sees, one started before the other
NET
net = Net()
other = Net()
other.apply(start)
net.apply(start)
print(show(), other(x))
# case: a network that a function sees is printed before
NET
net = Net()
print(net)
net.apply(start)
print(show())
# case: parameters are chosen by their names, and a list of numbers grows
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.widths = []
        self.widths += [dict(width=2)]
        self.apply(self.start)
        for name, p in self.named_parameters():
            if name.endswith("weight"):
                nn.init.constant_(p.data, 0.25)

    def start(self, m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight.data, 0.5)
            nn.init.constant_(m.bias.data, 0.5)

net = Net()
print(net.fc(x))
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
# case: its class names it
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return net.fc(x)

def start(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)

net = Net()
net = net.to("cpu")
net.apply(start)
print(net(x))
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
RUN_OUT_OF_SIGHT = cases("""
# case: what is applied to another network computes with this one
NET
KEPT = []
def keep(m):
    KEPT.append(show())

net = Net()
other = Net()
other.apply(keep)
net.apply(start)
KEPT[0].backward()
print(x.grad)
# case: a network that computes when it is printed
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.kept = []

    def extra_repr(self):
        self.kept.append(self.fc(x).pow(2).sum())
        return ""

def start(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)

net = Net()
str(net)
print(net)
net.apply(start)
net.kept[0].backward()
print(x.grad)
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


@pytest.mark.parametrize("name", RUN_LATER)
def test_a_write_before_the_module_is_run_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, project(RUN_LATER[name]))


@pytest.mark.parametrize("name", RUN_OUT_OF_SIGHT)
def test_a_write_that_a_run_may_come_before_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, project(RUN_OUT_OF_SIGHT[name]))
