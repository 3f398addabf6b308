"""Which functions initialise a module that was just made: small projects that are run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

HEAD = "import torch\nfrom torch import nn\n\n"
START = HEAD + (
    "def start(net):\n    for m in net.modules():\n        if isinstance(m, nn.Linear):\n"
    "            m.weight.data.fill_(2)\n\n\n"
)
SEEN = "x = torch.ones(1, 2, requires_grad=True)\n"
LATER = SEEN + "net = {0}Net()\nloss = net(x).sum()\n{1}\nloss.backward()\nprint(x.grad, net.layer.weight.grad)\n"


def _net(first: str = "", given: str = "", made: str = "nn.Linear(2, 2)", last: str = "") -> str:
    return (
        f"class Net(nn.Module):\n    def __init__(self{given}):\n        super().__init__()\n"
        f"        self.layer = {made}\n{first}        start(self)\n{last}\n"
        "    def forward(self, x):\n        return self.layer(x)\n\n\n"
    )


SAFE = {
    "called with a layer that is made for it": {
        "main.py": HEAD + "def start(layer, value=1.0):\n    layer.weight.data.fill_(value)\n    return layer\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = start(nn.Linear(2, 2), 3.0)\n\n\nprint(Net().layer(torch.ones(1, 2)))\n"
    },
    "called with what a name was just bound to": {
        "main.py": HEAD + "def start(net):\n    net.weight.data.fill_(2)\n\n\n"
        "net = nn.Linear(2, 2)\nstart(net)\nprint(net(torch.ones(1, 2)))\n"
    },
}
_RUNS = "            kept.append({})\n            m.weight.data.zero_()\n"
_APPLIED = HEAD + "kept = []\n\n\ndef start(m):\n    if True:\n        if isinstance(m, nn.Linear):\n"
_BACK = "\n\nnet = nn.Linear(2, 2)\nnet.apply(start)\nkept[0].backward()\nprint(net.weight.grad)\n"
_SEEN = "torch.ones(1, 2, requires_grad=True)"
OPEN = {
    "it runs the module first": {"main.py": _APPLIED + _RUNS.format(f"m({_SEEN}).sum()") + _BACK},
    "it reckons with a parameter first": {"main.py": _APPLIED + _RUNS.format("(m.weight * m.weight).sum()") + _BACK},
    "it reckons with all parameters first": {
        "main.py": _APPLIED + _RUNS.format("sum((p * p).sum() for p in m.parameters())") + _BACK
    },
    "it hands the module on first": {
        "main.py": _APPLIED.replace("def start", f"def note(m):\n    return m({_SEEN}).sum()\n\n\ndef start")
        + _RUNS.format("note(m)")
        + _BACK
    },
    "it exchanges the parameter": {
        "main.py": HEAD + "shared = nn.Parameter(torch.ones(2, 2))\n\n\ndef start(m):\n    m.weight = shared\n"
        "    m.weight.data.zero_()\n\n\nloss = (shared * shared).sum()\nnet = nn.Linear(2, 2)\nnet.apply(start)\n"
        "loss.backward()\nprint(shared.grad)\n"
    },
    "a method that is applied runs the module": {
        "main.py": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.kept = []\n        self.layer = nn.Linear(2, 2)\n        self.apply(self._start)\n\n"
        "    def _start(self, m):\n        if isinstance(m, nn.Linear):\n"
        f"            self.kept.append(m({_SEEN}).sum())\n            m.weight.data.zero_()\n\n\n"
        "net = Net()\nnet.kept[0].backward()\nprint(net.layer.weight.grad)\n"
    },
    "the layer was given": {
        "main.py": START + _net(given=", layer", made="layer") + SEEN + "layer = nn.Linear(2, 2)\n"
        "loss = layer(x).sum()\nnet = Net(layer)\nloss.backward()\nprint(x.grad)\n"
    },
    "the layer is handed out by a function": {
        "main.py": HEAD + "def start(layer):\n    layer.weight.data.fill_(2)\n\n\nfirst = nn.Linear(2, 2)\n\n\n"
        "def shared():\n    return first\n\n\n" + SEEN + "loss = first(x).sum()\nstart(shared())\nloss.backward()\n"
        "print(x.grad)\n"
    },
    "the constructor keeps a graph": {
        "main.py": START + _net("        self.kept = (self.layer.weight * self.layer.weight).sum()\n")
        + "net = Net()\nnet.kept.backward()\nprint(net.layer.weight.grad)\n"
    },
    "the constructor hands a graph to a function": {
        "main.py": START + "kept = []\n\n\ndef note(loss):\n    kept.append(loss)\n\n\n"
        + _net("        note((self.layer.weight * self.layer.weight).sum())\n")
        + "net = Net()\nkept[0].backward()\nprint(net.layer.weight.grad)\n"
    },
    "the constructor goes backward": {
        "main.py": START
        + _net("        loss = (self.layer.weight * self.layer.weight).sum()\n", last="        loss.backward()\n")
        + "print(Net().layer.weight.grad)\n"
    },
    "the constructor writes and goes backward": {
        "main.py": HEAD + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(2))\n        loss = (self.w * self.w).sum()\n"
        "        self.w.data.zero_()\n        loss.backward()\n\n\nprint(Net().w.grad)\n"
    },
    "called again": {"main.py": START + _net() + LATER.format("", "start(net)")},
    "called by another name": {"main.py": START + _net() + "again = start\n" + LATER.format("", "again(net)")},
    "called by globals": {"main.py": START + _net() + LATER.format("", "globals()['start'](net)")},
    "called by the module's own attribute": {
        "main.py": START + _net() + "import sys\n"
        + LATER.format("", "getattr(sys.modules[__name__], 'sta' + 'rt')(net)")
    },
    "called in another file": {"main.py": HEAD + "import lib\n" + LATER.format("lib.", "lib.start(net)"),
                               "lib.py": START + _net()},
    "called in another file by a star": {"main.py": HEAD + "from lib import *\n" + LATER.format("", "start(net)"),
                                         "lib.py": START + _net()},
    "called in another file by two stars": {"main.py": HEAD + "from two import *\n" + LATER.format("", "start(net)"),
                                            "two.py": "from lib import *\n", "lib.py": START + _net()},
    "called in another file by a package": {"main.py": HEAD + "from lib import Net, start\n"
                                            + LATER.format("", "start(net)"), "lib/__init__.py": START + _net()},
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_a_write_into_a_module_that_was_just_made_is_repaired(name: str, tmp_path: Path) -> None:
    assert "main.py" in check_runs_alike(tmp_path, SAFE[name])


@pytest.mark.parametrize("name", OPEN)
def test_a_write_into_what_a_graph_may_hold_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, OPEN[name])
