"""Initialisers that run later than where they stand, or are reached by other names: projects run before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases, project

FORWARD = """
    def forward(self, x):
        return self.fc(x)

net = Net()
loss = net(x).pow(2).sum()
"""
BACK = """
loss.backward()
print(x.grad)
"""
RESET = """
        self.reset_parameters()

    def reset_parameters(self):
        self.fc.weight.data.fill_(0.5)
"""
INIT = """
def init(m):
    if isinstance(m, nn.Linear):
        m.weight.data.fill_(0.5)
        m.bias.data.fill_(0.5)

"""
PIECES = {"FORWARD": FORWARD, "BACK": BACK, "RESET": RESET, "INIT": INIT}


def files(code: str) -> dict[str, str]:
    """Return the files of a project, with the pieces of this file in their places."""
    for word, text in PIECES.items():
        code = f"\n{code}".replace(f"\n{word}\n", text)[1:] if code.startswith(f"{word}\n") else code
        code = code.replace(f"\n{word}\n", text)
    return project(code)


RUN_AT_ONCE = cases("""
# case: a module that is applied to in a branch
INIT
net = nn.Linear(2, 2)
if True:
    print(net.apply(init)(x))
""")
RUN_LATER = cases("""
# case: a lambda calls the initialiser
LAYER
        self.restart = lambda: self.reset_parameters()
RESET
FORWARD
net.restart()
BACK
# case: a generator calls the initialiser
LAYER
        self.again = (self.reset_parameters() for _ in range(1))
RESET
FORWARD
list(net.again)
BACK
# case: a lazy function goes through the generator
LAYER
        self.again = enumerate(self.reset_parameters() for _ in range(1))
RESET
FORWARD
list(net.again)
BACK
# case: the initialiser is a generator
LAYER
        self.again = self._init_weights()

    def _init_weights(self):
        self.fc.weight.data.fill_(0.5)
        yield
FORWARD
next(net.again)
BACK
# case: the initialiser is a coroutine
import asyncio
LAYER
        self.again = self._init_weights()

    async def _init_weights(self):
        self.fc.weight.data.fill_(0.5)
FORWARD
asyncio.run(net.again)
BACK
# case: a lambda applies a function
INIT
LAYER
        self.restart = lambda: self.apply(init)
FORWARD
net.restart()
BACK
# case: a lambda applies a function to what was just made
INIT
def main():
    net = nn.Linear(2, 2)
    return net, lambda: net.apply(init)

net, again = main()
loss = net(x).pow(2).sum()
again()
BACK
# case: a generator applies a function to what was just made
INIT
def main():
    net = nn.Linear(2, 2)
    return net, (net.apply(init) for _ in range(1))

net, again = main()
loss = net(x).pow(2).sum()
list(again)
BACK
# case: a test of a loop is asked again
INIT
def main():
    net = nn.Linear(2, 2)
    rounds = 0
    while net.apply(init) and rounds < 1:
        loss = net(x).pow(2).sum()
        rounds += 1
    loss.backward()
    print(x.grad)

main()
""")

ANOTHER_NAME = cases("""
# case: a class gives its initialiser another name
LAYER
RESET
    reset = reset_parameters if True else None
FORWARD
net.reset()
BACK
# case: a class makes a property of its initialiser
LAYER
RESET
    restarted = property(reset_parameters)
FORWARD
print(net.restarted)
BACK
# case: a class keeps its initialiser in a dictionary
LAYER
RESET
    ways = {"restart": reset_parameters}
FORWARD
net.ways["restart"](net)
BACK
# case: a class hands its initialiser to a method as a default
LAYER
RESET
    def restart(self, how=reset_parameters):
        how(self)
FORWARD
net.restart()
BACK
""")
ONCE = """
class Net(nn.Module):
    def __init__(self):
        if not hasattr(self, "fc"):
            super().__init__()
            self.fc = nn.Linear(2, 2)
        self.fc.weight.data.mul_(2)
"""
PIECES |= {"ONCE": ONCE}
BEGUN_ONCE = cases("""
# case: constructors call those of their bases
import inspect
class Base(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.fc = nn.Linear(2, 2)
        self.fc.bias.data.fill_(0.5)

class Net(Base):
    def __init__(self):
        super(Net, self).__init__()
        self.fc.weight.data.fill_(0.5)
FORWARD
print(loss, inspect.signature(Net.__init__), Net.__init__.__doc__)
""")
WEIGHED = """
def weighed(w, *ys):
    with torch.no_grad():
        ys[0].add_(1)
    ys[1].backward()
    print(w.grad)

w = torch.ones(2, requires_grad=True)
y = torch.relu(torch.full((2,), 2.0))

"""
PIECES |= {"WEIGHED": WEIGHED}
IN_ITS_MODE = cases("""
# case: a sum under no_grad
WEIGHED
with torch.no_grad():
    print(sum((y.data * w).sum() for _ in range(2)))
# case: a tuple and a loop under no_grad
WEIGHED
def main(w):
    y = torch.relu(w)
    with torch.no_grad():
        out = torch.stack(tuple((y.data * w).sum() for _ in range(2)))
        for each in ((y.data * w).sum() for _ in range(2)):
            print(out, each)

main(w)
# case: a generator under a decorator
@torch.no_grad()
def parts(y, w):
    y = torch.relu(y)
    yield y
    yield (y.data * w).sum()

for each in parts(torch.ones(2), torch.ones(2, requires_grad=True)):
    print(each)
""")
IN_ANOTHER_MODE = cases("""
# case: a generator goes round behind no_grad
WEIGHED
def parts(w):
    y = torch.relu(torch.full((2,), 2.0))
    with torch.no_grad():
        while True:
            out = (y.data * w).sum()
            yield y, out

made = parts(w)
next(made)
torch.set_grad_enabled(True)
weighed(w, *next(made))
# case: a loop turns grad mode on for its next round
WEIGHED
def main(w):
    y = torch.relu(torch.full((2,), 2.0))
    torch.set_grad_enabled(False)
    for _ in range(2):
        out = (y.data * w).sum()
        torch.set_grad_enabled(True)
    weighed(w, y, out)

main(w)
# case: a coroutine goes round under no_grad
import asyncio
WEIGHED
async def steps():
    for _ in range(2):
        torch.set_grad_enabled(True)
        yield

async def part(w):
    y = torch.relu(torch.full((2,), 2.0))
    with torch.no_grad():
        async for _ in steps():
            out = (y.data * w).sum()
    return y, out

weighed(w, *asyncio.run(part(w)))
# case: a coroutine under a decorator
import asyncio
WEIGHED
@torch.no_grad()
async def part(y, w):
    y = torch.relu(torch.full((2,), 2.0))
    return y, (y.data * w).sum()

weighed(w, *asyncio.run(part(y, w)))
# case: a coroutine waits under no_grad
import asyncio
WEIGHED
async def part(w):
    y = torch.relu(torch.full((2,), 2.0))
    with torch.no_grad():
        await asyncio.sleep(0)
        return y, (y.data * w).sum()

async def other():
    torch.set_grad_enabled(True)

async def main():
    made, _ = await asyncio.gather(part(w), other())
    torch.set_grad_enabled(True)
    weighed(w, *made)

asyncio.run(main())
# case: a generator is gone through behind no_grad
WEIGHED
def main(w):
    y = torch.relu(torch.full((2,), 2.0))
    with torch.no_grad():
        outs = ((y.data * w).sum() for _ in range(1))
    weighed(w, y, next(outs))

main(w)
# case: a generator goes on behind no_grad
WEIGHED
def parts(w):
    y = torch.relu(torch.full((2,), 2.0))
    with torch.no_grad():
        yield y
        yield (y.data * w).sum()

made = parts(w)
y = next(made)
torch.set_grad_enabled(True)
weighed(w, y, next(made))
""")
NOT_TAKEN = cases("""
# case: texts and namespaces lead to other things
import argparse, inspect, sys
class Options:
    def __getattr__(self, name):
        return super().__getattribute__(name)

    def fill(self):
        self.__dict__.update(rate=1)

LAYER
RESET
FORWARD
args = argparse.Namespace(rate=eval("1 + 1"))
print(vars(args), len(vars(net)), len(inspect.getmembers(sys.modules[__name__])) > 0, "reset_parameters")
""")
SAFE = RUN_AT_ONCE | BEGUN_ONCE | IN_ITS_MODE | NOT_TAKEN
OPEN = RUN_LATER | ANOTHER_NAME | IN_ANOTHER_MODE


@pytest.mark.parametrize("name", SAFE)
def test_a_write_before_the_module_is_in_use_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, files(SAFE[name]))


@pytest.mark.parametrize("name", OPEN)
def test_a_write_when_a_graph_may_hold_the_module_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, files(OPEN[name]))
