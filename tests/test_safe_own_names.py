"""Projects run before and after `--fix`: whose function of a common name is called where an error is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import fixed, written

TRAIN = "import torch\n\n\ndef main():\n    x = torch.ones(2, requires_grad=True)\n    return x.numpy()\n"
TRY = "\ntry:\n    print({}())\nexcept RuntimeError:\n    print('is trained')\n"
OWN = "\n\ndef main():\n    return 3\n\n"


OTHERS = {
    "its own": {"main.py": OWN + TRY.format("main")},
    "another module's": {"runs.py": OWN, "main.py": "from runs import main\n" + TRY.format("main")},
    "another module's under a name": {
        "runs.py": OWN,
        "main.py": "from runs import main as start\n" + OWN + TRY.format("start"),
    },
    "its own class": {
        "train.py": "import torch\n\n\nclass Net:\n    def __init__(self):\n"
        "        print(torch.ones(2, requires_grad=True).numpy())\n",
        "main.py": "class Net:\n    pass\n\n" + TRY.format("Net"),
    },
}


@pytest.mark.parametrize("case", OTHERS)
def test_the_error_of_another_function_of_the_name_is_none(tmp_path: Path, case: str) -> None:
    files = {"train.py": TRAIN, **OTHERS[case]}
    written(tmp_path, files)
    changed = fixed(tmp_path)
    assert ".detach().numpy()" in changed["train.py"]
