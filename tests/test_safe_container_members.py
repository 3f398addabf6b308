"""What is inside a container may be changed through something else than its name: programs run before and after."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.before_and_after import check_runs_alike

CHANGED = {
    "a second name": "other = rows\nother.append(3)",
    "one of two names": "other = rows if rows else []\nother.append(3)",
    "a bound method": "put = rows.append\nput(3)",
    "a loop": "for each in (rows,):\n    each.append(3)",
    "a dictionary": "box = {'rows': rows}\nbox['rows'].append(3)",
    "a comprehension": "[rows.append(each) for each in (3,)]",
    "a function of the class": "list.append(rows, 3)",
    "a slice": "rows[1:] = [3]",
    "a function": "same(rows).append(3)",
}
OWN = {
    "a dictionary in one": 'CFG = {"model": {"dims": [1]}}\nm = CFG["model"]\nm["dims"] = 4\n'
    'print(torch.Tensor(CFG["model"]["dims"]).shape)\n',
    "an attribute": "class A:\n    def __init__(self):\n        self.dims = [[1, 2]]\n\n    def get(self):\n"
    "        return torch.Tensor(self.dims[0]).shape\n\n\na = A()\na.dims[0] = 3\nprint(a.get())\n",
    "a default": 'def _f(x, d={"k": [1]}):\n    r = torch.Tensor(d["k"]).shape\n    d["k"] = x\n    return r\n\n\n'
    "print(_f(3), _f(4))\n",
    "handed on": "def _f(v):\n    return torch.Tensor(v).shape\n\n\nrows = [[1, 2]]\nother = rows\nother[0] = 3\n"
    "print(_f(rows[0]))\n",
    "sizes": "sizes = [3, 4]\nother = sizes\nother[0] = [1, 2]\nprint(torch.Tensor(sizes[0]).shape)\n",
}
KEPT = {
    "the container itself": "rows = [1, 2]\nother = rows\nother.append(3)\nprint(torch.Tensor(rows))\n",
    "only read": "def run():\n    rows = [[1, 2], [5, 6]]\n    rows.append([7])\n    print(len(rows), *rows)\n"
    "    return torch.Tensor(rows[-1])\n\n\nprint(run())\n",
    "a loop over it": "def run():\n    rows = [[1, 2], [5, 6]]\n    return [torch.Tensor(row) for row in rows]\n\n\n"
    "print(run())\n",
    "a shape": "def run(batch):\n    return torch.FloatTensor(batch.shape[0], 1).shape\n\n\n"
    "print(run(torch.ones(2, 3)))\n",
    "a dictionary": "def run():\n    d = {'k': [1, 2]}\n    return torch.Tensor(d['k'])\n\n\nprint(run())\n",
}
HEAD = "import torch\n\n\n"


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
@pytest.mark.parametrize("is_local", [False, True])
def test_an_element_is_what_the_name_alone_puts_there(change: str, is_local: bool, tmp_path: Path) -> None:
    body = f"rows = [[1, 2], [5, 6]]\n{change}\n"
    shown = "torch.Tensor(rows[-1]).shape"
    local = f"def run():\n{indent(body, '    ')}    return {shown}\n\n\nprint(run())\n"
    program = f"def same(x):\n    return x\n\n\n{local if is_local else f'{body}print({shown})'}\n"
    check_runs_alike(tmp_path, {"main.py": HEAD + program})


@pytest.mark.parametrize("program", OWN.values(), ids=OWN.keys())
def test_what_is_reached_from_elsewhere_is_not_proven(program: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + program})


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT.keys())
def test_what_nothing_else_reaches_stays_proven(program: str, tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + program})
