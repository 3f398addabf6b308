"""Projects with classes below `Tensor` before and after `--fix`: `.detach()` keeps a class that old calls drop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

pytest.importorskip("torch")
METRES = """
import torch


class Metres(torch.Tensor):
    @property
    def unit(self):
        return "m"
"""
MAIN = """
import torch
from torch.autograd import Variable
from units import made


def shown(x):
    y = {}
    return type(y).__name__, getattr(y, "unit", None)


print(shown(made()))
"""
SUBCLASSES = {
    "by the class": METRES + "\n\ndef made():\n    return Metres([1.0, 2.0])\n",
    "by its bare name": METRES.replace("import torch", "from torch import Tensor").replace("torch.Tensor", "Tensor")
    + "\n\ndef made():\n    return Metres([1.0, 2.0])\n",
    "beside another base": METRES.replace("(torch.Tensor)", "(Sized, torch.Tensor)").replace(
        "\n\nclass", "\n\nclass Sized:\n    pass\n\n\nclass"
    )
    + "\n\ndef made():\n    return Metres([1.0, 2.0])\n",
    "by `as_subclass`": "import torch\n\n\ndef made():\n    kind = type('Metres', (torch.Tensor,), {'unit': 'm'})\n"
    "    return torch.ones(2).as_subclass(kind)\n",
    "by a call": "import torch\n\nMetres = type('Metres', (torch.Tensor,), {'unit': 'm'})\n\n\n"
    "def made():\n    return Metres([1.0, 2.0])\n",
}
PLAIN = {
    "no class below": "import torch\n\n\ndef made():\n    return torch.ones(2)\n",
    "a class that has tensors": "import torch\nfrom torch.utils.data import TensorDataset\n\n\n"
    "class Rows(TensorDataset):\n    kind: type[torch.Tensor]\n\n\ndef made():\n    return Rows(torch.ones(2))[0][0]\n",
}
CALLS = ["Variable(x)", "Variable(torch.relu(x))", "Variable(x, requires_grad=True)", "torch.tensor(torch.relu(x))"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("units", SUBCLASSES)
def test_the_class_of_an_object_of_a_subclass_stays_what_it_was(tmp_path: Path, units: str, call: str) -> None:
    changed = check_runs_alike(tmp_path, {"units.py": SUBCLASSES[units], "main.py": MAIN.format(call)})
    assert f"y = {call}" in changed.get("main.py", MAIN.format(call))


@pytest.mark.parametrize("call", ["Variable(torch.relu(x))", "torch.tensor(torch.relu(x))"])
@pytest.mark.parametrize("units", PLAIN)
def test_without_a_subclass_the_call_is_repaired(tmp_path: Path, units: str, call: str) -> None:
    changed = check_runs_alike(tmp_path, {"units.py": PLAIN[units], "main.py": MAIN.format(call)})
    assert "detach()" in changed["main.py"]


def test_what_torch_makes_right_there_is_repaired_beside_a_subclass(tmp_path: Path) -> None:
    text = METRES + "\n\nfrom torch.autograd import Variable\n\nprint(Variable(torch.zeros(2)), {})\n"
    changed = check_runs_alike(tmp_path, {"main.py": text.format("Variable(torch.ones(2), requires_grad=True)")})
    assert "print(torch.zeros(2), torch.ones(2).requires_grad_(True))" in changed["main.py"]


def test_what_follows_the_class_of_another_is_no_new_tensor(tmp_path: Path) -> None:
    text = METRES + "\n\nfrom torch.autograd import Variable\n\nx = Metres([1.0])\nprint(type({}).__name__)\n"
    assert check_runs_alike(tmp_path, {"main.py": text.format("Variable(torch.zeros_like(x))")}) == {}
