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

SAFE = RUN_LATER
OPEN = RUN_OUT_OF_SIGHT


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_module_that_is_new_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, _project(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_what_a_graph_may_hold_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, _project(OPEN[name]))


def _project(code: str) -> dict[str, str]:
    """Return the files of a project: the program, and others that begin behind `# file: name`."""
    names, texts = ["main.py"], [""]
    for line in code.replace("NET\n", NET).splitlines(keepends=True):
        if line.startswith("# file: "):
            names.append(line.split()[-1])
            texts.append("")
        else:
            texts[-1] += line
    return {name: HEAD + text for name, text in zip(names, texts, strict=True)}
