"""Projects run before and after `--fix`: what `from module import *` rebinds, and which built-ins it hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

BOUND_ANEW = {
    "a list": {
        "consts.py": "V = 3\n",
        "main.py": "import torch\n\nV = [1, 2]\n\n\ndef use():\n    return torch.Tensor(V).shape\n\n\n"
        "from consts import *\n\nprint(use())\n",
    },
    "a list of the module's own code": {
        "consts.py": "V = 3\n",
        "main.py": "import torch\n\nV = [1, 2]\nfrom consts import *\n\nprint(torch.Tensor(V).shape)\n",
    },
    "through another module": {
        "deep.py": "V = 3\n",
        "consts.py": "from deep import *\n",
        "main.py": "import torch\n\nV = [1, 2]\nfrom consts import *\n\nprint(torch.Tensor(V).shape)\n",
    },
    "by modules that take from each other": {
        "consts.py": "import torch\n\nV = 3\nfrom main import *\n",
        "main.py": "import torch\n\nV = [1, 2]\nfrom consts import *\n\nprint(torch.Tensor(V).shape)\n",
    },
    "a name of torch": {
        "nets.py": "def FloatTensor(values):\n    return values\n",
        "main.py": "import torch\nfrom torch import FloatTensor\nfrom nets import *\n\nprint(FloatTensor([1]))\n",
    },
    "in a branch": {
        "consts.py": "V = 3\n",
        "main.py": "import torch\n\nV = [1, 2]\nif True:\n    from consts import *\n\nprint(torch.Tensor(V).shape)\n",
    },
    "by NumPy": {"main.py": "import torch\n\ne = torch.ones(2)\nfrom numpy import *\n\nprint(torch.tensor(e))\n"},
}
HIDDEN = {
    "max of NumPy": "from numpy import *\nimport torch\n\nprint(torch.LongTensor(max([[1, 2], [3, 4]])).shape)\n",
    "sum of NumPy": "from numpy import *\nimport torch\n\nprint(torch.LongTensor(sum([[1, 2], [3]], [])).shape)\n",
    "min through a module": "from lib import *\nimport torch\n\nprint(torch.LongTensor(min([[1, 2], [3, 4]])).shape)\n",
}
KEPT = {
    "a name that it does not bind": {
        "consts.py": "W = 3\n",
        "main.py": "import torch\n\nV = [1, 2]\nfrom consts import *\n\nprint(torch.Tensor(V))\n",
    },
    "a name that is private": {
        "consts.py": "_V = 3\n",
        "main.py": "import torch\n\n_V = [1, 2]\nfrom consts import *\n\nprint(torch.Tensor(_V))\n",
    },
    "a name bound behind it": {
        "consts.py": "V = 3\n",
        "main.py": "import torch\nfrom consts import *\n\nV = [1, 2]\nprint(torch.Tensor(V))\n",
    },
    "the same name of torch": {
        "nets.py": "from torch import FloatTensor\n",
        "main.py": "import torch\nfrom torch import FloatTensor\nfrom nets import *\n\nprint(FloatTensor([1]))\n",
    },
    "a built-in that NumPy leaves": {
        "main.py": "from numpy import *\nimport torch\n\nprint(torch.LongTensor(sorted([2, 1])))\n"
    },
    "a built-in beside a module of the project": {
        "consts.py": "W = 3\n",
        "main.py": "import torch\nfrom consts import *\n\nprint(torch.Tensor(max(1, 2)).shape)\n",
    },
}


@pytest.mark.parametrize("case", BOUND_ANEW)
def test_a_star_binds_anew_what_stands_above_it(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, BOUND_ANEW[case]) == {}


@pytest.mark.parametrize("case", HIDDEN)
def test_a_star_hides_built_in_functions(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, {"lib.py": "from numpy import *\n", "main.py": HIDDEN[case]}) == {}


@pytest.mark.parametrize("case", KEPT)
def test_what_no_star_binds_is_repaired(tmp_path: Path, case: str) -> None:
    assert list(check_runs_alike(tmp_path, KEPT[case])) == ["main.py"]
