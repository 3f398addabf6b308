"""What becomes of a value: shared memory, keeping, writes, learning, and the paths that rules specify."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.evaluation.oracles import Oracles
from torchlint.facts.flow_specifications import (
    EXCLUDED,
    RECEIVES,
    REQUIRED,
    STORED,
    FlowSpecification,
    NodePattern,
)
from torchlint.flow.answers import NO, PERHAPS, YES, IncompleteTableError, by_operation
from torchlint.flow.flow_paths import FlowPath
from torchlint.flow.forward_queries import ForwardQueries
from torchlint.models.operation_sets import FACTORIES, METHODS, NO_TENSOR, SHARES_MEMORY
from torchlint.semantic.function_effects import GROWN, INVOKED, PASSED, SET, WRITTEN, effects_of
from torchlint.semantic.graph import (
    CALL,
    ELEMENT,
    GROW,
    INDEX,
    INPLACE,
    OPERATION,
    OPS,
    RECEIVER,
    SETTER,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.semantic.program import Program
from torchlint.values.abstract import BFLOAT16, MODULE, MODULE_OUT, OF_MODEL, OPTION, SURE, TENSOR, Abstract

HEAD = """import copy
import math
import torch
import numpy as np
import torch.nn as nn
import torch.nn.functional as F
"""


class Text:
    """A file of a project, and the forward queries over it."""

    def __init__(self, folder: Path, text: str, oracle: str = "strict", **others: str) -> None:
        for name, content in others.items():
            (folder / f"{name}.py").write_text(HEAD + content)
        self.program = Program(str(folder))
        self.file = self.program.add(str(folder / "m.py"), (HEAD + text).encode())
        lower(self.file.body)
        self.flow = ForwardQueries(getattr(Oracles(self.program), oracle))

    def function(self, name: str) -> FunctionGraph:
        [found] = [each for each in self.file.functions if name in (each.name, each.qualified)]
        return lower(found)

    def node(self, name: str) -> Node:
        """Return what ``function:variable`` is bound to last, or ``function:variable:n`` at the n-th time."""
        function, word, *number = name.split(":")
        owner = self.function(function) if function else self.file.body
        return owner.definitions[word][int(number[0]) if number else -1]


# ---------------------------------------------------------------------- memory
METHODS_OF_C = "class C:\n    def __init__(self, t):\n        self.t = t\n"


@pytest.mark.parametrize(
    ("text", "one", "two", "answer"),
    [
        ("def f(a):\n    b = a.view(-1)\n", "f:a", "f:b", True),
        ("def f(a):\n    b = a.clone()\n", "f:a", "f:b", False),
        ("def f(a: torch.Tensor):\n    b = a + 1\n", "f:a", "f:b", False),
        ("def f(a: torch.Tensor):\n    b = a.detach().cpu().numpy()\n", "f:a", "f:b", True),
        ("def f(a: torch.Tensor):\n    b = a[2:]\n    c = b.t()\n", "f:a", "f:c", True),
        ("def f(a: torch.Tensor, i: torch.Tensor):\n    b = a[i]\n", "f:a", "f:b", False),
        ("def g(t):\n    return t.unsqueeze(0)\ndef f(a):\n    b = g(a)\n", "f:a", "f:b", True),
        ("def g(t):\n    return t.unsqueeze(0).clone()\ndef f(a):\n    b = g(a)\n", "f:a", "f:b", False),
        ("def f(n):\n    a = np.zeros(3)\n    b = torch.from_numpy(a)\n", "f:a", "f:b", True),
        ("def f(n):\n    a = np.zeros(3)\n    c = torch.tensor(a)\n", "f:a", "f:c", False),
        ("def f(a, b):\n    s = [a, b]\n    c = s[0]\n", "f:a", "f:c", True),
        ("def f(a, b):\n    s = [a, b]\n    c = s[0]\n", "f:b", "f:c", False),
        (METHODS_OF_C + "    def f(self):\n        a = self.t\n        b = self.t.view(1)\n", "f:a", "f:b", True),
        (
            "def f(a, flag):\n    if flag:\n        b = a.data\n    else:\n        b = torch.zeros(3)\n    c = b\n",
            "f:a",
            "f:c",
            True,
        ),
        (
            "def f(d):\n    d = {'x': torch.zeros(1), 'y': torch.ones(1)}\n    a = d['x']\n    b = d['y']\n",
            "f:a",
            "f:b",
            False,
        ),
        (
            "def f(xs):\n    out = []\n    for x in xs:\n"
            "        out.append(x.detach())\n    a = out[0]\n    b = xs[0]\n",
            "f:a",
            "f:b",
            True,
        ),
        # beyond those
        ("def f(a, b):\n    for i, (x, y) in enumerate(zip(a, b)):\n        c = x\n", "f:a", "f:c", True),
        ("def f(a, b):\n    for i, (x, y) in enumerate(zip(a, b)):\n        c = x\n", "f:b", "f:c", False),
        ("def f(d):\n    for k, v in d.items():\n        c = v.data\n    e = d['x']\n", "f:e", "f:c", True),
        ("def f(a):\n    s = {'k': (a, 1)}\n    t = copy.copy(s)\n    c = t['k'][0]\n", "f:a", "f:c", True),
        ("def f(a):\n    s = [a]\n    c = copy.deepcopy(s)[0]\n", "f:a", "f:c", False),
        (METHODS_OF_C + "def f(a):\n    c = C(a)\n    b = c.t\n", "f:a", "f:b", True),
        (METHODS_OF_C + "def f(a, x):\n    c = C(a)\n    b = c.t\n", "f:x", "f:b", False),
        (
            "class C:\n    def __init__(self):\n        self.a = torch.zeros(1)\n        self.b = self.a.view(1)\n"
            "        self.c = torch.zeros(1)\n    def f(self):\n"
            "        a = self.a\n        b = self.b\n        c = self.c\n",
            "f:a",
            "f:b",
            True,
        ),
        (
            "class C:\n    def __init__(self):\n        self.a = torch.zeros(1)\n        self.c = torch.zeros(1)\n"
            "    def f(self):\n        a = self.a\n        c = self.c\n",
            "f:a",
            "f:c",
            False,
        ),
        (
            "class C:\n    @property\n    def w(self):\n        return self.t.data\n    def f(self):\n"
            "        a = self.t\n        b = self.w\n",
            "f:a",
            "f:b",
            True,
        ),
        ("import other\ndef f(a):\n    b = torch.zeros(1)\n    c = other.make()\n", "f:a", "f:c", True),
        ("def f(a):\n    def inner():\n        return a.t()\n    b = inner()\n", "f:a", "f:b", True),
        ("def f(a):\n    out = [x.data for x in a]\n    b = out[0]\n    c = a[1]\n", "f:b", "f:c", True),
        ("buffer = torch.zeros(3)\ndef f():\n    a = buffer\n    b = buffer[0]\n", "f:a", "f:b", True),
        ("def f(a):\n    a += 1\n    b = a\n", "f:a:0", "f:b", True),
        ("def f(a, n):\n    return f(a.view(-1), n - 1) if n else a\ndef g(x):\n    y = f(x, 3)\n", "g:x", "g:y", True),
        ("def f(a):\n    b = nn.init.zeros_(a)\n", "f:a", "f:b", True),
        ("def f(a):\n    b = F.relu(a)\n    c = F.relu(a, inplace=True)\n", "f:a", "f:b", False),
        ("def f(a):\n    b = F.relu(a)\n    c = F.relu(a, inplace=True)\n", "f:a", "f:c", True),
        ("def f(a):\n    d = dict(x=a)\n    b = d['x']\n", "f:a", "f:b", True),
        ("def f(a):\n    b = list(reversed([1, a]))[0]\n", "f:a", "f:b", True),
        ("def f(a):\n    s = [1, a]\n    s.pop(0)\n    b = s[0]\n", "f:a", "f:b", True),
        ("def f(a):\n    s = [1]\n    s[:] = [a]\n    b = s[0]\n", "f:a", "f:b", True),
        ("def f(a):\n    s = []\n    def g():\n        s.append(a)\n    g()\n    b = s[0]\n", "f:a", "f:b", True),
        ("def f(a):\n    s = []\n    list(map(s.append, [a]))\n    b = s[0]\n", "f:a", "f:b", True),
        ("def g(x):\n    return lambda: x\ndef f(a):\n    b = g(a)()\n", "f:a", "f:b", True),
        (
            METHODS_OF_C + "class D(C):\n    def __init__(self, t):\n"
            "        super().__init__(t)\ndef f(a):\n    b = D(a).t\n",
            "f:a",
            "f:b",
            True,
        ),
        (
            METHODS_OF_C + "class D(C):\n    def __getitem__(self, i):\n"
            "        return self.t\ndef f(a):\n    b = D(a)[0]\n",
            "f:a",
            "f:b",
            True,
        ),
        ("def f(a):\n    while a.sum() > 0:\n        a = a[1:]\n    b = a\n", "f:a:0", "f:b", True),
    ],
)
def test_values_share_memory(tmp_path: Path, text: str, one: str, two: str, *, answer: bool) -> None:
    module = Text(tmp_path, text)
    found = module.flow.may_share(module.node(one), module.node(two))
    assert (found.answer != NO) is answer, (found, module.flow.roots(module.node(two)))


def test_a_certain_view_is_a_yes_and_a_possible_one_is_not(tmp_path: Path) -> None:
    module = Text(tmp_path, "def f(a: torch.Tensor):\n    b = a.data\n    c = a.contiguous()\n")
    assert module.flow.may_share(module.node("f:a"), module.node("f:b")).answer == YES
    assert module.flow.may_share(module.node("f:a"), module.node("f:c")).answer == PERHAPS


def test_memory_in_another_file_is_followed(tmp_path: Path) -> None:
    module = Text(tmp_path, "from h import g\ndef f(a):\n    b = g(a)\n", h="def g(t):\n    return t.t()\n")
    assert module.flow.may_share(module.node("f:a"), module.node("f:b")).answer == YES


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("def f(a):\n    b = torch.zeros(3).view(-1)\n", YES),
        ("def g():\n    return np.zeros(3)\ndef f(a):\n    b = torch.from_numpy(g())\n", YES),
        ("def f(a):\n    b = a[0]\n", NO),
        ("import other\ndef f(a):\n    b = other.make()\n", PERHAPS),
        ("def f(a, c):\n    b = a if c else torch.zeros(1)\n", PERHAPS),
    ],
)
def test_memory_is_fresh(tmp_path: Path, text: str, answer: str) -> None:
    module = Text(tmp_path, text)
    assert module.flow.is_fresh(module.node("f:b")).answer == answer


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("def f():\n    a = torch.zeros(3)\n    return a.view(1, 3)\n", "returned"),
        ("def f():\n    a = torch.zeros(3)\n    return a.sum()\n", ""),
        ("class C:\n    def f(self):\n        a = torch.zeros(3)\n        self.kept = a\n", "stored"),
        ("class C:\n    def f(self):\n        a = torch.zeros(3)\n        self.kept = a.clone()\n", ""),
        ("import other\ndef f():\n    a = torch.zeros(3)\n    other.keep(a)\n", "passed"),
        ("def g(t):\n    return t.mean()\ndef f():\n    a = torch.zeros(3)\n    g(a)\n", ""),
        ("def g(t, store):\n    store.append(t)\ndef f(s):\n    a = torch.zeros(3)\n    g(a, s)\n", "stored"),
        ("def f():\n    a = torch.zeros(3)\n    out = []\n    out.append(a)\n    return out\n", "returned"),
        (
            "def f():\n    a = torch.zeros(3)\n    def inner():\n        return a\n    return inner\n",
            "captured returned",
        ),
        ("def f():\n    global kept\n    a = torch.zeros(3)\n    kept = a\n", "global"),
        ("def f():\n    a = torch.zeros(3)\n    yield a[0]\n", "yielded"),
        ("def f():\n    a = torch.zeros(3)\n    print(a)\n    b = torch.relu(a)\n    return b\n", ""),
        # beyond those
        ("def g(t, store):\n    store.append(t)\ndef f():\n    a = torch.zeros(3)\n    s = []\n    g(a, s)\n", ""),
        (
            "def g(t, store):\n    store.append(t)\ndef f():\n"
            "    a = torch.zeros(3)\n    s = []\n    g(a, s)\n    return s\n",
            "returned",
        ),
        ("def g(t):\n    return [t]\ndef f():\n    a = torch.zeros(3)\n    return g(a)\n", "returned"),
        ("def g(t):\n    return [t]\ndef f():\n    a = torch.zeros(3)\n    return len(g(a))\n", ""),
        (METHODS_OF_C + "def f():\n    a = torch.zeros(3)\n    c = C(a)\n    return c\n", "returned"),
        (METHODS_OF_C + "def f():\n    a = torch.zeros(3)\n    c = C(a)\n    return c.t.sum()\n", ""),
        ("def f(d):\n    a = torch.zeros(3)\n    d['x'] = a\n", "stored"),
        ("def f(d: torch.Tensor):\n    a = torch.zeros(3)\n    d[0] = a\n", ""),
        ("def f(xs):\n    a = torch.zeros(3)\n    return torch.stack([a, a])\n", ""),
        ("def f(n):\n    a = torch.zeros(3)\n    return f(a) if n is None else a\n", "returned"),
    ],
)
def test_values_escape(tmp_path: Path, text: str, ways: str) -> None:
    module = Text(tmp_path, text)
    node = module.node("f:a:0")
    assert sorted(module.flow.ways_out(node)) == ways.split()
    answer = module.flow.escapes(node).answer
    assert answer == (NO if not ways else PERHAPS if ways == "passed" else answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("def f(x: torch.Tensor):\n    a = x.data\n    print(a.sum())\n", YES),
        ("def f(x: torch.Tensor):\n    a = x.data\n    b = a.view(-1)\n    b.zero_()\n", NO),
        ("def f(x: torch.Tensor):\n    a = x.data\n    x.zero_()\n", YES),
        ("def f(x: torch.Tensor):\n    a = x.data\n    nn.init.zeros_(a)\n", NO),
        ("def g(t):\n    t += 1\ndef f(x: torch.Tensor):\n    a = x.data\n    g(a)\n", NO),
        ("def f(x: torch.Tensor):\n    a = x.data\n    return a\n", PERHAPS),
        ("import other\ndef f(x: torch.Tensor):\n    a = x.data\n    other.g(a)\n", PERHAPS),
    ],
)
def test_values_are_only_read(tmp_path: Path, text: str, answer: str) -> None:
    module = Text(tmp_path, text)
    assert module.flow.is_only_read(module.node("f:a:0")).answer == answer


# ---------------------------------------------------------------------- writing
@pytest.mark.parametrize(
    ("text", "name", "answer"),
    [
        ("def f():\n    a = torch.zeros(3)\n    b = a.numpy()\n    b += 1\n", "f:a", YES),
        ("def f():\n    a = torch.zeros(3)\n    a.add_(1)\n    b = a.clone()\n    b.mul_(2)\n", "f:b:0", YES),
        ("def f():\n    a = torch.zeros(3)\n    a2 = a.view(3)\n    c = torch.ones(3)\n    c[0] = 1\n", "f:a", NO),
        ("def f(n):\n    a = torch.zeros(3)\n    a[0] = 1\n    b = a.sum()\n    c = a.view(-1)\n", "f:c", NO),
        (
            "def f(n):\n    a = torch.zeros(3)\n    for i in range(n):\n        a[i] = 1\n        c = a.view(-1)\n",
            "f:c",
            YES,
        ),
        ("def g(t):\n    t.zero_()\ndef f(a):\n    b = a.data\n    g(a)\n", "f:b", YES),
        ("def g(t):\n    return t.sum()\ndef f(a):\n    b = a.data\n    g(a)\n", "f:b", NO),
        ("import other\ndef f(a):\n    b = a.data\n    other.use(a)\n", "f:b", PERHAPS),
        # beyond those
        (
            "def f(n):\n    for i in range(n):\n        a = torch.zeros(3)\n        a[i] = 1\n        c = a.view(-1)\n",
            "f:c",
            NO,
        ),
        ("def f(a):\n    b = a.data\n    a.add_(1)\n", "f:b", YES),
        ("def f(a, c):\n    b = a.data\n    c.add_(1)\n", "f:b", NO),
        ("def f(a, xs):\n    b = xs[0].data\n    xs[1].zero_()\n", "f:b", NO),
        ("def f(a, xs):\n    b = xs[0].data\n    for x in xs:\n        x.zero_()\n", "f:b", PERHAPS),
        ("def f(a, c):\n    b = a.data\n    torch.add(c, 1, out=a)\n", "f:b", YES),
        ("def f(a):\n    b = a.data\n    nn.init.normal_(a)\n", "f:b", YES),
        (
            "class C:\n    def fill(self):\n        self.t.zero_()\n"
            "    def f(self):\n        b = self.t.data\n        self.fill()\n",
            "f:b",
            YES,
        ),
        (
            "class C:\n    def fill(self):\n        self.u.zero_()\n"
            "    def f(self):\n        b = self.t.data\n        self.fill()\n",
            "f:b",
            NO,
        ),
        (
            "def g(t, n):\n    if n:\n        g(t, n - 1)\n    t.zero_()\ndef f(a):\n    b = a.data\n    g(a, 3)\n",
            "f:b",
            YES,
        ),
        (
            "def f(net: nn.Module):\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
            "    b = net.weight.data\n    opt.step()\n",
            "f:b",
            YES,
        ),
        (
            "import functools\ndef z(t):\n    t.zero_()\ndef f(a):\n    b = a.data\n    functools.partial(z, a)()\n",
            "f:b",
            PERHAPS,
        ),
        ("def z(*ts):\n    for t in ts:\n        t.zero_()\ndef f(a):\n    b = a.data\n    z(*[a])\n", "f:b", PERHAPS),
        ("def f(a):\n    b = a.data\n    n = 0\n    n += 1\n", "f:b", NO),
        ("def f(a):\n    act = nn.ReLU(inplace=True)\n    b = a.data\n    act(a)\n", "f:b", YES),
        ("def f(a):\n    act = nn.ReLU()\n    b = a.data\n    act(a)\n", "f:b", NO),
        ("def f(a):\n    b = a.data\n    def inner():\n        a.zero_()\n    inner()\n", "f:b", YES),
    ],
)
def test_memory_is_written_after(tmp_path: Path, text: str, name: str, answer: str) -> None:
    module = Text(tmp_path, text)
    found = module.flow.written_after(module.node(name))
    assert found.answer == answer, found


# ---------------------------------------------------------------------- learning
NET = "def f(net: nn.Module, x):\n    y = net(x)\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (NET + "    loss = y.sum()\n    loss.backward()\n", YES),
        (NET + "    loss = y.detach().sum()\n    loss.backward()\n", NO),
        (NET + "    print(y.argmax())\n", NO),
        (NET + "    return y * 2\n", PERHAPS),
        (NET + "    with torch.no_grad():\n        z = torch.exp(y)\n    z.sum().backward()\n", NO),
        ("def f(w: torch.Tensor):\n    y = w * 2\n    g, = torch.autograd.grad(y.sum(), w)\n", YES),
        # beyond those
        ("def step(loss):\n    loss.backward()\n" + NET + "    step(y.mean())\n", YES),
        (NET + "    losses = []\n    losses.append(y.mean())\n    sum(losses).backward()\n", YES),
        (NET + "    losses = {'a': y.mean().item()}\n    return losses\n", NO),
        ("import other\n" + NET + "    other.train(y)\n", PERHAPS),
        (NET + "    accelerator.backward(y.mean())\n", YES),
    ],
)
def test_values_are_learned_from(tmp_path: Path, text: str, answer: str) -> None:
    module = Text(tmp_path, text)
    found = module.flow.learned_from(module.node("f:y:0"))
    assert found.answer == answer, found


# ---------------------------------------------------------------------- effects
def test_effects_are_read_from_the_graph(tmp_path: Path) -> None:
    module = Text(
        tmp_path,
        "def f(net, out, x, flag):\n"
        "    net.fc.bias = x\n"
        "    if flag:\n        net.cuda()\n"
        "    out['k'].append(x)\n"
        "    for p in net.parameters():\n        p.requires_grad = False\n"
        "    x += 1\n"
        "    g(net.head, key=x)\n",
    )
    effects = effects_of(module.function("f"))
    found = {(word, each.sort, each.path) for word, changes in effects.parameters.items() for each in changes}
    assert ("net", SET, (".fc", ".bias")) in found
    assert ("net", INVOKED, ()) in found
    assert ("out", GROWN, ("=k",)) in found
    assert ("net", SET, ("parameters()", "*", ".requires_grad")) in found
    assert ("x", WRITTEN, ()) in found
    passed = {(word, e.path, e.position) for word, es in effects.parameters.items() for e in es if e.sort == PASSED}
    assert {("net", (".head",), 0), ("x", (), "key"), ("net", (), RECEIVER)} <= passed
    [moved] = [each for each in effects.parameters["net"] if each.sort == INVOKED and each.node.data == "cuda"]
    assert [answer for _, answer in moved.guards] == [True]
    assert effects.process == {"grad", "device", "dtype"}, "nothing is known of g"
    module = Text(tmp_path, "def f(x):\n    torch.set_grad_enabled(False)\n    return x\n")
    assert effects_of(module.function("f")).process == {"grad"}


def test_an_innocent_function_has_no_effects(tmp_path: Path) -> None:
    module = Text(tmp_path, "def f(x):\n    y = x.clone()\n    y += 1\n    return y\n")
    effects = effects_of(module.function("f"))
    changed = [each for each in effects.parameters["x"] if each.sort != PASSED and "clone()" not in each.path]
    assert not changed
    assert effects.process == frozenset()


# ---------------------------------------------------------------------- tables
def test_a_table_that_leaves_out_an_operation_is_an_error() -> None:
    with pytest.raises(IncompleteTableError, match="opaque"):
        by_operation("rows", {tuple(each for each in OPS if each != "opaque"): len})
    with pytest.raises(IncompleteTableError, match="twice"):
        by_operation("rows", {OPS: len, (CALL,): len})


# ---------------------------------------------------------------------- what rules specify
ANYTHING = frozenset(OPS)


def is_on_host(value: Abstract) -> bool:
    return not value.may_be_on_accelerator


def may_be_elsewhere(value: Abstract) -> bool:
    return value.may(TENSOR) and value.may_be_on_accelerator


def has_graph(value: Abstract) -> bool:
    return value.may(TENSOR) and value.may_require_grad and value.grad & (SURE | MODULE_OUT | OPTION | OF_MODEL) != 0


MAY_LEARN = frozenset({"float", "half", "double", "bfloat16", "to", "cuda", "cpu", "type"})
WHOLE_WRITES = frozenset("zero_ fill_ copy_ normal_ uniform_ random_ bernoulli_ set_ resize_ exponential_".split())
READS = METHODS - set(NO_TENSOR) - SHARES_MEMORY - {each for each in METHODS if each.endswith("_")}

LIVE_STATE_DICT_KEPT = FlowSpecification(
    sources=(NodePattern(methods=frozenset({"state_dict"}), owner=lambda value: value.may(MODULE)),),
    sinks=(
        NodePattern(methods=frozenset({"load_state_dict"}), at=frozenset({0})),
        NodePattern(functions=("torch.save",), at=frozenset({0})),
    ),
    is_held=True,
    writes=REQUIRED,
    through_objects=True,
    through_callers=True,
)
PARAMETER_LOST_BY_MOVE = FlowSpecification(
    sources=(NodePattern(functions=("torch.nn.Parameter", "torch.nn.parameter.Parameter")),),
    changes=(NodePattern(methods=MAY_LEARN, at=RECEIVES),),
    stops=(NodePattern(functions=("torch.nn.Parameter*",)),),
    ways_out=frozenset({STORED}),
    is_computed=True,
    through_callers=True,
)
LOSS_REVIVED = FlowSpecification(
    sources=(NodePattern(ops=frozenset({CALL, OPERATION}), value=has_graph),),
    changes=(
        NodePattern(functions=("torch.tensor", "torch.autograd.Variable"), given=frozenset({"requires_grad"})),
        NodePattern(methods=frozenset({"requires_grad_"}), at=RECEIVES),
        NodePattern(ops=frozenset({SETTER}), words=frozenset({"requires_grad"}), at=frozenset({0})),
    ),
    sinks=(NodePattern(methods=frozenset({"backward"}), at=RECEIVES),),
    stops=(NodePattern(methods=frozenset({"detach"}), at=RECEIVES),),
    is_computed=True,
    through_objects=True,
)
SYNCHRONISATION_PER_ELEMENT = FlowSpecification(
    sources=(NodePattern(ops=ANYTHING, value=may_be_elsewhere),),
    changes=(NodePattern(ops=frozenset({ELEMENT})), NodePattern(ops=frozenset({INDEX}), in_loop=True)),
    sinks=(
        NodePattern(methods=frozenset({"item"}), at=RECEIVES, value=may_be_elsewhere),
        NodePattern(functions=("builtins.int", "builtins.float", "builtins.bool"), value=may_be_elsewhere),
    ),
)
HOST_TENSOR_MEETS_ACCELERATOR = FlowSpecification(
    sources=(NodePattern(functions=tuple(FACTORIES), value=is_on_host),),
    stops=(NodePattern(methods=frozenset({"to", "cuda", "type_as"}), at=RECEIVES),),
    sinks=(
        NodePattern(ops=frozenset({OPERATION}), value=is_on_host, beside=may_be_elsewhere),
        NodePattern(functions=("torch.*",), value=is_on_host, beside=may_be_elsewhere),
        NodePattern(methods=METHODS - SHARES_MEMORY, value=is_on_host, beside=may_be_elsewhere),
    ),
    is_computed=True,
)
NUMPY_ON_UNSUPPORTED_DTYPE = FlowSpecification(
    sources=(
        NodePattern(methods=frozenset({"to_sparse", "conj"})),
        NodePattern(functions=("torch.sparse_*",)),
        NodePattern(ops=ANYTHING, value=lambda v: v.must(TENSOR) and v.dtype == BFLOAT16),
    ),
    stops=(NodePattern(methods=frozenset({"float", "double", "to_dense", "resolve_conj"}), at=RECEIVES),),
    sinks=(NodePattern(methods=frozenset({"numpy"}), at=RECEIVES),),
    is_computed=True,
    through_objects=True,
)
SCALAR_FROM_GRAD_TENSOR = FlowSpecification(
    sources=(NodePattern(ops=ANYTHING, value=has_graph),),
    sinks=(NodePattern(functions=("builtins.float", "math.*", "torch.tensor")),),
    through_objects=True,
)
UNINITIALISED_MEMORY_READ = FlowSpecification(
    sources=(NodePattern(functions=("torch.empty", "torch.empty_like"), without=frozenset({"out"})),),
    stops=(
        NodePattern(ops=frozenset({INPLACE}), words=WHOLE_WRITES, at=frozenset({0})),
        NodePattern(methods=WHOLE_WRITES, at=RECEIVES),
        NodePattern(functions=("torch.nn.init.*",)),
        NodePattern(ops=frozenset({GROW}), at=frozenset({0})),
    ),
    sinks=(
        NodePattern(ops=frozenset({OPERATION})),
        NodePattern(methods=READS, at=RECEIVES),
        NodePattern(functions=("torch.*",)),
    ),
    writes=EXCLUDED,
)


@pytest.mark.parametrize(
    ("specification", "text", "answers"),
    [
        pytest.param(specification, text, answers, id=f"{name}-{number}")
        for name, specification, cases in [
            (
                "TNS501",
                LIVE_STATE_DICT_KEPT,
                [
                    (
                        "def f(net: nn.Module, xs):\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
                        "    best = dict(net.state_dict())\n    for x in xs:\n"
                        "        net(x).sum().backward()\n        opt.step()\n"
                        "    net.load_state_dict(best)\n",
                        [PERHAPS],
                    ),
                    (
                        "def f(net: nn.Module, xs):\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
                        "    best = {k: v.clone() for k, v in net.state_dict().items()}\n    opt.step()\n"
                        "    net.load_state_dict(best)\n",
                        [],
                    ),
                    ("def f(net: nn.Module, xs):\n    best = net.state_dict()\n    torch.save(best, 'x')\n", []),
                    (
                        "class T:\n    def __init__(self):\n        self.net = nn.Linear(1, 1)\n"
                        "    def f(self):\n        self.best = self.net.state_dict()\n"
                        "    def g(self):\n        self.net.load_state_dict(self.best)\n",
                        [PERHAPS],
                    ),
                    (
                        "def f(net: nn.Module, xs):\n    opt = torch.optim.SGD(net.parameters(), 0.1)\n"
                        "    best = copy.deepcopy(net.state_dict())\n    opt.step()\n    net.load_state_dict(best)\n",
                        [],
                    ),
                ],
            ),
            (
                "TNS502",
                PARAMETER_LOST_BY_MOVE,
                [
                    ("class C:\n    def f(self, t):\n        self.w = nn.Parameter(t).cuda()\n", [YES]),
                    (
                        "class C:\n    def f(self, t):\n        w = nn.Parameter(t)\n        self.w = w.to('cuda')\n",
                        [YES],
                    ),
                    ("class C:\n    def f(self, t):\n        self.w = nn.Parameter(t.cuda())\n", []),
                    ("class C:\n    def f(self, t):\n        w = nn.Parameter(t).cuda()\n        return w\n", []),
                    (
                        "def move(w):\n    return w.half()\nclass C:\n"
                        "    def f(self, t):\n        self.w = move(nn.Parameter(t))\n",
                        [YES],
                    ),
                ],
            ),
            (
                "TNS503",
                LOSS_REVIVED,
                [
                    (
                        "def f(net: nn.Module, x):\n    loss = net(x).mean()\n"
                        "    loss = torch.tensor(loss, requires_grad=True)\n    loss.backward()\n",
                        [YES],
                    ),
                    ("def f(net: nn.Module, x):\n    loss = net(x).mean()\n    loss.backward()\n", []),
                    (
                        "def f(net: nn.Module, x):\n    loss = net(x).mean()\n"
                        "    loss.requires_grad = True\n    loss.backward()\n",
                        [YES],
                    ),
                ],
            ),
            (
                "TNS504",
                SYNCHRONISATION_PER_ELEMENT,
                [
                    ("def f(t: torch.Tensor):\n    t = t.cuda()\n    return [x.item() for x in t]\n", [YES]),
                    ("def f(t: torch.Tensor):\n    t = t.cuda().cpu()\n    return [x.item() for x in t]\n", []),
                    ("def f(t: torch.Tensor):\n    t = t.cuda()\n    return t.sum().item()\n", []),
                ],
            ),
            (
                "TNS505",
                HOST_TENSOR_MEETS_ACCELERATOR,
                [
                    ("def f(t: torch.Tensor):\n    t = t.cuda()\n    return torch.arange(3) + t\n", [YES]),
                    (
                        "def f(t: torch.Tensor):\n    t = t.cuda()\n    return torch.cat([t]) * torch.ones(3).cuda()\n",
                        [],
                    ),
                    ("def f(t: torch.Tensor):\n    m = torch.ones(3)\n    n = m * 2\n    return n * t.cuda()\n", [YES]),
                ],
            ),
            (
                "TNS106",
                NUMPY_ON_UNSUPPORTED_DTYPE,
                [
                    ("def f(t: torch.Tensor):\n    return t.bfloat16().cpu().numpy()\n", [YES]),
                    ("def f(t: torch.Tensor):\n    return t.bfloat16().float().numpy()\n", []),
                ],
            ),
            (
                "TNS109",
                SCALAR_FROM_GRAD_TENSOR,
                [
                    ("def f():\n    w = torch.zeros(1, requires_grad=True)\n    return math.exp(w)\n", [YES]),
                    ("def f():\n    w = torch.zeros(1, requires_grad=True)\n    return torch.tensor([w])\n", [YES]),
                    ("def f():\n    w = torch.zeros(1, requires_grad=True)\n    return math.exp(w.item())\n", []),
                ],
            ),
            (
                "TNS309",
                UNINITIALISED_MEMORY_READ,
                [
                    ("def f(n):\n    a = torch.empty(n)\n    return a.sum()\n", [YES]),
                    ("def f(n):\n    a = torch.empty(n)\n    a.zero_()\n    return a.sum()\n", []),
                    ("def f(n):\n    a = torch.empty(n)\n    a.view(-1).zero_()\n    return a.sum()\n", []),
                    (
                        "def f(n):\n    a = torch.empty(n)\n    for i in range(n):\n"
                        "        a[i] = i\n    return a.sum()\n",
                        [],
                    ),
                    (
                        "def f(n):\n    a = torch.empty(n)\n    print(a.shape)\n"
                        "    nn.init.zeros_(a)\n    return a + 1\n",
                        [],
                    ),
                ],
            ),
        ]
        for number, (text, answers) in enumerate(cases)
    ],
)
def test_a_rule_is_a_specification(
    tmp_path: Path, specification: FlowSpecification, text: str, answers: list[str]
) -> None:
    module = Text(tmp_path, text)
    functions = [each for each in module.file.functions if each.name == "f"]
    found: dict[Node, FlowPath] = {}
    for function in functions:
        for path in module.flow.paths(specification, function):
            found.setdefault(path.sink, path)
    assert [each.answer.answer for each in found.values()] == answers
