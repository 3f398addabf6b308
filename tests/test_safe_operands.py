"""What an operator, an index or a function of NumPy does with a `.data`: small programs before and after `--fix`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

pytest.importorskip("torch")
HEAD = "import numpy as np\nimport torch\n\nx = torch.ones(3, requires_grad=True)\nh = torch.sigmoid(x)\n"
END = "h.sum().backward()\nprint(x.grad)\n"
OWN = "class Own:\n    def __init__(self):\n        self.kept = []\n\n    def {}(self, other):\n"
OWN += "        self.kept.append(other)\n        return {}\n\n\nown = Own()\n"
WIPED = "for each in own.kept:\n    each.zero_()\n"
LISTED = "def collect(rows):\n    rows += h.data\n    return rows\n\n\nrows = collect([])\nrows[0].zero_()\n"

READ = {
    "added to a number": "total = 0\ntotal += h.data.sum()\nprint(total)\n",
    "added to what is added up in a loop": "t = 0\nfor _ in [1, 2]:\n    t += h.data.sum()\n    t = t + h.data[1]\n",
    "added to an array": "a = np.zeros(3)\na += h.data\na = a + h.data\nprint(a)\n",
    "added to an unknown": "def f(bias):\n    return (h.data + bias).sum().item()\n\n\nprint(f(2))\n",
    "compared": "print((h.data > 0.5).sum(), h.data[1] in [1, 2])\n",
    "compared with an unknown": "def f(label):\n    return (h.data == label).sum().item()\n\n\nprint(f(2))\n",
    "an index": "a = np.arange(3)\nb = torch.arange(3)\ni = torch.tensor([1])\nprint(a[i.data], b[i.data])\n",
    "an index of a store without grad": "b = torch.zeros(3)\ni = torch.tensor([1])\nb[i.data] = 2\nprint(b)\n",
    "given to NumPy": "print(np.median(h.data), np.asarray(h.data).sum())\n",
}
KEPT = {
    "by `+=` of its own": OWN.format("__iadd__", "self") + "own += h.data\n" + WIPED,
    "by the second `+=`": OWN.format("__iadd__", "self") + "own += 1\nown += h.data\nown.kept[1].zero_()\n",
    "by a list": LISTED,
    "by a list in a dict": "rows = {'h': []}\nrows['h'] += h.data\nrows['h'][0].zero_()\n",
    "by `+` of its own": OWN.format("__add__", "self") + "b = own + h.data\n" + WIPED,
    "by `+` on the other side": OWN.format("__radd__", "self") + "b = h.data + own\n" + WIPED,
    "by a comparison": OWN.format("__eq__", "False") + "b = own == h.data\n" + WIPED,
    "by `in`": OWN.format("__contains__", "False") + "b = h.data in own\n" + WIPED,
    "by an index of its own": OWN.format("__getitem__", "1") + "b = own[h.data]\n" + WIPED,
    "by a slice": OWN.format("__getitem__", "1") + "b = own[h[0].data :]\nown.kept[0].start.zero_()\n",
    "by a dict": "seen = {}\nseen[h.data] = 1\nfor each in seen:\n    each.zero_()\n",
    "by an unknown": OWN.format("__add__", "self")
    + "def f(a):\n    return a + h.data\n\n\nb = f(own)\n" + WIPED,
}  # fmt: skip
WRITTEN = {
    "shuffled": "np.random.seed(0)\nnp.random.shuffle(h.data)\n",
    "copied to": "np.copyto(h.data, 0)\n",
    "put": "np.put(h.data, [0], 0)\n",
    "a result behind the operand": "np.exp(np.ones(3), h.data)\n",
}
SAVED = {
    "a mask": "m = torch.tensor([True, False, True])\ny = x * 2\ny[m.data] = 0\nm.fill_(True)\ny.sum().backward()\n",
    "an index of live values": "i = torch.tensor([0])\ny = torch.zeros(3)\ny[i.data] = x[:1]\ni.fill_(2)\n"
    "(y * 2).sum().backward()\n",
}


@pytest.mark.parametrize("name", READ)
def test_what_is_only_read_is_repaired(name: str, tmp_path: Path) -> None:
    text = check_runs_alike(tmp_path, {"main.py": HEAD + READ[name] + END})["main.py"]
    assert ".data" not in text


@pytest.mark.parametrize("name", KEPT)
def test_what_another_object_may_keep_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + KEPT[name] + END})


@pytest.mark.parametrize("name", WRITTEN)
def test_what_numpy_writes_into_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + WRITTEN[name] + END})


@pytest.mark.parametrize("name", SAVED)
def test_an_index_that_a_graph_saves_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + SAVED[name] + "print(x.grad)\n"})


SCALED = """\
import torch


class Scaled:
    def __init__(self, scale: float = 1.0):
        self.scale = scale
        self.rates = [0.0]

    def forward(self, x, by: float = 1.0):
        y = torch.relu(x)
        return y, (y.data * {}).sum()


live = torch.tensor(1.0, requires_grad=True)
"""
LIVE = {
    "an attribute set from outside": ("self.scale", "own = Scaled()\nown.scale = live\ny, z = own.forward(x)\n"),
    "what the constructor is given": ("self.scale", "y, z = Scaled(live).forward(x)\n"),
    "a parameter, whatever its annotation": ("by", "y, z = Scaled().forward(x, live)\n"),
    "an element that is written": ("self.rates[0]", "own = Scaled()\nown.rates[0] = live\ny, z = own.forward(x)\n"),
}
USED = "x = torch.ones(3, requires_grad=True)\n{}with torch.no_grad():\n    y.add_(1)\nz.backward()\nprint(live.grad)\n"


@pytest.mark.parametrize("name", LIVE)
def test_a_factor_that_may_be_live_after_all_leaves_the_data(name: str, tmp_path: Path) -> None:
    factor, made = LIVE[name]
    assert not check_runs_alike(tmp_path, {"main.py": SCALED.format(factor) + USED.format(made)})


QUIET = {
    "a number of its own": "n = 2\nfor i in range(3):\n    z = (h.data * n).sum() * 2\n    print((h.data * i).sum())\n",
    "a question": "print(h.data.allclose(x * 2), h.data.equal(x))\n",
}


@pytest.mark.parametrize("name", QUIET)
def test_a_factor_that_cannot_be_live_is_no_doubt(name: str, tmp_path: Path) -> None:
    body = textwrap.indent(QUIET[name], "    ")
    text = check_runs_alike(tmp_path, {"main.py": f"{HEAD}def f():\n{body}\n\nf()\n{END}"})["main.py"]
    assert ".data" not in text
