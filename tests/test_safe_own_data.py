"""Objects of other classes keep live tensors in a `data` of their own: small programs before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, text_fixed
from torchlint.config import Config
from torchlint.linter.engine import check_bytes

pytest.importorskip("torch")
HEAD = """\
import torch
from torch import nn
from torch.autograd import Variable


class Node:
    def __init__(self, value):
        self.data = torch.relu(value)
        self.weight = torch.relu(value)

    def run(self):
        {}


x = torch.ones(2, requires_grad=True)
node = Node(x)
y = node.run()
"""
LIVE = {
    "read": "return self.data.data.sum()",
    "copied": "return self.data.clone().data.sum()",
    "given to torch.tensor": "return torch.tensor(self.data.data)",
    "copied for torch.tensor": "return torch.tensor(self.data.clone())",
    "wrapped": "return Variable(self.data.clone())",
    "wrapped as a leaf": "return Variable(self.data.data, requires_grad=True)",
}
WEIGHED = "return (self.weight.data {} self.data).sum()"
STORED = "{}.data = self.weight.data\n        return self.weight.pow(2).sum()"


@pytest.mark.parametrize("name", LIVE)
def test_what_an_own_data_holds_is_still_detached(name: str, tmp_path: Path) -> None:
    program = HEAD.format(LIVE[name]) + "print(y.requires_grad, y.grad_fn is None, y.is_leaf, x.grad)\n"
    check_runs_alike(tmp_path, {"main.py": program})
    assert ".detach()" in text_fixed(program, "TNS201", "TNS308", "TNS401", unsafe=True)


@pytest.mark.parametrize("operator", ["*", "/", "**", "@"])
def test_a_graph_saves_what_meets_an_own_data(operator: str, tmp_path: Path) -> None:
    end = "with torch.no_grad():\n    node.weight.add_(1)\ny.backward()\nprint(x.grad)\n"
    program = HEAD.format(WEIGHED.format(operator)) + end
    check_runs_alike(tmp_path, {"main.py": program})
    assert text_fixed(program, "TNS201") == program


def test_a_graph_saves_nothing_of_what_meets_the_data_of_a_tensor(tmp_path: Path) -> None:
    end = "with torch.no_grad():\n    node.weight.add_(1)\nprint(y)\n"
    program = HEAD.format("return (self.weight.data * torch.relu(x).data).sum()") + end
    check_runs_alike(tmp_path, {"main.py": program})
    assert ".data *" not in text_fixed(program, "TNS201")


@pytest.mark.parametrize("holder", ["node", "self"])
def test_a_value_kept_as_an_own_data_may_be_written_through(holder: str, tmp_path: Path) -> None:
    end = "node.data.zero_()\ny.backward()\nprint(x.grad)\n"
    program = HEAD.format(STORED.format(holder)) + end
    check_runs_alike(tmp_path, {"main.py": program})
    assert text_fixed(program, "TNS201") == program


def test_a_value_kept_as_the_data_of_a_tensor_has_versions_of_its_own() -> None:
    program = HEAD.format("z = torch.relu(x)\n        z.data = self.weight.data\n        return z")
    result = check_bytes("<example>", program.encode(), Config(select=("TNS201",)))
    titles = [each.fix.title for each in result.findings if each.fix]
    assert len(titles) == 1
    assert "nothing writes through" not in titles[0]
