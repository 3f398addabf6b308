"""Whether a tensor may be on an accelerator: what a test moves itself, and what callers hand over."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence
from torchlint.linter.engine import check_bytes

SPECS = """
import torch

class Spec:
    _device: torch.device | None = None

    @property
    def device(self):
        return self._device

    @device.setter
    def device(self, device: torch.device | None):
        self._device = device

    def rand(self):
        return torch.zeros(3, device=self.device)


class Held:
    def __init__(self):
        self.kept = torch.zeros(3).to(where_it_is_wanted())
"""
SILENT = {
    "an object that is made without a device": "    r = Spec().rand()\n    assert (r >= torch.ones(3)).all()\n",
    "its result in a join": "    torch.cat([Spec().rand(), torch.ones(3)])\n",
}
TOLD = {
    "moved here": "    r = Spec().rand().to(DEVICE)\n    assert (r >= torch.ones(3)).all()\n",
    "made there": "    r = torch.zeros(3, device=DEVICE)\n    assert (r >= torch.ones(3)).all()\n",
}


def found(folder: Path, body: str) -> list[str]:
    (folder / "pyproject.toml").touch()
    (folder / "specs.py").write_text(SPECS)
    text = "import torch\nfrom specs import Spec\n\nDEVICE = torch.device('cuda:0')\n\ndef test_it():\n" + body
    path = folder / "test_specs.py"
    path.write_text(text)
    result = check_bytes(str(path), text.encode(), Config(cwd=str(folder), select=("TNS505",)))
    return [each.code for each in result.findings]


@pytest.mark.parametrize("case", SILENT)
def test_what_another_file_may_be_told_is_not_shown(tmp_path: Path, case: str) -> None:
    assert found(tmp_path, SILENT[case]) == []


@pytest.mark.parametrize("case", TOLD)
def test_what_the_test_moves_is_told(tmp_path: Path, case: str) -> None:
    assert found(tmp_path, TOLD[case]) == ["TNS505"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def test_it():\n    Spec().rand().numpy()\n", []),
        ("def test_it(device):\n    Spec().rand().numpy()\n", []),
        ("def test_it(device):\n    Spec().rand().to(device).numpy()\n", ["TNS102 likely"]),
        ("def test_it():\n    torch.rand(3).cuda().numpy()\n", ["TNS102 certain"]),
        ("def test_it():\n    Held().kept.numpy()\n", []),
        ("def test_it(device):\n    Held().kept.numpy()\n", []),
    ],
)
def test_a_test_is_told_what_it_moves_itself(tmp_path: Path, body: str, expected: list[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs.py").write_text(SPECS)
    path, text = tmp_path / "test_specs.py", "import torch\nfrom specs import Held, Spec\n\n" + body
    path.write_text(text)
    result = check_bytes(str(path), text.encode(), Config(cwd=str(tmp_path), select=("TNS1",)))
    assert [f"{each.code} {each.confidence}" for each in result.findings] == expected


@pytest.mark.parametrize(("name", "expected"), [("test_speed.py", []), ("speed.py", ["TNS504"])])
def test_how_long_a_test_takes_is_not_told(tmp_path: Path, name: str, expected: list[str]) -> None:
    text = "import torch\n\ndef test_it():\n    assert [int(each) for each in torch.zeros(3).cuda()] == [0, 0, 0]\n"
    result = check_bytes(str(tmp_path / name), text.encode(), Config(cwd=str(tmp_path), select=("TNS504",)))
    assert [each.code for each in result.findings] == expected


HELPER = "import torch\n\nhere = torch.device('cpu')\n\ndef shifted(x: torch.Tensor):\n    return x + torch.ones(3)\n"
CALLS = {
    "what is there": ("shifted(torch.zeros(3).cuda())", "likely"),
    "what is on the host": ("shifted(torch.zeros(3))", None),
    "what nothing is known of": ("shifted(torch.load(sys.argv[1]))", None),
}


@pytest.mark.parametrize("case", CALLS)
def test_what_another_file_hands_over_decides(tmp_path: Path, case: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    call, confidence = CALLS[case]
    (tmp_path / "main.py").write_text(f"import sys\n\nimport torch\nfrom helper import shifted\n\nprint({call})\n")
    (tmp_path / "helper.py").write_text(HELPER)
    config = Config(cwd=str(tmp_path), select=("TNS505",), min_confidence=Confidence.UNPROVEN)
    result = check_bytes(str(tmp_path / "helper.py"), HELPER.encode(), config)
    assert [str(each.confidence) for each in result.findings] == ([confidence] if confidence else [])


NETWORK = """
import torch
from torch import nn

class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor):
        return self.fc(x) + torch.arange(3)
"""


@pytest.mark.parametrize(("setter", "count"), [("torch.set_default_device('cuda')", 0), ("torch.device('cuda')", 1)])
def test_a_default_device_that_the_project_sets_is_known(tmp_path: Path, setter: str, count: int) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "settings.py").write_text(f"import torch\n\ndef prepared():\n    {setter}\n")
    path = tmp_path / "network.py"
    path.write_text(NETWORK)
    config = Config(select=("TNS505",))
    assert len(check_bytes(str(path), path.read_bytes(), config).findings) == count
