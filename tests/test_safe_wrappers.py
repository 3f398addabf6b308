"""Projects with `Variable(...)` run before and after `--fix`: dropped arguments, other names of a tensor, `None`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

HEAD = "import torch\nfrom torch.autograd import Variable\n\n"

# ---------------------------------------------------------------------- arguments that are dropped
TRAIN = (
    "\n\ndef train(x, options):\n    w = torch.ones(2, requires_grad=True)\n"
    "    loss = (w * Variable(x, volatile={})).sum()\n    loss.backward()\n    return w.grad\n"
    "\n\nOPTIONS = {{'test': False}}\nprint(train(torch.ones(2), OPTIONS), OPTIONS)\n"
)
CUT = "\n\ndef cut(x, options):\n    return Variable(x, requires_grad=not {}).detach()\n"
CUT += "\n\nOPTIONS = {{'test': False}}\nprint(cut(torch.ones(2), OPTIONS), OPTIONS)\n"


@pytest.mark.parametrize("code", [TRAIN, CUT], ids=["volatile", "requires_grad"])
def test_an_argument_that_only_asks_is_dropped(tmp_path: Path, code: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + code.format("options['test']")})
    assert "Variable(" not in changed["main.py"]


@pytest.mark.parametrize("code", [TRAIN, CUT], ids=["volatile", "requires_grad"])
@pytest.mark.parametrize("flag", ["options.pop('test')", "(options.clear() or False)", "bool(options.pop('test'))"])
def test_an_argument_that_does_something_stays(tmp_path: Path, code: str, flag: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + code.format(flag)}) == {}


# ---------------------------------------------------------------------- statements that are removed
REWRAPPED = "\n\ndef f():\n{}    x = Variable(x)\n    x.requires_grad_()\n    return {}\n\n\nprint(f())\n"


def test_a_statement_that_rewraps_what_was_only_read_goes(tmp_path: Path) -> None:
    made = "    x = torch.zeros(2)\n    print(x.sum(), x.shape)\n    y = x + 1\n"
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + REWRAPPED.format(made, "y.requires_grad")})
    assert "x = x" not in changed["main.py"]
    assert "Variable" not in changed["main.py"]


HELD = {
    "another name": ("    x = torch.zeros(2)\n    y = x\n", "y.requires_grad"),
    "another name in the same line": ("    x = torch.zeros(2)\n    y = x; ", "y.requires_grad"),
    "a pair": ("    x = torch.zeros(2)\n    y, n = x, 1\n", "y.requires_grad"),
    "a view": ("    x = torch.zeros(2)\n    y = x.view(-1)\n", "(y.requires_grad, y._base is x)"),
    "all names": ("    x = torch.zeros(2)\n    names = locals()\n", "names['x'].requires_grad"),
}


@pytest.mark.parametrize(("made", "told"), HELD.values(), ids=HELD)
def test_a_tensor_that_has_another_name_is_not_mixed_up_with_it(tmp_path: Path, made: str, told: str) -> None:
    code = REWRAPPED.format(made, told).replace(";     x", "; x")
    assert "x = x.detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + code})["main.py"]


def test_a_tensor_of_an_earlier_round_is_another_object(tmp_path: Path) -> None:
    code = (
        "\n\ndef f():\n    kept = []\n    for i in range(3):\n        if not i:\n            x = torch.zeros(2)\n"
        "        x = Variable(x)\n        kept.append(x)\n    return len({id(each) for each in kept})\n\n\nprint(f())\n"
    )
    assert "x = x.detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + code})["main.py"]
