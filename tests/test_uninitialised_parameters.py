"""Parameters that nothing initialises: who of a project's files may, and what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import written
from torchlint.config import Config
from torchlint.diagnostics.model import Confidence
from torchlint.linter.engine import check_bytes

NET = """
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(n, m))

    def forward(self, x):
        return x @ self.kernel
"""
TRAINING = """
from net import Gate


def main(batches, optimizer, model):
    for batch in batches:
        model(batch).sum().backward()
        optimizer.step()
"""
COUNTING = """
def main(model):
    total = sum(p.numel() for p in model.parameters())
    for name, p in model.named_parameters():
        p.requires_grad = False
        print(name, p.shape, p.norm())
    return total


class Other:
    def forward(self, x):
        return x @ self.kernel
"""

INITIALISING = {
    "a loop": "for p in model.parameters():\n    nn.init.xavier_uniform_(p)\n",
    "a loop with a function that is not known": "for n, p in model.named_parameters():\n    opt.initializer(p)\n",
    "a loop over what a name has": "every = list(model.parameters())\nfor p in every:\n    p.data.uniform_()\n",
    "a comprehension": "[nn.init.normal_(p) for p in model.parameters()]\n",
    "a function that is given all": "init_all(model.parameters())\n",
    "nn.init": "nn.init.zeros_(model.kernel)\n",
    "data": "model.gate.kernel.data.fill_(1)\n",
    "a view": "model.kernel[0].view(-1).fill_(1)\n",
    "a slice": "model.kernel[:] = 0\n",
    "a view with a name": ("def start(model):\n    first = model.kernel.view(-1)\n    first.fill_(1)\n"),
    "a view with a name that is added to": ("def start(model):\n    first = model.kernel.data\n    first += 1\n"),
    "a view with two names": (
        "def start(model):\n    first = model.kernel.data\n    again = first\n    again.zero_()\n"
    ),
    "a view that is returned by its name": ("def start(model):\n    first = model.kernel.data\n    return first\n"),
    "a new parameter": "model.kernel = nn.Parameter(fresh)\n",
    "an attribute by its text": "setattr(model, 'kernel', fresh)\n",
    "a class below": (
        "from net import Gate\n"
        "class Below(Gate):\n    def __init__(self):\n        super().__init__(2, 3)\n        self.kernel = fresh()\n"
    ),
}


def levels(folder: Path, files: dict[str, str]) -> list[Confidence]:
    path = written(folder, {"net.py": NET, **files}) / "net.py"
    result = check_bytes(str(path), path.read_bytes(), Config(select=("TNS309",)))
    return [each.confidence for each in result.findings]


@pytest.mark.parametrize("text", INITIALISING.values(), ids=INITIALISING)
def test_silent_where_another_file_may_initialise(tmp_path: Path, text: str) -> None:
    assert levels(tmp_path, {"train.py": TRAINING, "start.py": text}) == []


def test_silent_where_weights_are_only_loaded(tmp_path: Path) -> None:
    assert levels(tmp_path, {"serve.py": "model.load_state_dict(weights)\n"}) == []


def test_possible_where_others_only_read(tmp_path: Path) -> None:
    assert levels(tmp_path, {"train.py": TRAINING, "count.py": COUNTING}) == [Confidence.POSSIBLE]


def test_likely_where_nobody_else_takes_the_module(tmp_path: Path) -> None:
    assert levels(tmp_path, {"count.py": COUNTING}) == [Confidence.LIKELY]


def test_possible_where_a_checkpoint_may_be_loaded(tmp_path: Path) -> None:
    files = {"train.py": TRAINING, "serve.py": "model.load_state_dict(weights)\n"}
    assert levels(tmp_path, files) == [Confidence.POSSIBLE]


@pytest.mark.parametrize("path", ["test_net.py", "tests/helpers.py"])
@pytest.mark.parametrize("text", [INITIALISING["a loop"], INITIALISING["nn.init"]], ids=["a loop", "nn.init"])
def test_silent_where_tests_alone_initialise(tmp_path: Path, path: str, text: str) -> None:
    assert levels(tmp_path, {"train.py": TRAINING, path: text}) == []


def test_possible_where_data_is_only_read(tmp_path: Path) -> None:
    reading = (
        "def score(net, x):\n    print(net.kernel.data.shape)\n    return x + net.kernel.data - net.kernel.data[0]\n"
    )
    assert levels(tmp_path, {"train.py": TRAINING, "score.py": reading}) == [Confidence.POSSIBLE]


@pytest.mark.torch
def test_a_parameter_keeps_the_memory_that_it_is_made_of() -> None:
    torch = pytest.importorskip("torch")
    memory = torch.empty(2, 3)
    found = torch.nn.Parameter(memory)
    assert found.data_ptr() == memory.data_ptr()
