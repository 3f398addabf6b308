"""What a constructor is given is told by what it is made of: small programs before and after `--fix`.

A sequence is data and a number is a size, so a kind that is only mostly so must not be taken for proven.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

pytest.importorskip("torch")
HEAD = "import numpy as np\nimport torch\n\n"
UPDATED = {
    "by what it is handed": "def made(**given):\n    d = dict(dims=[2, 3])\n    d.update(given)\n"
    "    return torch.Tensor(d['dims']).shape\n\n\nprint(made(), made(dims=4))\n",
    "by a keyword": "def made(n):\n    d = dict(dims=[2, 3])\n    if n:\n        d.update(dims=4)\n"
    "    return torch.Tensor(d['dims']).shape\n\n\nprint(made(0), made(1))\n",
    "by pairs": "d = dict(dims=[2, 3])\nd.update([('dims', 4)])\nprint(torch.Tensor(d['dims']).shape)\n",
    "by `zip`": "d = dict(dims=[2, 3])\nd.update(zip(['dims'], [4]))\nprint(torch.Tensor(d['dims']).shape)\n",
    "a size": "def made(**given):\n    d = {'n': 3}\n    d.update(given)\n    return torch.Tensor(d['n']).shape\n\n\n"
    "print(made(), made(n=[1, 2]))\n",
}  # fmt: skip
GIVEN = {
    "the default of `next`": "rows = [[1, 2]]\nprint(torch.Tensor(next((r for r in rows if r[0] > 9), 3)).shape)\n",
    "the default of `max`": "def made(rows):\n    return torch.Tensor(max((r for r in rows if r), default=3)).shape\n"
    "\n\nprint(made([]), made([[1, 2]]))\n",
    "a sum of sizes": "xs = [torch.ones(2), torch.ones(3)]\n"
    "print(torch.Tensor(sum((x.shape for x in xs), ())).shape)\n",
    "`divmod`": "print(torch.Tensor(divmod(7, 2)).shape)\n",
}
OF_NUMPY = {
    "`tolist` of a number": "for n in np.array([3, 1]):\n    print(torch.LongTensor(n.tolist()).shape)\n",
    "`tolist` of a maximum": "print(torch.LongTensor(np.array([3, 1]).max().tolist()).shape)\n",
    "a product of two rows": "a = np.array([1, 2, 1])\nprint(torch.LongTensor(a @ a).shape)\n",
}
VIEWS = {
    "a legacy constructor": "v = torch.FloatTensor(h)\n",
    "`new`": "v = h.new(h)\n",
}
INTERRUPTED = {
    "a handler": "def made(n):\n    best = [0.0]\n    try:\n        for i in range(n):\n            best = i\n"
    "            if i == 2:\n                raise KeyboardInterrupt\n            best = [float(i)]\n"
    "    except KeyboardInterrupt:\n        pass\n    return torch.Tensor(best).shape\n\n\nprint(made(1), made(5))\n",
    "`suppress`": "import contextlib\n\n\ndef made():\n    v = 3\n    with contextlib.suppress(ValueError):\n"
    "        int('a')\n        v = [1, 2]\n    return torch.Tensor(v).shape\n\n\nprint(made())\n",
    "`finally`": "def made(d):\n    v = [1]\n    try:\n        v = 2\n        v = [d['k']]\n    finally:\n"
    "        print(torch.LongTensor(v).shape)\n\n\nmade({'k': 1})\n"
    "try:\n    made({})\nexcept KeyError:\n    pass\n",
    "an own context": "class Quiet:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *error):\n"
    "        return True\n\n\ndef made():\n    v = 3\n    with Quiet():\n        int('a')\n        v = [1, 2]\n"
    "    return torch.Tensor(v).shape\n\n\nprint(made())\n",
}  # fmt: skip
MADE = "    return torch.Tensor(v).shape\n\n\n"
WALRUS = {
    "`and`": "def made(xs):\n    v = [1]\n    if xs and (v := len(xs)):\n        pass\n",
    "a conditional": "def made(xs):\n    v = [1]\n    n = (v := len(xs)) if xs else 0\n",
}


@pytest.mark.parametrize("name", UPDATED)
def test_a_value_that_update_may_replace_is_no_proof(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + UPDATED[name]})


@pytest.mark.parametrize("name", GIVEN)
def test_what_a_function_gives_at_times_is_no_proof(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + GIVEN[name]})


@pytest.mark.parametrize("name", OF_NUMPY)
def test_a_number_of_numpy_is_no_sequence(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + OF_NUMPY[name]})


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_through_which_a_live_value_comes_in_keeps_the_detach(name: str, tmp_path: Path) -> None:
    written = VIEWS[name].replace("\n", "\n    ")
    text = "from torch.autograd import Variable\n\nw = torch.ones(2, requires_grad=True)\n\n\n"
    text += "def f():\n    h = torch.zeros(2, 2)\n"
    text += f"    {written}v[0] = w\n    return (Variable(h) * 2).requires_grad\n\n\nprint(f())\n"
    assert "h.detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + text})["main.py"]


@pytest.mark.parametrize("name", INTERRUPTED)
def test_a_block_that_may_end_early_has_bound_what_it_had_come_to(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + INTERRUPTED[name]})


@pytest.mark.parametrize("name", WALRUS)
def test_what_an_expression_binds_in_passing_is_bound(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + WALRUS[name] + MADE + "print(made([]), made([1, 2]))\n"})
