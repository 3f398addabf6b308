"""What `--fix` writes of `.detach()` and `.item()`: once, and only where that is what was read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, text_fixed
from tests.test_safe_tensors import HEAD
from torchlint.config import Config
from torchlint.diagnostics.model import Settings
from torchlint.linter.engine import check_bytes, fix_bytes

ONCE = [
    "torch.tensor(x.detach())",
    "torch.tensor(x.detach().clone())",
    "torch.tensor(x.data)",
    "torch.tensor(x).detach()",
    "torch.tensor(x).clone().detach()",
    "Variable(x).detach()",
    "Variable(x.detach())",
    "Variable(x.data)",
    "Variable(x).data",
    "Variable(Variable(x))",
    "Variable(x).clone().detach()",
    "Variable(x.detach().clone())",
    "Variable(x.data, requires_grad=True)",
    "x.data.detach().sum()",
    "x.detach().data.sum()",
    "x.data.clone().detach().sum()",
    "x.detach().clone().data.sum()",
    "x.data.data.sum()",
    "x.clone().data",
    "x.clone().data.add_(1)",
]
TWICE = re.compile(r"\.detach\(\)(\.clone\(\))?\.detach\(\)|\.data\.detach\(\)")


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("known", [True, False], ids=["a tensor", "a parameter"])
@pytest.mark.parametrize("code", ONCE)
def test_nothing_is_detached_twice(code: str, known: bool, unsafe: bool, tmp_path: Path) -> None:
    bound = "    x = net(x)\n" if known else ""
    program = f"{HEAD}def run(x):\n{bound}    y = {code}\n    return y\n\n\nshow(run(x * net.bias))\n"
    codes = ("TNS101", "TNS102", "TNS103", "TNS201", "TNS202", "TNS308", "TNS401")
    after = text_fixed(program, *codes, unsafe=unsafe)
    assert after.count("detach()") <= 1
    assert after == program or not TWICE.search(after)
    check_runs_alike(tmp_path, {"main.py": program})


ASSIGNED = {
    "the data of a wrapper": "Variable(x).data = torch.ones(3)",
    "of a copy of a wrapper": "Variable(x).cpu().data = torch.ones(3)",
    "among others": "Variable(x).data, y = torch.ones(3), 2",
    "written into": "Variable(x).data.fill_(3)",
    "added to": "Variable(x).data += 1",
    "the gradient of a wrapper": "Variable(x).grad = torch.ones(2)",
    "its flag": "Variable(x).requires_grad = True",
}


@pytest.mark.parametrize("statement", ASSIGNED.values(), ids=ASSIGNED)
def test_what_is_assigned_to_a_wrapper_leaves_its_tensor_as_it_is(statement: str, tmp_path: Path) -> None:
    program = f"{HEAD}def run(x):\n    {statement}\n    return x\n\n\nshow(run(torch.zeros(2)))\n"
    check_runs_alike(tmp_path, {"main.py": program})


def test_strict_conversions_leave_data_to_its_own_rule() -> None:
    program = "import torch\n\nw = torch.ones(3, requires_grad=True)\ny = w.data.numpy()\nz = w.data.clone().numpy()\n"
    config = Config(select=("TNS101", "TNS103"), unsafe_fixes=True, settings=Settings(strict=True))
    after = fix_bytes("<example>", program.encode(), config).raw.decode()
    assert "y = w.data.cpu().numpy()\nz = w.data.clone().cpu().numpy()\n" in after
    both = replace(config, select=("TNS101", "TNS103", "TNS201"))
    assert "y = w.detach().cpu().numpy()" in fix_bytes("<example>", program.encode(), both).raw.decode()


@pytest.mark.parametrize("name", ["loss", "train_loss"])
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_an_index_of_a_number_is_no_detached_index(name: str, unsafe: bool) -> None:
    program = f"""\
import torch
from torch import nn


def train(net, batch, target):
    {name} = nn.MSELoss(reduction=net.how)(net(batch), target)
    {name}.backward()
    return {name}.data[0]
"""
    after = text_fixed(program, "TNS201", "TNS204", unsafe=unsafe)
    assert after == (program.replace(f"{name}.data[0]", f"{name}.item()") if unsafe else program)


def test_an_index_of_what_may_be_a_number_is_unsafe_and_says_so() -> None:
    program = "import torch\n\n\ndef first(a):\n    b = torch.relu(a)\n    return b.data[0].sum().item()\n"
    result = check_bytes("<example>", program.encode(), Config(select=("TNS201",)))
    assert [each.fix.title for each in result.findings if each.fix] == [
        "Replace `.data` with `.detach()`; assumes that this is what was meant (`.item()` is, if `b` has no dimensions)"
    ]
