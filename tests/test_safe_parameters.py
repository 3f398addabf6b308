"""What a constructor writes into its parameters: small projects that are run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

torch = pytest.importorskip("torch")
HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n"
HEAD += "from torch.nn.utils.parametrizations import weight_norm\n\n\n"


def _net(body: str, given: str = "", more: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    net = f"class Net(nn.Module):\n    def __init__(self{given}):\n        super().__init__()\n{lines}{more}"
    return f"{HEAD}{net}\n\ntorch.manual_seed(0)\n"


PRINTED = "print(list(Net().state_dict().values()))\n"
LAYER = "self.fc = nn.Linear(2, 2)\n"
HEAD_CLASS = "class Head(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
HEAD_CLASS += (
    "        self.fc = nn.Linear(2, 2)\n\n    @property\n    def weight(self):\n        return self.fc.weight\n\n\n"
)

REPEATED = {
    "a number": (LAYER + "self.fc.weight.data += 3", "self.fc.weight.add_(3)"),
    "in brackets": (LAYER + "self.fc.weight.data *= (1 + 2)", "self.fc.weight.mul_(1 + 2)"),
    "a tensor": (LAYER + "self.fc.weight.data -= torch.ones(2)", "self.fc.weight.sub_(torch.ones(2))"),
    "an index": (LAYER + "self.fc.weight.data[0] /= 2", "self.fc.weight[0] /= 2"),
    "a parametrized layer": ("self.fc = weight_norm(nn.Linear(2, 2))\nself.fc.weight.data += 5", None),
}


@pytest.mark.parametrize("name", REPEATED)
def test_an_augmented_assignment_writes_in_place(name: str, tmp_path: Path) -> None:
    body, after = REPEATED[name]
    text = check_runs_alike(tmp_path, {"main.py": _net(body) + PRINTED}).get("main.py", "")
    assert after is None or after in text


def test_an_augmented_assignment_assigns_no_property(tmp_path: Path) -> None:
    body = "self.head = Head()\nself.head.weight.data *= 0"
    main = _net(body).replace("class Net", f"{HEAD_CLASS}class Net") + PRINTED
    check_runs_alike(tmp_path, {"main.py": main})


def test_an_augmented_assignment_of_an_array_is_left(tmp_path: Path) -> None:
    for value in ("np.ones(2)", "start"):
        body = f"{LAYER}self.fc.weight.data += {value}"
        main = _net(body, ", start=np.ones(2)") + "print(Net(np.ones(2)).state_dict()['fc.weight'])\n"
        assert not check_runs_alike(tmp_path, {"main.py": main})


MADE_OF = {
    "a default that fills": ("self.w = nn.Parameter(torch.full((2,), init))", ", init=0.5"),
    "a default that is copied": ("self.w = nn.Parameter(torch.tensor([init, 1.0]))", ", init=0.5"),
}
SHARED = {
    "a default": ("self.w = nn.Parameter(torch.as_tensor(init))", ", init=0.5"),
    "a default by way of an attribute": (
        "self.init = init\nself.w = nn.Parameter(torch.as_tensor(self.init))",
        ", init=0.5",
    ),
    "settings": ("self.w = nn.Parameter(config.anchors)", ", config"),
    "a loss": ("self.ce = nn.CrossEntropyLoss(w)\nself.w = self.ce.weight", ", w"),
    "an embedding": ("self.w = nn.Embedding(3, 2, 0, None, 2.0, False, False, w).weight", ", w"),
    "a class of layers": ("make = nn.NLLLoss\nself.ce = make(w)\nself.w = self.ce.weight", ", w"),
}


@pytest.mark.parametrize("name", MADE_OF)
def test_what_is_made_of_numbers_is_new(name: str, tmp_path: Path) -> None:
    body, given = MADE_OF[name]
    main = _net(f"{body}\nself.w.data.clamp_(0, 0.1)", given)
    assert "self.w.clamp_(0, 0.1)" in check_runs_alike(tmp_path, {"main.py": main + "print(Net().w)\n"})["main.py"]


@pytest.mark.parametrize("name", SHARED)
def test_a_tensor_that_is_handed_over_keeps_its_memory(name: str, tmp_path: Path) -> None:
    body, given = SHARED[name]
    main = _net(f"{body}\nself.w.data.clamp_(0, 0.1)", given)
    main += "x = torch.ones(3, 2, requires_grad=True)\nh = torch.sigmoid(x)\n"
    main += "h.anchors = h\nnet = Net(h)\nh.sum().backward()\nprint(x.grad)\n"
    assert not check_runs_alike(tmp_path, {"main.py": main})


MEAN = "self.mu = nn.Parameter(torch.ones(2))\nself.w = nn.Parameter(torch.empty(2))\n"
PRIOR = "\n    {}\n    def prior(self):\n        return self.mu.exp()\n"
LOSS = "\n    def loss(self):\n        return (self.w - 2 * self.prior).pow(2).sum()\n"
CACHED = "class Scaled(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
CACHED += "        self.v = nn.Parameter(torch.ones(2))\n\n    @cached_property\n    def scaled(self):\n"
CACHED += "        return self.v * 2\n\n\n"
TRAINED = "n = Net()\nn.loss().backward()\nprint(n.mu.grad)\n"


@pytest.mark.parametrize("value", ["self.std", "config[0]", "self.std if self.std else 0"])
def test_what_is_read_plainly_may_move_into_a_block(value: str, tmp_path: Path) -> None:
    body = f"{MEAN}self.std = torch.tensor(0.5)\nself.layers = nn.ModuleList([nn.Linear(2, 2)])\n"
    body += f"self.w.data.copy_({value})"
    main = _net(body, ", config=(torch.ones(2),)") + "print(Net().w)\n"
    assert "self.w.copy_(" in check_runs_alike(tmp_path, {"main.py": main})["main.py"]


def test_a_property_is_not_moved_into_a_block(tmp_path: Path) -> None:
    main = _net(MEAN + "self.w.data.copy_(self.prior)", more=PRIOR.format("@cached_property") + LOSS) + TRAINED
    assert not check_runs_alike(tmp_path, {"main.py": f"from functools import cached_property\n{main}"})


def test_a_test_of_a_property_is_not_moved_into_a_block(tmp_path: Path) -> None:
    body = f"{MEAN}self.w.data.zero_()\nif self.prior is not None:\n    self.w.data.mul_(2)\nself.w.data.mul_(3)"
    main = _net(body, more=PRIOR.format("@cached_property") + LOSS) + TRAINED
    check_runs_alike(tmp_path, {"main.py": f"from functools import cached_property\n{main}"})


def test_a_property_that_is_written_into_is_not_moved_into_a_block(tmp_path: Path) -> None:
    main = _net("self.head = Scaled()\nself.head.scaled.data.mul_(2)").replace("class Net", f"{CACHED}class Net")
    main = f"from functools import cached_property\n{main}print(Net().head.scaled.requires_grad)\n"
    assert not check_runs_alike(tmp_path, {"main.py": main})
