"""What a new module writes through `.data` is written by `nn.init`, and does the same: values, draws, graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from torchlint.config import Config
from torchlint.linter.engine import fix_bytes

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        {0}

    def forward(self, x):
        return self.fc(x)


torch.manual_seed(0)
net = Net()
out = net(torch.ones(1, 3)).sum()
out.backward()
print(net.fc.weight, net.fc.bias, net.fc.weight.grad, torch.rand(1))
"""
WRITES = {
    "self.fc.weight.data.normal_()": "nn.init.normal_(self.fc.weight)",
    "self.fc.weight.data.normal_(1)": "nn.init.normal_(self.fc.weight, 1)",
    "self.fc.weight.data.normal_(0, 0.5)": "nn.init.normal_(self.fc.weight, 0, 0.5)",
    "self.fc.weight.data.normal_(std=0.5, mean=2)": "nn.init.normal_(self.fc.weight, std=0.5, mean=2)",
    "self.fc.weight.data.normal_(0, std=2)": "nn.init.normal_(self.fc.weight, 0, std=2)",
    "self.fc.weight.data.uniform_(-1, 1)": "nn.init.uniform_(self.fc.weight, -1, 1)",
    "self.fc.weight.data.uniform_(-1)": "nn.init.uniform_(self.fc.weight, -1)",
    "self.fc.bias.data.zero_()": "nn.init.zeros_(self.fc.bias)",
    "self.fc.bias.data.fill_(2)": "nn.init.constant_(self.fc.bias, 2)",
    "self.fc.bias.data.fill_(torch.tensor(2.5))": "nn.init.constant_(self.fc.bias, torch.tensor(2.5))",
    "(self.fc.bias).data.fill_((1 + 2) * 3)": "nn.init.constant_((self.fc.bias), (1 + 2) * 3)",
    "self.fc.bias.data.zero_(); print(1)": "nn.init.zeros_(self.fc.bias); print(1)",
    "if self.fc.bias is not None: self.fc.bias.data.zero_()": "nn.init.zeros_(self.fc.bias)",
}
OTHERS = (
    "self.fc.weight.data.normal_(0, 1, generator=None)", "self.fc.weight.data.uniform_(*(0, 1))",
    "self.fc.weight.data.clamp_(min=0)", "self.fc.bias.data[0].zero_()", "self.fc.bias.data.fill_(1).zero_()",
    "kept = self.fc.bias.data.zero_()", "print(self.fc.bias.data.zero_())", "self.fc.bias.data.fill_(value=1)",
    "self.fc.bias.data.fill_(  # why\n            1)", "self.fc.bias.data.exponential_()",
)  # fmt: skip


def fixed(program: str) -> str:
    outcome = fix_bytes("<example>", program.encode(), Config(select=("TNS202",)))
    assert outcome.remaining.troubles == ()
    return outcome.raw.decode()


@pytest.mark.parametrize(("write", "wanted"), WRITES.items())
def test_first_values_are_written_by_init(tmp_path: Path, write: str, wanted: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + NET.format(write)})
    assert wanted in changed["main.py"]


@pytest.mark.parametrize("write", OTHERS)
def test_other_writes_are_not(tmp_path: Path, write: str) -> None:
    check_runs_alike(tmp_path, {"main.py": HEAD + NET.format(write)})
    assert "nn.init" not in (tmp_path / "main.py").read_text()


@pytest.mark.parametrize(
    ("imports", "wanted"),
    [
        ("import torch\n", "torch.nn.init.zeros_("),
        ("import torch\nfrom torch import nn\n", "nn.init.zeros_("),
        ("import torch.nn as layers\nimport torch\n", "layers.init.zeros_("),
        ("from torch import nn\nfrom torch.nn import init\n", "init.zeros_("),
        ("from torch import nn\nimport torch.nn.init as first\n", "first.zeros_("),
        ("import torch.nn\n", "torch.nn.init.zeros_("),
        ("from torch.nn.init import zeros_\nfrom torch import nn\n", "zeros_("),
    ],
)
def test_init_is_spelled_as_the_file_imports_it(imports: str, wanted: str) -> None:
    kind = "nn" if "import nn" in imports else "layers" if "layers" in imports else "torch.nn"
    text = f"{imports}\nm = {kind}.Linear(2, 2)\nm.weight.data.zero_()\n"
    assert fixed(text) == f"{imports}\nm = {kind}.Linear(2, 2)\n{wanted}m.weight)\n"


def test_other_neighbours_share_a_block() -> None:
    lines = "m.weight.data.normal_()\nm.weight.data.clamp_(0)\nm.bias.data.clamp_(0)\nm.bias.data.zero_()\n"
    assert fixed(f"{HEAD}m = nn.Linear(2, 2)\n{lines}").endswith(
        "nn.init.normal_(m.weight)\nwith torch.no_grad():\n    m.weight.clamp_(0)\n    m.bias.clamp_(0)\n"
        "nn.init.zeros_(m.bias)\n"
    )


def test_where_grad_mode_is_off_nothing_but_data_goes() -> None:
    text = HEAD + NET.format("with torch.no_grad():\n            self.fc.weight.data.zero_()")
    assert "with torch.no_grad():\n            self.fc.weight.zero_()\n" in fixed(text)


def test_a_call_that_cares_for_grad_mode_keeps_it(tmp_path: Path) -> None:
    own = "def size():\n    print(torch.is_grad_enabled())\n    return 0.5\n\n\n"
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + own + NET.format("self.fc.weight.data.normal_(0, size())")})
    assert "nn.init.normal_(self.fc.weight, 0, size())" in changed["main.py"]
