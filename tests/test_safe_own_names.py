"""Projects run before and after `--fix`: whose function of a common name is called where an error is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written

TRAIN = "import torch\n\n\ndef main():\n    x = torch.ones(2, requires_grad=True)\n    return x.numpy()\n"
TRY = "\ntry:\n    print({}())\nexcept RuntimeError:\n    print('is trained')\n"
OWN = "\n\ndef main():\n    return 3\n\n"

CALLED = {
    "imported": {"main.py": "from train import main\n" + TRY.format("main")},
    "imported under a name": {"main.py": "from train import main as start\n" + TRY.format("start")},
    "of the module": {"main.py": "import train\n" + OWN + TRY.format("train.main")},
    "through a package": {
        "lib/__init__.py": "from train import main\n",
        "main.py": "from lib import main\n" + TRY.format("main"),
    },
    "through a function of the name": {
        "other.py": "from train import main as inner\n\n\ndef main():\n    return inner()\n",
        "main.py": "from other import main\n" + TRY.format("main"),
    },
    "as a star": {"main.py": "from train import *\n" + TRY.format("main")},
    "behind a function of the name": {"main.py": OWN + "from train import main\n" + TRY.format("main")},
    "in place of a function of the name": {
        "other.py": OWN,
        "main.py": "try:\n    from train import main\nexcept ImportError:\n    from other import main\n"
        + TRY.format("main"),
    },
    "of two of a name": {
        "lib/train.py": OWN.lstrip(),
        "main.py": "from train import main\n" + TRY.format("main"),
    },
    "as another's argument": {
        "runs.py": OWN
        + "def run(main):\n    try:\n        print(main())\n    except RuntimeError:\n        print(1)\n",
        "main.py": "from runs import run\nfrom train import main\n\nrun(main)\n",
    },
    "bound in another module": {
        "runs.py": OWN,
        "other.py": "from runs import main\n" + TRY.format("main"),
        "main.py": "import runs\nimport train\n\nruns.main = train.main\nimport other\n",
    },
    "bound there by its text": {
        "runs.py": OWN,
        "other.py": "from runs import main\n" + TRY.format("main"),
        "main.py": "import runs\nimport train\n\nsetattr(runs, 'main', train.main)\nimport other\n",
    },
    "patched": {
        "runs.py": OWN,
        "main.py": "from unittest.mock import patch\n\nimport runs\nimport train\n\n"
        "with patch('runs.main', train.main):\n    from runs import main\n" + TRY.format("main"),
    },
    "by a class below of the name": {
        "nets.py": "import train\n\n\nclass Net(train.Net):\n    pass\n\n" + TRY.format("Net"),
        "main.py": "import nets\n",
        "train.py": "import torch\n\n\nclass Net:\n    def __init__(self):\n"
        "        print(torch.ones(2, requires_grad=True).numpy())\n",
    },
}


@pytest.mark.parametrize("case", CALLED)
def test_the_error_of_the_function_itself_is_expected(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, {"train.py": TRAIN, **CALLED[case]}) == {}


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
