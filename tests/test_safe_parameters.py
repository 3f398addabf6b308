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
