"""Where `None` gets to: by what is assigned, handed over, kept and given back, in one file and from file to file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.test_safe_tensors import CALLED, HEAD
from torchlint.inference.program.none_flow import NoneFlow
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of


def may_be_none(text: str) -> bool:
    """Whether the value of a text's last statement may be `None`."""
    index = index_of(decode("some.py", text.encode()))
    last = index.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return NoneFlow(index).leads_to_none([last.value])


WAYS = {
    "a layer without a bias": "fc = nn.Linear(2, 2, bias=False)\nfc.bias",
    "a layer without a bias by its place": "fc = nn.Linear(2, 2, False)\nfc.bias",
    "a layer whose bias is a choice": "fc = nn.Linear(2, 2, bias=b)\nfc.bias",
    "a layer by arguments": "fc = nn.Linear(*args)\nfc.bias",
    "a layer of which nothing is known": "def f(m):\n    return m.bias\n\nf(1)",
    "a normalisation without weights": "bn = nn.BatchNorm2d(3, affine=False)\nms = [bn]\nms[0].weight",
    "statistics that are not kept": "bn = nn.BatchNorm2d(3, track_running_stats=False)\nbn.running_var",
    "statistics of instances": "bn = nn.InstanceNorm2d(3)\nbn.running_mean",
    "a part by a name": "getattr(layer, name)",
    "zip_longest": "for x, y in itertools.zip_longest(xs, ys):\n    pass\ny",
    "a weak reference": "ref = weakref.ref(x)\nref()",
    "gradients of a hook": (
        "def f(m, given, taken):\n    return given[0]\n\nm.register_full_backward_hook(f)\nf(1, 2, 3)"
    ),
    "gradients that are missing": (
        "class F(Function):\n    def forward(ctx, x):\n        ctx.set_materialize_grads(False)\n\n"
        "    def backward(ctx, g):\n        ctx.g = g\n\nctx.g"
    ),
    "attention without weights": "out, weights = attend(x, x, x, need_weights=False)\nweights",
    "what was not saved": "b = None\nctx.save_for_backward(x, b)\na, c = ctx.saved_tensors\nc",
    "a name": "x = None\nx",
    "two names": "x = y = None\ny",
    "a conditional": "x = 1 if y else None\nx",
    "a function": "def f(t):\n    return t\n\nf(None)",
    "a keyword": "def f(a, t):\n    return t\n\nf(1, t=None)",
    "a default": "def f(t=None):\n    return t\n\nf()",
    "more arguments": "def f(*ts):\n    return ts[0]\n\nf(None)",
    "stars": "def f(t):\n    return t\n\nf(*[None])",
    "more keywords": "def f(**ts):\n    return ts['t']\n\nf(t=None)",
    "an end without a value": "def f(y):\n    if y:\n        return 1\n\nf(0)",
    "a bare return": "def f(y):\n    if y:\n        return\n    return 1\n\nf(0)",
    "a branch of a match": "def f(y):\n    match y:\n        case 1:\n            return 1\n\nf(0)",
    "a loop that ends": "def f(ys):\n    while True:\n        if ys:\n            break\n        return 1\n\nf(0)",
    "a generator": "def f(t):\n    yield t\n\nnext(f(None))",
    "a partial": "g = functools.partial(f, None)\ng()",
    "a lambda's default": "g = lambda t=None: t\ng()",
    "a lambda's body": "t = None\ng = lambda: t\ng()",
    "a lambda's argument": "g = lambda t: t\ng(None)",
    "map": "[each for each in map(f, [None])][0]",
    "a list": "ts = [None]\nts[0]",
    "a list in a list": "ts = [[None]]\nts[0][0]",
    "what is appended": "ts = []\nts.append(None)\nts[0]",
    "what is put in": "ts = {}\nts['t'] = None\nts['t']",
    "a default of a dictionary": "ts = {}\nts.setdefault('t', None)\nts['t']",
    "what is not there": "ts = {}\nts.get('t')",
    "what is added": "ts = [1]\nts += [None]\nts[1]",
    "repeated": "ts = [None] * 3\nts[0]",
    "a loop": "for t in (1, None):\n    pass\nt",
    "a comprehension": "ts = [t for t in (1, None)]\nts[0]",
    "values": "ts = {'t': None}\nlist(ts.values())[0]",
    "a deque": "ts = collections.deque([None])\nts.popleft()",
    "a star": "t, *rest = 1, None\nrest[0]",
    "a tuple": "a, b = 1, None\nb",
    "with": "with handed(None) as t:\n    pass\nt",
    "a walrus": "if (t := None) or y:\n    pass\nt",
    "a match": "match None:\n    case t:\n        pass\nt",
    "an attribute": "class A:\n    t = None\n\nA().t",
    "an attribute that is set": "a.t = None\na.t",
    "an attribute by its name": "setattr(a, 't', None)\na.t",
    "an attribute without a name": "setattr(a, word, None)\na.t",
    "a buffer": "a.register_buffer('t', None)\na.t",
    "a namespace's argument": "a = types.SimpleNamespace(t=None)\na.t",
    "vars": "vars(a).update(t=None)\na.t",
    "its dictionary": "a.__dict__['t'] = None\na.t",
    "getattr": "a.t = None\ngetattr(a, 't')",
    "getattr with a default": "getattr(a, 't', None)",
    "a constructor": "class A:\n    def __init__(self, t):\n        self.t = t\n\nA(None).t",
    "a base's": "class A:\n    def __init__(self, t):\n        self.t = t\n\nclass B(A):\n    pass\n\nB(None).t",
    "a record": "@dataclass\nclass A:\n    t: int\n\nA(None).t",
    "a named tuple's place": "class A(NamedTuple):\n    t: int\n\na = A(None)\na[0]",
    "an object that is called": "class A:\n    def __call__(self, t):\n        return t\n\na = A()\na(None)",
    "a class under another name": "class A:\n    def forward(self, t):\n        return t\n\nB = A\nb = B()\nb(None)",
    "a method": "class A:\n    def f(self, t):\n        return t\n\na.f(None)",
    "a static method": "class A:\n    @staticmethod\n    def f(t):\n        return t\n\nA.f(None)",
    "a closure": "def f():\n    t = None\n    def g():\n        return t\n    return g()\n\nf()",
    "a gradient": "w.grad",
    "a gradient by its name": "getattr(w, 'grad')",
    "a gradient that is asked for by name": "operator.attrgetter('grad')(w)",
    "an attribute that is asked for by name": "a.b.t = None\noperator.attrgetter('b.t')(a)",
    "a weight of a loss": "c = nn.CrossEntropyLoss()\nc.weight",
    "a weight of a loss that is handed on": "def f(c):\n    return c.weight\n\nf(nn.BCEWithLogitsLoss())",
    "a weight of classes": "def f(c):\n    return c.pos_weight\n\nf(1)",
    "a projection of an attention": "a = nn.MultiheadAttention(2, 1)\na.q_proj_weight",
    "projections in one": "a = nn.MultiheadAttention(2, 1, kdim=3, vdim=3)\na.in_proj_weight",
    "an array of objects": "import numpy as np\n\na = np.array([None, 1], dtype=object)\na[0]",
    "a default that is not given": "ts = {}\nts.setdefault('t')",
    "a list by another name": "ts = [1]\nus = ts\nus[0] = None\nts[0]",
    "a list of an object by another name": "us = a.ts\nus.append(None)\na.ts[0]",
    "an attribute of a dictionary": "class A(dict):\n    def __getattr__(self, k):\n        return self.get(k)\n\na.t",
    "an attribute that nobody set": "class A:\n    def __getattr__(self, word):\n        return None\n\nA().t",
    "a function by its name": "def f(t):\n    return t\n\ngetattr(lib, 'f')(None)",
    "an element of a packed sequence": "import torch\np = torch.nn.utils.rnn.pack_sequence([x])\np[2]",
    "a gradient that is left out": "import torch\ng = torch.autograd.grad(y, xs, allow_unused=True)\ng[0]",
}
NO_WAYS = {
    "a layer's weight": "fc = nn.Linear(2, 2)\nfc.weight",
    "another name rebound": "ts = [1]\nus = ts\nus = [None]\nts[0]",
    "an attribute that a part answers": (
        "class A:\n    def __getattr__(self, word):\n        return getattr(self.part, word) or self.x\n\nA().t"
    ),
    "an attribute that is set": "class A:\n    def __getattr__(self, word):\n        return None\n\na.t = 1\na.t",
    "projections in one that are there": "a = nn.MultiheadAttention(2, 1)\na.in_proj_weight",
    "an array of numbers": "import numpy as np\n\na = np.array([2, 1])\na[0]",
    "a layer's weight beside a loss": "c = nn.CrossEntropyLoss()\nfc = nn.Linear(2, 2)\nfc.weight",
    "a layer's bias": "import torch.nn as nn\n\nfc = nn.Linear(2, 2)\nfc.bias",
    "a layer's bias beside one that has none": "a = nn.Linear(2, 2)\nb = nn.Linear(2, 2, bias=False)\na.bias",
    "a bias of its own": "class A:\n    def f(self):\n        self.bias = b\n        return self.bias\n\nA().f()",
    "statistics of its own": (
        "class A:\n    def f(self):\n        self.register_buffer('running_mean', zeros(3))\n\n"
        "    def g(self):\n        return self.running_mean\n\nA().g()"
    ),
    "zip": "for x, y in zip(xs, ys):\n    pass\ny",
    "a part that is put together": "getattr(a, 'weight_%d' % i)",
    "a hook of a tensor": "def f(grad):\n    return grad\n\nt.register_hook(f)\nf(1)",
    "attention with its weights": "out, weights = attend(x, x, x, need_weights=True)\nweights",
    "what was saved": "ctx.save_for_backward(x, y)\na, b = ctx.saved_tensors\nb",
    "a number": "x = 1\nx",
    "another name": "x = None\ny = 1\ny",
    "another scope": "def f():\n    x = None\n\nx = 1\nx",
    "another function": "def f(t):\n    return t\n\ndef g(t):\n    return 1\n\ng(None)\nf(1)",
    "another parameter": "def f(a, b):\n    return b\n\nf(None, 1)",
    "what torch makes": "import torch\ntorch.zeros(3, out=None)",
    "a sum over no dimension": "x.sum(None)",
    "a device": "device = None\nx.to(device)",
    "a replacement": "x = None or 1\nx",
    "a test": "x = None\ny = x if x is not None else 1\ny",
    "a number of it": "len([None])",
    "a comparison": "x = None\nx is None",
    "its shape": "x.t = None\nx.shape",
    "an error at the end": "def f(y):\n    if y:\n        return 1\n    raise ValueError\n\nf(0)",
    "both branches": "def f(y):\n    if y:\n        return 1\n    else:\n        return 2\n\nf(0)",
    "a loop without an end": "def f(y):\n    while True:\n        return 1\n\nf(0)",
    "a match of all": (
        "def f(y):\n    match y:\n        case 1:\n            return 1\n        case _:\n            return 2\n\nf(0)"
    ),
    "a handler that raises": "def f(y):\n    try:\n        return 1\n    except E:\n        raise\n\nf(0)",
    "an abstract method": "class A:\n    def f(self):\n        pass\n\nA().f()",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_none_gets_there(text: str) -> None:
    assert may_be_none(text)


@pytest.mark.parametrize("text", NO_WAYS.values(), ids=NO_WAYS)
def test_none_does_not_get_there(text: str) -> None:
    assert not may_be_none(text)


def test_what_leads_back_to_itself_ends() -> None:
    text = (
        "def f(t, n):\n    ts = [t, *ts]\n    t = g(f(t, n), ts)\n    return t\n\ndef g(a, b):\n    return f(b, a)\n\n"
    )
    assert not may_be_none(text + "x = f(1, 2)\nx")
    assert may_be_none(text + "x = f(1, g(2, None))\nx")


def test_a_long_chain_is_read_once() -> None:
    def size(count: int) -> int:
        names = (f"x{at} = same(x{at - 1})" for at in range(1, count))
        graph = NoneFlow(index_of(decode("some.py", "\n".join(["x0 = None", *names]).encode()))).graph
        return sum(map(len, graph.edges.values()))

    assert size(400) < 2.1 * size(200)


def test_what_is_nested_too_deep_is_not_followed() -> None:
    assert may_be_none("(" * 25 + "None" + ",)[0]" * 25)
    assert not may_be_none("x = None\nx" + ".f()" * 400)


RUN = "def run(x):\n    return Variable(x)\n"
FILES = {
    "a call by its name": (RUN, "import lib\n\nshow(getattr(lib, 'run')(None))\n"),
    "another name": (RUN, "from lib import run as go\n\nshow(go({}.get('t')))\n"),
    "stars": (RUN, "from lib import run\n\nshow(run(*[None]))\n"),
    "a loop": (RUN, "from lib import run\n\nfor each in (None,):\n    show(run(each))\n"),
    "a function on the way": (RUN, "import lib\n\n\ndef outer(t):\n    return lib.run(t)\n\n\nshow(outer(None))\n"),
    "a result": (
        "def found(key):\n    if key:\n        return torch.ones(2)\n\n\n" + RUN,
        "import lib\n\nshow(lib.run(lib.found(0)))\n",
    ),
    "a layer": (
        "class Net(nn.Module):\n    def forward(self, x):\n        xs = [x]\n        return Variable(xs[0])\n",
        "import lib\n\nkind = lib.Net\nnet = kind()\nshow(net(None))\n",
    ),
    "a buffer": (
        "class Net(nn.Module):\n    def __init__(self, t):\n        super().__init__()\n"
        "        self.register_buffer('t', t)\n\n    def run(self):\n        return Variable(self.t)\n",
        "from lib import Net\n\nshow(Net(None).run())\n",
    ),
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_no_fix_takes_what_another_file_leaves_out(tmp_path: Path, files: tuple[str, str]) -> None:
    lib, main = files
    check_runs_alike(tmp_path, {"lib.py": HEAD + lib, "main.py": CALLED + main}, "lib.py")


def test_what_no_file_leaves_out_is_unwrapped(tmp_path: Path) -> None:
    main = f"{CALLED}from lib import run\n\nother = None\nshow(run(torch.ones(2)))\n"
    check_runs_alike(tmp_path, {"lib.py": HEAD + RUN, "main.py": main}, "lib.py")
    assert "Variable(" not in (tmp_path / "lib.py").read_text().partition("def run")[2]
