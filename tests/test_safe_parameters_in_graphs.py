"""What meets a parameter in a graph that is still to go backward: programs run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

torch = pytest.importorskip("torch")
HEAD = """import torch
from torch import nn
from torch.nn import functional as F

p = nn.Parameter(torch.ones(3))
m = torch.ones(3)
i = torch.tensor([0, 1, 2])
total = 0
for step in range(2):
"""
END = "    m.bernoulli_(0.5)\n    i.zero_()\n{}print(p.grad)\n"
BACK = "total.backward()\n"
SAVED = (
    "(p * m.data).sum()",
    "(m.data * p).sum()",
    "p @ m.data",
    "(p ** m.data).sum()",
    "p.pow(m.data).sum()",
    "p.dot(m.data)",
    "p[i.data].sum()",
    "p.gather(0, i.data).sum()",
    "p.index_select(0, i.data).sum()",
    "p.masked_fill(m.bool().data, 0).sum()",
    "torch.where(m.bool().data, p, -p).sum()",
    "torch.einsum('i,i->', p, m.data)",
    "torch.einsum('i,i->', [p, m.data])",
    "torch.tensordot(p, m.data, 1)",
    "torch.tensordot(m.data, p, dims=1)",
    "torch.outer(p, m.data).sum()",
    "torch.addcmul(p, p, m.data).sum()",
    "torch.maximum(p, m.data).sum()",
    "F.linear(m.data, p.view(1, 3)).sum()",
    "F.conv1d(m.data.view(1, 1, 3), p.view(1, 1, 3)).sum()",
    "F.layer_norm(m.data, (3,), p).sum()",
    "F.mse_loss(p, m.data)",
    "torch.bmm(p.view(1, 1, 3), m.data.view(1, 3, 1)).sum()",
    "(p.exp() * m.data).sum()",
    "(p.clone() * m.data).sum()",
    "(p[:] * m.data).sum()",
    "(torch.relu(p) * m.data).sum()",
    "(torch.ones(3) * p * m.data).sum()",
    "(torch.cat([p]) * m.data).sum()",
    "(torch.stack([p, p]) * m.data).sum()",
    "sum((each * m.data).sum() for each in [p, p])",
    "(nn.Parameter(torch.ones(3)) * m.data).sum()",
)
QUIET = (
    "(p + m.data).sum()",
    "(p.detach() * m.data).sum()",
    "(p.data.norm() * m.data).sum()",
    "(torch.ones(3) * m.data).sum()",
)


@pytest.mark.parametrize("term", SAVED)
def test_what_a_graph_saves_beside_a_parameter_is_left(term: str, tmp_path: Path) -> None:
    text = f"{HEAD}    total = total + {term}\n{END.format(BACK)}"
    assert "main.py" not in check_runs_alike(tmp_path, {"main.py": text})


def test_so_it_is_beside_the_members_of_a_list(tmp_path: Path) -> None:
    made = HEAD.replace("total = 0\n", "total = 0\nps = nn.ParameterList([p, p])\nscales = [p, nn.Parameter(m * 2)]\n")
    loop = "    for each in {}:\n        total = total + (each * m.data).sum()\n"
    for several in ("ps", "scales"):
        text = made + loop.format(several) + END.format(BACK)
        assert "main.py" not in check_runs_alike(tmp_path, {"main.py": text})


@pytest.mark.parametrize("term", QUIET)
def test_what_no_graph_saves_is_repaired(term: str, tmp_path: Path) -> None:
    back = BACK if "+" in term else ""
    text = f"{HEAD}    total = total + {term}\n{END.format(back)}"
    assert "m.data" not in check_runs_alike(tmp_path, {"main.py": text})["main.py"]


@pytest.mark.parametrize("layer", ["nn.LazyLinear(2)", "nn.LazyConv1d(2, 1)"])
def test_a_layer_without_values_is_not_initialised(layer: str, tmp_path: Path) -> None:
    text = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    text += f"        super().__init__()\n        self.fc = {layer}\n        self.fc.weight.data.normal_(0, 1)\n"
    text += "        for m in self.modules():\n            if hasattr(m, 'bias'):\n"
    text += "                m.bias.data.zero_()\n\n\nprint(Net())\n"
    assert "main.py" not in check_runs_alike(tmp_path, {"main.py": text})
