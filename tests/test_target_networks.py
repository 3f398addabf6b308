"""A network that only runs without grad mode is written under `no_grad`: small programs before and after `--fix`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, torch

NET = """import copy
import torch
from torch import nn

kept = []


class Net(nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.fc = nn.Linear(size, 2)
        self.net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.register_buffer("scale", torch.tensor(2.0))
        nn.init.normal_(self.fc.weight)

    def forward(self, x):
        return self.net(torch.tanh(self.fc(x))) * self.scale

    def best(self, x):
        return self(x).max(1)[0]


"""
RUN = """def run(rate, x):
    trained = Net()
    target = Net().to("cpu")
    target.load_state_dict(trained.state_dict())
    target.eval()
    out = trained(x).sum()
    with torch.no_grad():
        wanted = target(x).sum() + target.best(x).sum() * target.scale
    loss = (out - wanted) ** 2
    for p, t in zip(trained.parameters(), target.parameters()):
        t.data.copy_(rate * p.data + (1 - rate) * t.data)
    loss.backward()
    for t in target.parameters():
        print(t.data, t.requires_grad)
    print(trained.fc.weight.grad)


"""
CALL = "torch.manual_seed(0)\nrun(torch.tensor(0.5, requires_grad=True), torch.randn(3, 2, requires_grad=True))\n"
LOOP = "    for p, t in zip(trained.parameters(), target.parameters()):\n"
WRITE = "        t.data.copy_(rate * p.data + (1 - rate) * t.data)\n"
BLOCK = "        with torch.no_grad():\n            t.copy_(rate * p + (1 - rate) * t)\n"
ON = "loss = (out - wanted) ** 2\n"

INNER = """class Inner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x):
        return self.fc(x)


"""


def _with(old: str, new: str, text: str = NET + RUN + CALL) -> str:
    assert old in text
    return text.replace(old, new)


SAFE = {
    "a function": NET + RUN + CALL,
    "a decorated function runs it": _with(
        "    with torch.no_grad():\n        wanted =",
        "    @torch.no_grad()\n    def ask():\n        return target(x)\n\n"
        "    with torch.no_grad():\n        wanted = ask().sum() +"
    ),
    "a loop turns its gradients off": _with(
        "    target.eval()\n", "    for t in target.parameters():\n        t.requires_grad = False\n"
    ),
    "with names": _with("zip(trained.parameters(), target.parameters())", "zip(trained.parameters(), "
                        "target.parameters(), strict=True)"),
    "a network is part of it": _with("class Net(", INNER + "class Net(").replace(
        "        nn.init.", "        self.inner = Inner(2)\n        nn.init.", 1).replace(
        "return self.net(torch.tanh(self.fc(x)))", "return self.net(self.inner(self.fc(x)))"),
    "it is given a number": _with("        nn.init.", "        self.size = size\n        nn.init.").replace(
        "* self.scale", "* self.scale * self.size").replace('Net().to("cpu")', "Net(2)"),
}  # fmt: skip


def _outside(old: str, new: str) -> str:
    """Use what the network gives under `no_grad` outside."""
    text = _with("        wanted =", "        w = target(x)\n        wanted =", _with(old, new))
    return _with(ON, "loss = (out - wanted) ** 2 + w.sum()\n", text)


OPEN = {
    "it runs with grad mode": _with(ON, "loss = (out - wanted) ** 2 + target(x).sum()\n"),
    "another method runs with grad mode": _with(ON, "loss = (out - wanted) ** 2 + target.best(x).sum()\n"),
    "a function runs it later": _with(
        "        wanted = ", "        ask = lambda: target(x).sum()\n        wanted = "
    ).replace(ON, "loss = (out - wanted) ** 2 + ask()\n"),
    "a layer of it runs": _with(ON, "loss = (out - wanted) ** 2 + target.net(x).sum()\n"),
    "a weight of it is used": _with(ON, "loss = (out - wanted) ** 2 + (target.fc.weight ** 2).sum()\n"),
    "it turns grad mode on": _outside(
        "        return self.net(", "        with torch.enable_grad():\n            return self.net("
    ),
    "it leaves inference mode": _outside(
        "        return self.net(", "        with torch.inference_mode(False):\n            return self.net("
    ),
    "it gives a weight": _with("return self(x).max(1)[0]", "return self.fc.weight").replace(
        ON, "loss = ((out - wanted) * w).sum() ** 2\n"
    ).replace("        wanted =", "        w = target.best(x)\n        wanted ="),
    "it gives a view of a parameter": _with("        nn.init.normal_", "        self.w = nn.Parameter(torch.ones(2))\n"
                                            "        nn.init.normal_").replace(
        "return self(x).max(1)[0]", "return self.w.view(-1)").replace(
        ON, "loss = ((out - wanted) * out * w).sum()\n").replace("        wanted =",
                                                          "        w = target.best(x)\n        wanted ="),
    "it is asked for its state": _with(ON, "loss = (out * target.state_dict()['fc.weight']).sum()\n"),
    "another name runs it": _with(ON, "other = target\n    loss = (out - wanted) ** 2 + other(x).sum()\n"),
    "two names hold it": _with("    target = Net()", "    target = other = Net()").replace(
        ON, "loss = (out - wanted) ** 2 + other(x).sum()\n"),
    "it may be the trained one": _with("    target.eval()\n", "    target = trained\n"),
    "a function is given it": _with(ON, "loss = (out - wanted) ** 2 + ask(target, x)\n").replace(
        "def run", "def ask(net, x):\n    return net(x).sum()\n\n\ndef run"),
    "it takes over what it loads": _with("load_state_dict(trained.state_dict())",
                                         "load_state_dict(trained.state_dict(), assign=True)"),
    "its parameter is used": _with(WRITE, "        loss = loss + (t * t).sum()\n" + WRITE),
    "its parameter is kept": _with(WRITE, "        kept.append(t)\n" + WRITE).replace(
        "    target.eval()\n",
        "    for t in target.parameters():\n        kept.append(t)\n",
    ).replace(ON, "loss = (out - wanted) ** 2 + (kept[0] ** 2).sum()\n"),
    "its parameters are listed": _with("    target.eval()\n", "    every = list(target.parameters())\n").replace(
        ON, "loss = (out - wanted) ** 2 + (every[0] ** 2).sum()\n"),
    "another zip keeps them": _with("def run", "def zip(a, b):\n    kept.extend(b)\n    return [(1, kept[0])]\n\n\n"
                                    "def run").replace("    target.eval()\n", LOOP + WRITE.replace(".data", "")
                                                       .replace("p +", "1 +").replace("t.copy_(", "print(")).replace(
        ON, "loss = (out - wanted) ** 2 + (kept[0] ** 2).sum()\n").replace("p.data", "p"),
    "it keeps a graph": _with("        nn.init.normal_", "        self.cost = (self.fc.weight ** 2).sum()\n"
                              "        nn.init.normal_").replace(ON, "loss = (out - wanted) ** 2 + target.cost\n"),
    "its class keeps it": _with("        nn.init.", "        kept.append(self)\n        nn.init.").replace(
        ON, "loss = (out - wanted) ** 2 + kept[1](x).sum()\n"),
    "a layer is handed to it": _with("def __init__(self, size=2):", "def __init__(self, fc):").replace(
        "self.fc = nn.Linear(size, 2)", "self.fc = fc").replace(
        "    trained = Net()\n", "    fc = nn.Linear(2, 2)\n    trained = Net(fc)\n").replace(
        'Net().to("cpu")', "Net(fc)"),
    "a weight is handed to it": _with("def __init__(self, size=2):", "def __init__(self, w):").replace(
        "self.fc = nn.Linear(size, 2)", "self.fc = nn.Linear(2, 2)\n        self.e = nn.Embedding(2, 2, _weight=w)"
    ).replace("    trained = Net()\n", "    w = nn.Parameter(torch.ones(2, 2))\n    trained = Net(w)\n").replace(
        'Net().to("cpu")', "Net(w)").replace(ON, "loss = (out - wanted) ** 2 + (w ** 2).sum()\n"),
    "a hook sees it": _with("def run", "def look(net, x, y):\n    kept.append(net)\n\n\n"
                            "nn.modules.module.register_module_forward_hook(look)\n\n\ndef run").replace(
        ON, "loss = (out - wanted) ** 2 + sum((each.weight ** 2).sum() for each in kept if hasattr(each, 'weight'))\n"),
    "a property gives a weight": _with("    def best", "    @property\n    def w(self):\n        return self.fc.weight"
                                       "\n\n    def best").replace(
        ON, "loss = (out - wanted) ** 2 + (target.w ** 2).sum()\n"),
    "its names are reached by text": _with(
        ON, "loss = (out - wanted) ** 2 + locals()['target'](x).sum()\n"),
    "it is applied to": _with("    target.eval()\n", "    target.apply(kept.append)\n").replace(
        ON, "loss = (out - wanted) ** 2 + kept[-1](x).sum()\n"),
    "its class runs it": _with("    def forward(self, x):\n", "    def forward(self, x):\n        kept.append(self)\n"
                               ).replace(ON, "loss = (out - wanted) ** 2 + kept[-1](x).sum()\n"),
    "the call has another meaning": _outside(
        "    def best", "    def __call__(self, x):\n        with torch.set_grad_enabled(True):\n"
                       "            return super().__call__(x)\n\n    def best"
    ),
    "a generator runs it later": _with(
        "        wanted = ", "        later = (target(each) for each in [x])\n        wanted = "
    ).replace(ON, "loss = (out - wanted) ** 2 + sum(later).sum()\n"),
    "a function that yields runs it later": _with(
        "    with torch.no_grad():\n        wanted = ",
        "    def ask():\n        yield target(x)\n\n"
        "    with torch.no_grad():\n        later = ask()\n        wanted = "
    ).replace(ON, "loss = (out - wanted) ** 2 + next(later).sum()\n"),
    "a coroutine runs it later": _with(
        "    with torch.no_grad():\n        wanted = ",
        "    async def ask():\n        kept.append(target(x))\n\n"
        "    with torch.no_grad():\n        later = ask()\n        wanted = "
    ).replace(ON, "asyncio.run(later)\n    loss = (out - wanted) ** 2 + kept[0].sum()\n").replace(
        "import copy", "import asyncio"),
    "a function that is handed out runs it": _with(
        "    with torch.no_grad():\n        wanted = ",
        "    def ask():\n        return target(x)\n\n    kept.append(ask)\n"
        "    with torch.no_grad():\n        wanted = ask().sum() + "
    ).replace(ON, "loss = (out - wanted) ** 2 + kept[0]().sum()\n"),
    "its class is given a method": _with(
        "def run", "Net.best = lambda self, x: self.fc.weight\n\n\ndef run"
    ).replace("        wanted =", "        w = target.best(x)\n        wanted =").replace(
        ON, "loss = (out - wanted) ** 2 + (w ** 2).sum()\n"),
    "an initialiser keeps its weight": _with(
        "class Net", "nn.init.normal_ = kept.append\n\n\nclass Net"
    ).replace(ON, "loss = (out - wanted) ** 2 + (kept[1] ** 2).sum()\n"),
    "its weights are tied to others": _with(
        "def __init__(self, size=2):", "def __init__(self, other=None):"
    ).replace("nn.Linear(size, 2)", "nn.Linear(2, 2)").replace(
        "        nn.init.normal_",
        "        if other is not None:\n            self.fc.weight = other\n        nn.init.normal_"
    ).replace('Net().to("cpu")', "Net(trained.fc.weight)"),
    "a network that is part of it gives a weight": _with(
        "class Net(", INNER.replace("return self.fc(x)", "return self.fc.weight") + "class Net("
    ).replace("        nn.init.", "        self.inner = Inner(2)\n        nn.init.", 1).replace(
        "return self(x).max(1)[0]", "return self.inner(x)").replace(
        "        wanted =", "        w = target.best(x)\n        wanted =").replace(
        ON, "loss = (out - wanted) ** 2 + (w ** 2).sum()\n"),
    "a network that is part of it is another's": _with("class Net(", INNER + "class Net(").replace(
        "size=2", "size").replace("nn.Linear(size, 2)", "nn.Linear(2, 2)").replace(
        "        nn.init.", "        self.inner = size\n        nn.init.", 1).replace(
        "    trained = Net()\n", "    inner = Inner(2)\n    trained = Net(inner)\n").replace(
        'Net().to("cpu")', "Net(inner)").replace(
        ON, "loss = (out - wanted) ** 2 + inner(inner(x)).sum()\n"),
    "it is given a parameter": _with("size=2", "size=2, w=1").replace(
        "        nn.init.", "        self.w = w\n        nn.init.", 1).replace(
        "    trained = Net()\n", "    w = nn.Parameter(torch.ones(2))\n    trained = Net(2, w)\n").replace(
        'Net().to("cpu")', "Net(w=w)").replace(ON, "loss = (out - wanted) ** 2 + (w ** 2).sum()\n"),
    "it is given a parameter in place of a number": _with("size=2", "size=2, w=1").replace(
        "        nn.init.", "        w = kept[0]\n        self.w = w\n        nn.init.", 1).replace(
        "    trained = Net()\n", "    kept.append(nn.Parameter(torch.ones(2)))\n    trained = Net(2, 2)\n").replace(
        'Net().to("cpu")', "Net(w=3)").replace(ON, "loss = (out - wanted) ** 2 + (kept[0] ** 2).sum()\n"),
    "it registers what it is given": _with("size=2", "size=2, w=None").replace(
        "        nn.init.", "        for one in 'w':\n            self.register_parameter(one, w)\n        nn.init.", 1
    ).replace("    trained = Net()\n", "    w = nn.Parameter(torch.ones(2))\n    trained = Net(2, w)\n").replace(
        'Net().to("cpu")', "Net(2, w)").replace(ON, "loss = (out - wanted) ** 2 + (w ** 2).sum()\n"),
    "it turns grad mode on by another name": _outside(
        "        return self.net(", "        with on():\n            return self.net("
    ).replace("from torch import nn", "from torch import enable_grad as on, nn"),
    "it has parameters of its own": _with(
        "    def best", "    def parameters(self):\n        return kept\n\n    def best").replace(
        "    trained = Net()\n", "    kept.append(nn.Parameter(torch.ones(2)))\n    trained = Net()\n").replace(
        ON, "loss = (out - wanted) ** 2 + (kept[0] ** 2).sum()\n"),
    "its module is asked for its names": _with(
        ON, "this = inspect.getmodule(run)\n    loss = (out - wanted) ** 2 + vars(this)['ask']()\n"
    ).replace("    out = trained", "    global ask\n    ask = lambda: target(x).sum()\n    out = trained").replace(
        "import copy", "import inspect"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def torch_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what the programs rebind or register in torch itself."""
    monkeypatch.setattr(torch.nn.init, "normal_", torch.nn.init.normal_)
    hooks = torch.nn.modules.module._global_forward_hooks
    known = set(hooks)
    yield
    for each in set(hooks) - known:
        del hooks[each]


@pytest.mark.parametrize("name", SAFE)
def test_a_network_that_no_graph_is_recorded_of_is_written_under_no_grad(name: str, tmp_path: Path) -> None:
    assert BLOCK in check_runs_alike(tmp_path, {"main.py": SAFE[name]})["main.py"]


@pytest.mark.parametrize("name", OPEN)
def test_a_network_of_which_a_graph_may_be_recorded_is_left_alone(name: str, tmp_path: Path) -> None:
    text = check_runs_alike(tmp_path, {"main.py": OPEN[name]}).get("main.py", OPEN[name])
    assert "t.data.copy_(" in text


def test_a_network_that_another_file_takes_is_left_alone(tmp_path: Path) -> None:
    module = (
        NET
        + "target = Net()\n\n\ndef step(rate, p):\n    for t in target.parameters():\n"
        + WRITE.replace("* p.data", "* p")
    )
    main = (
        "import torch\nfrom nets import step, target\n\nx = torch.ones(1, 2)\nloss = target(x).sum()\n"
        "step(0.5, torch.ones(2))\nloss.backward()\nprint(target.fc.weight.grad)\n"
    )
    alone = main.replace("step, target", "step").replace("target(x).sum()", "x.requires_grad_().sum()")
    alone = alone.replace("target.fc.weight", "x")
    assert "nets.py" not in check_runs_alike(tmp_path, {"nets.py": module, "main.py": main})
    changed = check_runs_alike(tmp_path, {"nets.py": module, "main.py": alone})
    assert "        with torch.no_grad():\n            t.copy_(" in changed["nets.py"]


@pytest.mark.parametrize("change", ["main.Net.forward = main.Net.best", "setattr(main.Net, 'forward', main.Net.best)"])
def test_a_network_whose_class_another_file_changes_is_left_alone(change: str, tmp_path: Path) -> None:
    files = {"main.py": NET + RUN + CALL, "other.py": f"import main\n\n{change}\n"}
    assert WRITE in check_runs_alike(tmp_path, files, "main.py")["main.py"]
