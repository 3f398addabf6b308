"""Work grows in proportion to the code: counted in calls of functions, which are the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nightly import in_turn
from torchlint.config import Config
from torchlint.linter.engine import check_bytes

SHAPES: dict[str, Callable[[int], str]] = {
    "statements": lambda n: "def f(x):\n" + each(n, "    a{0} = x * {0}\n") + "    return x.numpy()\n",
    "bound again": lambda n: "def f(x):\n" + each(n, "    x = x * {0}\n") + "    return x.numpy()\n",
    "branches": lambda n: (
        "def f(x):\n" + each(n, "    if x.sum() > {0}:\n        x = x + {0}\n") + "    return x.numpy()\n"
    ),
    "methods": lambda n: (
        "class A:\n    def __init__(self):\n        self.a0 = torch.zeros(1)\n"
        + each(n, "    def m{0}(self, x):\n        self.a{1} = self.a{0} + x\n        return self.a{0}.numpy()\n")
    ),
    "calls in a chain": lambda n: (
        "class A:\n"
        + each(n, "    def m{0}(self, x):\n        return self.m{1}(x)\n")
        + f"    def m{n}(self, x):\n        return x.numpy()\n"
    ),
    "reads of data": lambda n: "def f(x):\n    x.backward()\n" + each(n, "    y{0} = x.data\n"),
    "data of data": lambda n: each(n, "x{1} = x{0}.data\n"),
    "arrays": lambda n: "def f(x):\n" + each(n, "    y{0} = torch.relu(x).numpy()\n"),
    "constructors": lambda n: "def f(x):\n" + each(n, "    y{0} = torch.Tensor([x])\n"),
    "given to torch": lambda n: "def f(x):\n" + each(n, "    torch.relu(x)\n    y{0} = x.data\n"),
    "sizes": lambda n: "def f(x):\n" + each(n, "    torch.ones(x, 2)\n    y{0} = torch.Tensor(x)\n"),
    "wrappers": lambda n: "from torch.autograd import Variable\ndef f(x):\n" + each(n, "    y{0} = Variable(x)\n"),
    "functions": lambda n: each(n, "def f{0}(x):\n    return torch.relu(x).numpy()\n"),
    "functions inside": lambda n: (
        "def f(x):\n" + each(n, "    def g{0}(y):\n        return y + x\n") + "    return g0(x).numpy()\n"
    ),
    "classes": lambda n: each(
        n, "class A{0}(torch.nn.Module):\n    def forward(self, x):\n        return self.w.data + x\n"
    ),
    "modules with layers": lambda n: (
        "from torch import nn\n"
        + each(
            n,
            "class A{0}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.fc = nn.Linear(3, 3)\n    def forward(self, x):\n"
            "        return self.fc(x) + torch.ones(3)\n",
        )
    ),
    "classes of classes": lambda n: (
        "class A0:\n    def m(self):\n        return torch.ones(3)\n"
        + each(n, "class A{1}(A{0}):\n    pass\n")
        + f"A{n}().m().numpy()\n"
    ),
    "globals bound again": lambda n: "v = torch.ones(3)\n" + each(n, "v = v + 1\ndef f{0}():\n    return v.numpy()\n"),
    "one truth value": lambda n: (
        "def f(x, on: bool = True):\n"
        + each(n, "    if on:\n        x = x.cpu()\n    if on:\n        y{0} = x.numpy()\n")
    ),
    "truth values": lambda n: (
        "def f(x):\n"
        + each(n, "    a{0} = x.dim() > {0}\n    if a{0}:\n        x = x.cpu()\n    if a{0}:\n        x.numpy()\n")
    ),
    "hooks": lambda n: (
        "class A:\n    @torch.no_grad()\n    def run(self, x):\n"
        + each(n, "        self.m{0}(x)\n")
        + "class B(A):\n"
        + each(n, "    def m{0}(self, x):\n        return torch.relu(x).cpu().numpy()\n")
    ),
    "names of another library": lambda n: (
        "def f(x):\n" + each(n, "    y{0} = tf.minimize(x)\n    z{0} = y{0}.numpy()\n")
    ),
    "imported again": lambda n: each(n, "import torch\ndef f{0}(x):\n    return torch.relu(x).numpy()\n"),
    "loops": lambda n: (
        "def f(x, z):\n" + each(n, "    for y{0} in z:\n        x = x + y{0}\n") + "    return x.numpy()\n"
    ),
    "tests": lambda n: "D = 'cuda'\n" + each(n, "def test_{0}(x):\n    assert torch.relu(x).numpy() is D\n"),
    "decorators": lambda n: each(n, "@x.data\n") + "def f():\n    return x.data.numpy()\n",
    "findings in a row": lambda n: "w = torch.ones(3, requires_grad=True)\n" + "; ".join(["w.numpy()"] * n) + "\n",
    "converted on the way": lambda n: (
        "def f():\n    w = torch.ones(3, requires_grad=True)\n"
        + each(n, "    w = w + {0}\n    w = w * 2\n    w = w - {0}\n    a{0} = w.numpy()\n")
    ),
    "asked before": lambda n: "def f(x):\n" + each(n, "    assert x is not None\n    y{0} = x.data\n"),
    "parts of a call": lambda n: "def f(x):\n    z = torch.cat([\n" + each(n, "        x.data,\n") + "    ])\n",
    "blocks": lambda n: "def f(x, d):\n" + each(n, "    with d as e{0}:\n        y{0} = torch.Tensor([1])\n"),
    "parameters": lambda n: (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + each(n, "        self.p{0} = torch.nn.Parameter(torch.Tensor(3))\n")
        + "    def forward(self, x):\n"
        + each(n, "        x = x + self.p{0}\n")
    ),
    "layers": lambda n: (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + each(n, "        self.l{0} = torch.nn.Linear(3, 3)\n        self.l{0}.weight.data.zero_()\n")
    ),
    "data put in place": lambda n: "def f(p, g):\n" + each(n, "    p{0}.data = g{0}.data\n    p{0}.data.add_(1)\n"),
    "moved and converted": lambda n: (
        "def f(x):\n    x = torch.relu(x.cuda())\n"
        + each(n, "    x{0} = x.sqrt()\n    x = x{0}.abs()\n    y{0} = x.detach().numpy()\n")
    ),
    "left before": lambda n: (
        "def f(x, k):\n    x = torch.relu(x.cuda())\n" + each(n, "    if k.a{0}:\n        return x.detach().numpy()\n")
    ),
    "weights kept in loops": lambda n: (
        "def f(net, it):\n"
        + each(n, "    for x in it:\n        net(x).sum().backward()\n        best{0} = net.state_dict()\n")
        + "    return best0\n"
    ),
    "dictionaries": lambda n: "T = {\n" + each(n, "    'k{0}': torch.zeros(1),\n") + "}\nprint(T['k0'].numpy())\n",
}


LOOKED_THROUGH = (
    "globals bound again",
    "one truth value",
    "truth values",
    "layers",
    "left before",
    "weights kept in loops",
)
"""At each place the others that touch the same object or name, or the tests that it stands behind, are looked through:
a square, with a small factor."""


def each(number: int, text: str) -> str:
    return "".join(text.format(at, at + 1) for at in range(number))


def calls(check: Callable[[], object]) -> int:
    """Count the functions that are called, those in C too."""
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check()
    finally:
        sys.setprofile(None)
    return counted


def work(shape: str, number: int) -> int:
    raw = ("import torch\n" + SHAPES[shape](number)).encode()
    path = "test_x.py" if shape == "tests" else "x.py"
    return calls(lambda: check_bytes(path, raw, Config()))


@pytest.mark.parametrize("shape", in_turn(SHAPES, 3, "shapes of growing code"))
def test_work_grows_with_the_code(shape: str) -> None:
    work(shape, 3)  # modules are imported and tables read
    once, fourfold = work(shape, 40), work(shape, 160)
    assert fourfold < (11 if shape in LOOKED_THROUGH else 5) * once


def test_work_grows_with_a_chain_of_data_of_which_all_names_are_looked_through() -> None:
    work("data of data", 3)
    once, fourfold = work("data of data", 160), work("data of data", 640)
    assert fourfold < 4.5 * once


def test_each_test_of_a_chain_is_judged_once() -> None:
    """What stands behind the last test is as deep as the chain, and has as many tests on its way: a square each."""

    def chain(number: int) -> int:
        tests = each(number, "    elif k == {1}:\n        y = x.data\n        z = y.numpy()\n")
        raw = f"import torch\ndef f(x, k):\n    if k == 0:\n        y = x\n{tests}    return y\n".encode()
        return calls(lambda: check_bytes("x.py", raw, Config()))

    chain(3)
    once, fourfold = chain(40), chain(160)
    assert fourfold < 9 * once


def test_work_grows_with_the_files_of_a_circle(tmp_path: Path) -> None:
    def circle(number: int) -> int:
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "pyproject.toml").touch()
        for at in range(number):
            after = (at + 1) % number
            text = f"import torch\nfrom m{after} import f{after}\ndef f{at}(x):\n    return f{after}(x).numpy()\n"
            (folder / f"m{at}.py").write_text(text)
        files = sorted(folder.glob("*.py"))
        return calls(lambda: [check_bytes(str(path), path.read_bytes(), Config()) for path in files])

    circle(3)
    once, fourfold = circle(15), circle(60)
    assert fourfold < 5 * once
