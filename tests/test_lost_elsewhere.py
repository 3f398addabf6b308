"""Parameters that one file makes and loses, and a module of another one keeps."""

from __future__ import annotations

from pathlib import Path

from torchlint.config import Config
from torchlint.diagnostics.model import Finding
from torchlint.knowledge import look_again
from torchlint.linter.engine import check_bytes

NET = """import torch
from torch import nn
from made import weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = {}
"""


def _found(folder: Path, made: str, kept: str = "weight(3)") -> tuple[Finding, ...]:
    (folder / ".git").mkdir()
    path = folder / "made.py"
    path.write_text(f"import torch\nfrom torch import nn\n\n\ndef weight(count):\n    return {made}\n")
    (folder / "net.py").write_text(NET.format(kept))
    look_again()
    return check_bytes(str(path), path.read_bytes(), Config(select=("TNS502",))).findings


def test_a_module_of_another_file_keeps_it(tmp_path: Path) -> None:
    (found,) = _found(tmp_path, "nn.Parameter(torch.zeros(count)).double()")
    assert found.why[0] == "`nn.Parameter(torch.zeros(count)).double()` is no leaf, line 6"
    assert found.why[1] == f"`self.weight` keeps it, {tmp_path / 'net.py'} line 9"


def test_it_is_a_parameter_still(tmp_path: Path) -> None:
    """A cast to the dtype that it has gives the parameter itself."""
    assert not _found(tmp_path, "nn.Parameter(torch.zeros(count)).float()")


def test_it_is_wrapped_again(tmp_path: Path) -> None:
    assert not _found(tmp_path, "nn.Parameter(torch.zeros(count)).double()", "nn.Parameter(weight(3))")
