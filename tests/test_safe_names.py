"""Projects in which a class below binds an attribute anew that a fix rests on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

CLASS = (
    "import torch\n\n\nclass Maker:\n    Kind = torch.FloatTensor\n"
    "\n    def make(self):\n        return self.Kind([1, 2])\n"
)
SIZES = "import torch\n\nSIZES = [1, 2]\n\n\ndef make():\n    return torch.Tensor(SIZES)\n"
NET = (
    "import torch\nfrom torch import nn\n\n\nclass Holder:\n"
    "    def __init__(self):\n        self.net = nn.Linear(2, 2)\n"
    "\n    def copy(self):\n        y = self.net(torch.ones(1, 2))\n        return torch.tensor(y)\n"
)
CAST = (
    "import torch\nfrom torch import DoubleTensor as Kind\n\n\n"
    "def cast(x):\n    return torch.relu(x + torch.ones(2)).type(Kind)\n"
)

ROWS = (
    "import torch\nfrom torch.autograd import Variable\n\nROWS = [1.0, 2.0]\n\n\n"
    "def make():\n    return Variable(torch.Tensor(ROWS)) * 2\n"
)

USES = {
    "a list of the module": (SIZES, "import lib\n\nprint(lib.make(), lib.SIZES)\n"),
    "a module that is handed on, and other names": (
        SIZES,
        "import lib\n\n\ndef change(module, options):\n    options.sizes = 3\n    return module.make()\n\n\n"
        "print(change(lib, print if 0 else change), lib.SIZES)\n",
    ),
    "an object with an attribute of the name": (
        SIZES,
        "import lib\n\n\ndef change(options):\n    options.SIZES = 3\n\n\nchange(change)\nprint(lib.make())\n",
    ),
    "a module by its name that is only read": (
        SIZES,
        "import importlib\n\nlib = importlib.import_module('lib')\nprint(lib.make(), lib.SIZES)\n",
    ),
    "a layer of an object": (
        NET,
        "import torch\nimport lib\n\ntorch.manual_seed(0)\nprint(lib.Holder().copy().shape)\n",
    ),
    "a list of numbers": (ROWS, "import lib\n\nprint(lib.make(), len(lib.ROWS))\n"),
    "a local list called as a built-in function": (
        SIZES + "\n\ndef names(found):\n    vars = []\n    vars.extend(found)\n    return vars\n",
        "import lib\n\nprint(lib.make(), lib.names('ab'))\n",
    ),
    "a type by import": (CAST, "import torch\nimport lib\n\nprint(lib.cast(torch.ones(2)).dtype)\n"),
}
"""In these nothing is rebound, and the fix is made."""

REBINDING = {
    "a class below": (
        CLASS,
        "import torch\nfrom lib import Maker\n\n\nclass Double(Maker):\n    Kind = torch.DoubleTensor\n\n\n"
        "print(Double().make().dtype)\n",
    ),
    "a constructor below": (
        CLASS,
        "import torch\nimport lib\n\n\nclass Double(lib.Maker):\n"
        "    def __init__(self):\n        self.Kind = torch.DoubleTensor\n"
        "\n\nprint(Double().make().dtype)\n",
    ),
    "a class beside the one below": (
        CLASS,
        "import torch\nfrom lib import Maker\n\n\nclass Mixin:\n"
        "    Kind = torch.DoubleTensor\n\n\nclass Both(Mixin, Maker):\n"
        "    pass\n\n\nprint(Both().make().dtype)\n",
    ),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_a_fix_is_made_where_nothing_is_bound_anew(tmp_path: Path, use: str, alone: bool) -> None:
    lib, main = USES[use]
    changed = check_runs_alike(tmp_path, {"lib.py": lib, "main.py": main}, *(["lib.py"] if alone else []))
    assert "lib.py" in changed


@pytest.mark.parametrize("way", REBINDING)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_no_fix_is_made_where_something_is_bound_anew(tmp_path: Path, way: str, alone: bool) -> None:
    lib, main = REBINDING[way]
    changed = check_runs_alike(tmp_path, {"lib.py": lib, "main.py": main}, *(["lib.py"] if alone else []))
    assert "lib.py" not in changed
