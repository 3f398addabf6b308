"""What becomes of a value: where its memory is shared, and whether it is only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.evaluation.oracles import Oracles
from torchlint.facts.flow import NO, PERHAPS, YES
from torchlint.flow.answers import FlowAnswer, IncompleteTableError, by_operation
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_queries import ForwardQueries
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import meeting
from torchlint.semantic.graph import (
    CALL,
    OPS,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.semantic.program import Program

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
        evaluator = getattr(Oracles(self.program), oracle)
        self.flow = ForwardQueries(evaluator)
        self.roots = MemoryRoots(CallKnowledge(evaluator))

    def function(self, name: str) -> FunctionGraph:
        [found] = [each for each in self.file.functions if name in (each.name, each.qualified)]
        return lower(found)

    def may_share(self, one: Node, two: Node) -> FlowAnswer:
        """Whether two values may lie in the same memory."""
        return meeting(self.roots.roots(one), self.roots.roots(two))

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
    found = module.may_share(module.node(one), module.node(two))
    assert (found.answer != NO) is answer, (found, module.roots.roots(module.node(two)))


def test_a_certain_view_is_a_yes_and_a_possible_one_is_not(tmp_path: Path) -> None:
    module = Text(tmp_path, "def f(a: torch.Tensor):\n    b = a.data\n    c = a.contiguous()\n")
    assert module.may_share(module.node("f:a"), module.node("f:b")).answer == YES
    assert module.may_share(module.node("f:a"), module.node("f:c")).answer == PERHAPS


def test_memory_in_another_file_is_followed(tmp_path: Path) -> None:
    module = Text(tmp_path, "from h import g\ndef f(a):\n    b = g(a)\n", h="def g(t):\n    return t.t()\n")
    assert module.may_share(module.node("f:a"), module.node("f:b")).answer == YES


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


# ---------------------------------------------------------------------- tables
def test_a_table_that_leaves_out_an_operation_is_an_error() -> None:
    with pytest.raises(IncompleteTableError, match="opaque"):
        by_operation("rows", {tuple(each for each in OPS if each != "opaque"): len})
    with pytest.raises(IncompleteTableError, match="twice"):
        by_operation("rows", {OPS: len, (CALL,): len})
