"""Projects in which a fix that was called safe did damage: `--fix` must leave what they print as it was."""

from __future__ import annotations

from pathlib import Path

from tests.before_and_after import check_runs_alike


def test_a_wrapper_of_a_fresh_tensor_goes(tmp_path: Path) -> None:
    files = {"main.py": "import torch\nfrom torch.autograd import Variable\n\nprint(Variable(torch.zeros(2)))\n"}
    changed = check_runs_alike(tmp_path, files)
    assert changed == {"main.py": "import torch\n\nprint(torch.zeros(2))\n"}
