"""Programs run before and after `--fix`: methods of torch rebound, which the new code calls and the old did not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.before_and_after import check_runs_alike, fixed, written

HEAD = "import torch\n\nx = torch.ones(2)\nw = torch.ones(2, requires_grad=True)\n"
PATCHED = """\
old = torch.Tensor.{word}


def logged(self, *more, **named):
    print("logged")
    return old(self, *more, **named)


try:
    {patch}
    print({use})
finally:
    torch.Tensor.{word} = old
"""
USES = {
    "clone": "torch.tensor(x)",
    "detach": "torch.autograd.Variable(w * 2).requires_grad",
    "new_zeros": "x.new(2).zero_()",
    "to": "x.type(torch.LongTensor)",
}
WAYS = {
    "an attribute": "torch.Tensor.clone = logged",
    "an attribute under a name": "kind = torch.Tensor; kind.clone = logged",
    "a setter": "setattr(torch.Tensor, 'clone', logged)",
    "the class of a tensor": "type(x).clone = logged",
    "the class of a tensor as an attribute": "x.__class__.clone = logged",
    "a name that is not written": "[setattr(torch.Tensor, each, logged) for each in ['clone']]",
    "a loop over classes": "\n    for kind in (torch.Tensor, torch.nn.Module): kind.clone = logged",
}


def _program(word: str, patch: str) -> str:
    return HEAD + PATCHED.format(word=word, patch=patch, use=USES[word])


@pytest.mark.parametrize("word", USES)
def test_what_the_new_code_calls_is_bound_anew(tmp_path: Path, word: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": _program(word, f"torch.Tensor.{word} = logged")}) == {}


@pytest.mark.parametrize("way", WAYS)
def test_there_are_several_ways_to_bind_it(tmp_path: Path, way: str) -> None:
    assert not fixed(written(tmp_path, {"main.py": f"{HEAD}logged = print\n{WAYS[way]}\nprint(torch.tensor(x))\n"}))


REACHED = (
    "nets.torch.tensor = logged",
    "setattr(nets.torch, 'tensor', logged)",
    "setattr(sys.modules['torch'], 'tensor', logged)",
    "mock.patch('nets.torch.tensor', logged).start()",
    "mock.patch.object(nets.torch, 'tensor', logged).start()",
    "mock.patch.multiple('nets.torch', tensor=logged).start()",
    "monkeypatch.setattr('nets.torch.tensor', logged)",
    "kind = nets.torch; kind.tensor = logged",
)
"""Ways to torch by another module, as tests take them."""


@pytest.mark.parametrize("way", REACHED)
def test_torch_is_reached_by_a_module_that_imports_it(tmp_path: Path, way: str) -> None:
    nets = "import torch\n\n\ndef made():\n    return torch.Tensor([1])\n"
    test = f"import sys\nfrom unittest import mock\n\nimport nets\n\n\ndef change(logged, monkeypatch):\n    {way}\n"
    assert not fixed(written(tmp_path, {"nets.py": nets, "change.py": test}))


@pytest.mark.parametrize("way", ["nets.tensor = logged", "mock.patch('nets.pytorch.tensor', logged)"])
def test_another_module_is_bound_anew(tmp_path: Path, way: str) -> None:
    nets = "import torch\n\n\ndef made():\n    return torch.Tensor([1])\n"
    test = f"from unittest import mock\n\nimport nets\n\n\ndef change(logged):\n    {way}\n"
    assert fixed(written(tmp_path, {"nets.py": nets, "change.py": test}))


def test_another_file_binds_it(tmp_path: Path) -> None:
    other = (
        "from torch import Tensor\n\nold = Tensor.clone\n\n\ndef logged(self):\n    print(1)\n    return old(self)\n"
    )
    binding = f"{other}\n\ndef start():\n    Tensor.clone = logged\n\n\ndef stop():\n    Tensor.clone = old\n"
    main = f"import other\n{HEAD}\nother.start()\nprint(torch.tensor(x))\nother.stop()\n"
    assert check_runs_alike(tmp_path, {"main.py": main, "other.py": binding}) == {}


OTHERS = {
    "another method": "torch.Tensor.fill_ = torch.Tensor.fill_",
    "another class": "class Net:\n    pass\n\n\nNet.clone = Net.detach = Net.new_zeros = Net.to = print",
    "an own object": "class Net:\n    def __init__(self):\n        self.clone = self.detach = self.to = 1",
    "an option": "import argparse\n\noptions = argparse.Namespace()\noptions.clone = options.detach = options.to = 1",
    "what torch makes": "net = torch.nn.Linear(2, 2)\nnet.clone = 1",
}


@pytest.mark.parametrize("word", USES)
@pytest.mark.parametrize("other", OTHERS)
def test_something_else_is_bound_anew(tmp_path: Path, word: str, other: str) -> None:
    program = f"{HEAD}{OTHERS[other]}\nprint({USES[word]})\n"
    assert list(check_runs_alike(tmp_path, {"main.py": program})) == ["main.py"]


FUNCTION_MODE = """
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    def __torch_function__(self, function, types, given=(), named=None):
        print(getattr(function, "__name__", function))
        return function(*given, **(named or {}))
"""
DISPATCH_MODE = """
from torch.utils._python_dispatch import TorchDispatchMode


class Counting(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, given=(), named=None):
        print(function)
        return function(*given, **(named or {}))
"""


@pytest.mark.parametrize("word", USES)
@pytest.mark.parametrize("mode", [FUNCTION_MODE, DISPATCH_MODE], ids=["functions", "dispatch"])
def test_a_mode_may_change_each_function(tmp_path: Path, word: str, mode: str) -> None:
    program = f"{HEAD}{mode}\n\nwith Counting():\n    y = {USES[word]}\nprint(y)\n"
    assert check_runs_alike(tmp_path, {"main.py": program}) == {}


def test_a_mode_of_another_file_may_change_each_function(tmp_path: Path) -> None:
    program = f"from modes import Counting\n{HEAD}\nwith Counting():\n    y = torch.tensor(x)\nprint(y)\n"
    assert check_runs_alike(tmp_path, {"main.py": program, "modes.py": FUNCTION_MODE}) == {}


@pytest.mark.parametrize(("path", "is_kept"), [("tests/test_modes.py", False), ("modes.py", True)])
def test_a_mode_that_a_test_defines_acts_in_tests_alone(tmp_path: Path, path: str, *, is_kept: bool) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": f"{HEAD}print(torch.tensor(x))\n", path: FUNCTION_MODE})
    assert ("main.py" not in changed) is is_kept


@pytest.mark.parametrize("owner", ["torch.nn.Linear(2, 2)", "argparse.Namespace()"])
def test_names_that_are_not_written_are_bound_in_something_else(tmp_path: Path, owner: str) -> None:
    other = f"import argparse\nimport torch\n\nowner = {owner}\nfor name in ['a', 'b']:\n    setattr(owner, name, 1)\n"
    program = f"import other\n{HEAD}\nprint(torch.tensor(x))\n"
    assert list(check_runs_alike(tmp_path, {"main.py": program, "other.py": other})) == ["main.py"]


def test_names_that_are_not_written_are_bound_in_torch(tmp_path: Path) -> None:
    other = "import torch\n\n\ndef swap(name, made):\n    setattr(torch.Tensor, name, made)\n"
    main = f"import other\n{HEAD}old = torch.Tensor.clone\nother.swap('clone', lambda self: print(1) or old(self))\n"
    main += "print(torch.tensor(x))\nother.swap('clone', old)\n"
    assert check_runs_alike(tmp_path, {"main.py": main, "other.py": other}) == {}


LAYER_OF_ITS_OWN = """\
import numpy
import torch

Linear, zeros, numel = torch.nn.Linear, torch.zeros, torch.numel


class Own(torch.nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.weight = torch.zeros(sizes, requires_grad=True).exp()


def start():
    {patch}


def stop():
    torch.nn.Linear, torch.zeros, torch.numel = Linear, zeros, numel
"""
RESTING_ON = {
    "what a layer holds": ("torch.nn.Linear = Own", "print(torch.nn.Linear(2, 2).weight.data.sum().requires_grad)"),
    "a function that makes a tensor": ("torch.zeros = numpy.zeros", "zero = torch.zeros(2)\nprint(type(zero.data))"),
    "a function that gives a number": ("torch.numel = lambda x: 2.5", "print(torch.LongTensor([torch.numel(x)]))"),
}


@pytest.mark.parametrize("what", RESTING_ON)
def test_another_file_rebinds_what_torch_makes_it_with(tmp_path: Path, what: str) -> None:
    patch, program = RESTING_ON[what]
    main = f"import other\n{HEAD}\nother.start()\n{program}\nother.stop()\n"
    files = {"main.py": main, "other.py": LAYER_OF_ITS_OWN.format(patch=patch)}
    assert check_runs_alike(tmp_path, files) == {}


@pytest.mark.parametrize("what", RESTING_ON)
def test_another_file_rebinds_another_function_of_torch(tmp_path: Path, what: str) -> None:
    main = f"import other\n{HEAD}\nother.start()\n{RESTING_ON[what][1]}\nother.stop()\n"
    kept = LAYER_OF_ITS_OWN.format(patch="torch.rot90 = Own").replace(
        "torch.nn.Linear, torch.zeros, torch.numel = Linear, zeros, numel", "pass"
    )
    old = torch.rot90
    try:
        assert list(check_runs_alike(tmp_path, {"main.py": main, "other.py": kept})) == ["main.py"]
    finally:
        torch.rot90 = old


CELLS = """\
import torch


def make():
    sizes = [1, 2]

    def build():
        return torch.Tensor(sizes)

    return build


build = make()
{change}
print(build().shape)
"""


@pytest.mark.parametrize(
    ("change", "is_kept"), [("build.__closure__[0].cell_contents = 3", False), ("build.contents = 3", True)]
)
def test_a_cell_is_given_another_value(tmp_path: Path, change: str, *, is_kept: bool) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": CELLS.format(change=change)})
    assert bool(changed) is is_kept


MADE = "import torch\n\n\ndef made():\n    return torch.Tensor(list((1, 2))).shape\n"
OF_PYTHON = {
    "an attribute": "real = builtins.list\nbuiltins.list = len\nprint(made())\nbuiltins.list = real\n",
    "a setter": "real = list\nsetattr(builtins, 'list', len)\nprint(made())\nsetattr(builtins, 'list', real)\n",
    "a path": "from unittest import mock\n\nwith mock.patch('builtins.list', len):\n    print(made())\n",
}
LEFT = {
    "what is mocked": "from unittest import mock\n\nwith mock.patch('builtins.print'):\n    made()\n",
    "a comparison": "print(builtins.list == list, made())\n",
}


@pytest.mark.parametrize("rebound", OF_PYTHON.values(), ids=OF_PYTHON)
def test_another_file_rebinds_a_function_of_python(tmp_path: Path, rebound: str) -> None:
    main = f"import builtins\n\nfrom nets import made\n\n{rebound}"
    assert check_runs_alike(tmp_path, {"nets.py": MADE, "main.py": main}) == {}


@pytest.mark.parametrize("rebound", LEFT.values(), ids=LEFT)
def test_another_file_leaves_the_functions_of_python(tmp_path: Path, rebound: str) -> None:
    main = f"import builtins\n\nfrom nets import made\n\n{rebound}"
    assert list(check_runs_alike(tmp_path, {"nets.py": MADE, "main.py": main})) == ["nets.py"]
