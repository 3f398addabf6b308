"""What a legacy constructor is given may be something else than it seems: small projects, run before and after."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.before_and_after import check_runs_alike

HEAD = """\
from typing import Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
import torch

x = torch.ones(2, 3)
a = np.zeros((2, 2), dtype=np.float32)


"""

ANNOTATED = {
    "an array for a list": ("def f(v: List[float]):\n    return torch.Tensor(v)", "f(a[0]).add_(1), a"),
    "by another name": ("def f(v: List[float]):\n    w = v\n    return torch.Tensor(w)", "f(a[0]).add_(1), a"),
    "a part": ("def f(v: List[float]):\n    return torch.Tensor(v[1:])", "f(a[0]).add_(1), a"),
    "rows": ("def f(v: List[List[float]]):\n    return [torch.Tensor(row) for row in v]", "f(a)[0].add_(1), a"),
    "one of several": ("def f(v: List[List[float]]):\n    return torch.Tensor(v[0])", "f(a).add_(1), a"),
    "a sum": ("def f(v: List[float]):\n    return torch.Tensor(v + v)", "f(a[0, 0]).shape, f([1]).shape"),
    "a tensor for a list": ("def f(v: List[float]):\n    return torch.FloatTensor(v)", "f(x) is x"),
    "a number for a list": ("def f(v: List[int]):\n    return torch.Tensor(v).shape", "f(3)"),
    "a number in an array": ("def f(v: List[int]):\n    return torch.LongTensor(np.array(v)).shape", "f(3)"),
    "a list for a number": ("def f(n: int):\n    return torch.Tensor(n).shape", "f([1.5, 2])"),
    "arithmetic": ("def f(n: int):\n    return torch.Tensor(n * 2).shape", "f([1, 2])"),
    "a field": (
        "class F:\n    def __init__(self, n: int):\n        self.n = n\n\n    def f(self):\n"
        "        return torch.Tensor(self.n).shape",
        "F([1.5, 2]).f()",
    ),
    "what a function gives": (
        "def g(v) -> List[int]:\n    return v\n\n\ndef f(v):\n    w: List[int] = g(v)\n    return torch.Tensor(w)",
        "f(3).shape",
    ),
    "a comment": ("def f(n):\n    # type: (int) -> torch.Tensor\n    return torch.Tensor(n)", "f([1.5, 2])"),
    "sizes to spread": ("def f(s: Tuple[int]):\n    return torch.Tensor(*s)", "f(([1.5, 2],))"),
    "an array's shape": ("def f(t: torch.Tensor):\n    s = t.shape\n    return torch.Tensor(s)", "f(a)"),
}
"""An annotation that a caller breaks."""

SIZES = {
    "a tuple": ("def f(s: Tuple[int, ...]):\n    return torch.FloatTensor(s)", "f(x.shape).shape"),
    "a plain tuple": ("def f(*, s: tuple = (2, 3)):\n    return torch.Tensor(s)", "f(s=x.shape).shape"),
    "a sequence": ("def f(s: Sequence[int]):\n    return torch.LongTensor(s)", "f(x.shape).shape"),
    "an iterable": ("def f(s: Iterable[int]):\n    return torch.LongTensor(s)", "f(x.shape).shape"),
    "a list or a tuple": ("def f(s: Union[list, tuple]):\n    return torch.Tensor(s)", "f(x.shape).shape"),
    "none or a tuple": (
        "def f(s: Optional[Tuple[int, ...]] = None):\n    return torch.Tensor(s or (1,))",
        "f(x.shape).shape, f().shape",
    ),
    "tested": ("def f(s):\n    assert isinstance(s, tuple)\n    return torch.Tensor(s)", "f(x.size()).shape"),
    "tested for both": (
        "def f(s):\n    if isinstance(s, (list, tuple)):\n        return torch.Tensor(s)",
        "f(x.size()).shape, f([2]).shape",
    ),
    "added to a tuple": ("def f(s):\n    u = (2,)\n    u += s.size()\n    return torch.Tensor(u)", "f(x).shape"),
    "a part of either": (
        "def f(s):\n    u = (2, 3) if s is None else torch.relu(s).shape\n    return torch.Tensor(u[:1])",
        "f(x).shape, f(None).shape",
    ),
}
"""A ``torch.Size`` is a tuple."""

TESTED = {
    "what is no list": (
        "def f(c):\n    v = (1, 2) if c else 3\n    if isinstance(v, list):\n        return None\n"
        "    return torch.Tensor(v)",
        "f(True)",
    ),
    "what can be gone through": (
        "def f(v):\n    if isinstance(v, Iterable):\n        return torch.Tensor(v)",
        "f(x.requires_grad_()).requires_grad",
    ),
    "an array added": ("def f(b):\n    v = [1.0, 2.0]\n    v += b\n    return torch.Tensor(v)", "f(a[0]).shape"),
}
"""Tests and sums that leave more open than they seem to."""

SCOPES = {
    "bound in a comprehension": (
        "def f():\n    v = [1, 2]\n    [v := i for i in range(1, 5)]\n    return torch.Tensor(v).shape",
        "f()",
    ),
    "bound two levels down": (
        "def f(r):\n    v = [1, 2]\n    {i: [(v := k) for k in i] for i in r}\n    return torch.Tensor(v).shape",
        "f([(5,)]), f([])",
    ),
    "bound in a test": (
        "def f(r):\n    v = [1, 2]\n    if any((v := i) for i in r):\n        pass\n    return torch.Tensor(v).shape",
        "f([5]), f([])",
    ),
    "a type bound in a comprehension": (
        "def f(r):\n    T = torch.FloatTensor\n    [T := k for k in r]\n    return T([1, 2]).dtype",
        "f([torch.DoubleTensor]), f([])",
    ),
    "a class": ("class C:\n    x = [4]\n    f = [torch.FloatTensor(x).shape for _ in (1,)]", "C.f"),
    "a class in a class": (
        "class C:\n    x = [4]\n\n    class D:\n        f = torch.FloatTensor(x).shape",
        "C.D.f",
    ),
}
"""Scopes of comprehensions and of classes."""

REPAIRED = {
    "shown by a test": ("def f(v: list):\n    assert isinstance(v, list)\n    return torch.Tensor(v)", "f([1, 2])"),
    "shown by its type": (
        "def f(v):\n    if type(v) is tuple:\n        return torch.Tensor(v)",
        "f((1, 2)), f(x.shape)",
    ),
    "a copy": ("def f(v: List[int]):\n    return torch.Tensor(list(v)), torch.Tensor(sorted(v))", "f([2, 1])"),
    "a tuple of a size": ("def f(s):\n    return torch.Tensor(tuple(s)), torch.Tensor([*s])", "f(x.shape)"),
    "its length": ("def f(v: List[int]):\n    return torch.Tensor(len(v)).shape", "f([2, 1])"),
    "several sizes": ("def f(n: int, m: int):\n    return torch.Tensor(n, m).shape", "f(2, 3)"),
    "a tensor's dimension": ("def f(t: torch.Tensor):\n    return torch.Tensor(t.shape[0], 2).shape", "f(x)"),
    "lists added": ("def f():\n    v = [1]\n    v += [2]\n    v += list(range(2))\n    return torch.Tensor(v)", "f()"),
    "a tuple that grows": (
        "def f():\n    s = ()\n    for d in (1, 2):\n        s += (d,)\n    return torch.Tensor(s)",
        "f()",
    ),
    "a name of a comprehension": (
        "def f():\n    v = [1, 2]\n    [v for v in (3, 4)]\n    return torch.Tensor(v)",
        "f()",
    ),
    "a name of a lambda": ("def f():\n    v = [1, 2]\n    (lambda: (v := 3))()\n    return torch.Tensor(v)", "f()"),
    "what a class goes through": (
        "class C:\n    x = [4]\n    f = [torch.FloatTensor(k).shape for k in [x]]",
        "C.f",
    ),
    "a name around a class": (
        "def f():\n    v = 4\n\n    class C:\n        v = [1, 2]\n        g = [torch.Tensor(v).shape for _ in (1,)]\n\n"
        "    return C.g",
        "f()",
    ),
}


def project(own: str, shown: str) -> dict[str, str]:
    """Return a program that another file imports, so that its own calls need not be all."""
    return {"main.py": f"{HEAD}{dedent(own)}\n\n\nprint({shown})\n", "user.py": "import main\n"}


@pytest.mark.parametrize("case", REPAIRED)
def test_what_is_shown_is_repaired(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, project(*REPAIRED[case])) != {}


@pytest.mark.parametrize("case", ANNOTATED)
def test_no_fix_takes_an_annotation_at_its_word(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, project(*ANNOTATED[case])) == {}


@pytest.mark.parametrize("case", SIZES)
def test_no_fix_takes_a_tuple_for_data_that_may_be_a_size(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, project(*SIZES[case])) == {}


@pytest.mark.parametrize("case", TESTED)
def test_no_fix_rests_on_a_test_that_leaves_more_open(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, project(*TESTED[case])) == {}


@pytest.mark.parametrize("case", SCOPES)
def test_no_fix_takes_a_name_for_another_scopes(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, project(*SCOPES[case])) == {}


CAST = {
    "rows": "torch.Tensor([[1, 2]]).expand(2, 2).long()",
    "a number": "torch.FloatTensor([3]).expand(4).int()",
    "in its turn": "torch.Tensor([1]).unsqueeze(0).expand(2, 3).to(torch.int64)",
}


@pytest.mark.parametrize("call", CAST.values(), ids=CAST)
def test_a_cast_copies_elements_that_share_memory(call: str, tmp_path: Path) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": f"import torch\n\nt = {call}\nt[0] = 5\nprint(t, t.stride())\n"})
    assert "dtype=torch.float32" in changed["main.py"]
