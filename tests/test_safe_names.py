"""Projects in which a name or an attribute that a fix rests on is rebound where the fix does not look."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

CLASS = (
    "import torch\n\n\nclass Maker:\n    Kind = torch.FloatTensor\n"
    "\n    def make(self):\n        return self.Kind([1, 2])\n"
)
SIZES = "import torch\n\nSIZES = [1, 2]\n\n\ndef make():\n    return torch.Tensor(SIZES)\n"
CHOSEN = (
    "import torch\n\nuse_cuda = torch.cuda.is_available()\n"
    "Kind = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor\n"
    "\n\ndef make():\n    return Kind([1, 2])\n"
)
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
    "a class attribute": (CLASS, "from lib import Maker\n\nprint(Maker().make().dtype)\n"),
    "a class below that binds something else": (
        CLASS,
        "from lib import Maker\n\n\nclass Other(Maker):\n    size = 3\n\n\nprint(Other().make().dtype)\n",
    ),
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
    "a chosen type": (CHOSEN, "import lib\n\nprint(lib.make(), lib.use_cuda)\n"),
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
    "whoever holds the object": (
        CLASS,
        "import torch\nfrom lib import Maker\n\nmaker = Maker()\n"
        "maker.Kind = torch.DoubleTensor\nprint(maker.make().dtype)\n",
    ),
    "the class by its text": (
        CLASS.replace(
            "    def make", "    def take(self, kind):\n        self.__dict__.update(Kind=kind)\n\n    def make"
        ),
        "import torch\nfrom lib import Maker\n\nmaker = Maker()\n"
        "maker.take(torch.DoubleTensor)\nprint(maker.make().dtype)\n",
    ),
    "another file": (SIZES, "import lib\n\nlib.SIZES = 4\nprint(lib.make().shape)\n"),
    "a patch": (
        SIZES,
        'from unittest import mock\n\nimport lib\n\nwith mock.patch("lib.SIZES", 4):\n    print(lib.make().shape)\n',
    ),
    "a function that is given the module": (
        SIZES,
        "import lib\n\n\ndef change(module, **values):\n    for key, value in values.items():\n"
        "        setattr(module, key, value)\n\n\nchange(lib, SIZES=4)\nprint(lib.make().shape)\n",
    ),
    "a function of the own file that is given the module": (
        SIZES + "\n\ndef change(module, value):\n    module.SIZES = value\n",
        "import lib\n\nlib.change(lib, 4)\nprint(lib.make().shape)\n",
    ),
    "a built-in function before the name is another": (
        SIZES.replace("import torch", "import sys\n\nimport torch")
        + "\n\nvars(sys.modules[__name__])['SIZES'] = 4\nvars = []\n",
        "import lib\n\nprint(lib.make().shape)\n",
    ),
    "a loop over modules": (
        SIZES,
        "import lib\n\nfor each in (lib, print):\n    each.SIZES = 4\n    break\nprint(lib.make().shape)\n",
    ),
    "a module by its name": (
        SIZES,
        "import importlib\n\nlib = importlib.import_module('lib')\nlib.SIZES = 4\nprint(lib.make().shape)\n",
    ),
    "a module by a name that is put together": (
        SIZES,
        "import importlib\n\nname = 'l' + 'ib'\nlib = importlib.import_module(name)\nlib.SIZES = 4\n"
        "print(lib.make().shape)\n",
    ),
    "the table of modules": (
        SIZES,
        "import sys\nfrom lib import make\n\nsys.modules['lib'].SIZES = 4\nprint(make().shape)\n",
    ),
    "code that runs in the module": (
        SIZES,
        "import lib\n\nexec('SIZ' + 'ES = 4', lib.__dict__)\nprint(lib.make().shape)\n",
    ),
    "a setter that is handed on": (
        SIZES,
        "from functools import partial\nimport lib\n\nput = partial(setattr, lib)\nput('SIZES', 4)\n"
        "print(lib.make().shape)\n",
    ),
    "a patch of several names": (
        SIZES,
        "from unittest import mock\n\nimport lib\n\nwith mock.patch.multiple('lib', SIZES=4):\n"
        "    print(lib.make().shape)\n",
    ),
    "a patch of the module itself": (
        SIZES,
        "from unittest.mock import patch\n\nimport lib\n\nwith patch.multiple(lib, SIZES=4):\n"
        "    print(lib.make().shape)\n",
    ),
    "a patch of its names": (
        SIZES,
        "from unittest.mock import patch\n\nimport lib\n\nwith patch.dict('lib.__dict__', SIZES=4):\n"
        "    print(lib.make().shape)\n",
    ),
    "the names that its functions see": (
        SIZES,
        "import lib\n\nlib.make.__globals__['SIZES'] = 4\nprint(lib.make().shape)\n",
    ),
    "several of the names that they see": (
        SIZES,
        "from lib import make\n\nmake.__globals__.update({'SIZES': 4})\nprint(make().shape)\n",
    ),
    "other bases of its class": (
        "import torch\n\n\nclass Base:\n    Kind = torch.FloatTensor\n\n\nclass Maker(Base):\n"
        "    def make(self):\n        return self.Kind([1])\n",
        "import torch\nimport lib\n\n\nclass Other:\n    Kind = torch.DoubleTensor\n\n\n"
        "lib.Maker.__bases__ = (Other,)\nprint(lib.Maker().make().dtype)\n",
    ),
    "the module by its text": (
        SIZES + "\n\ndef change(name, value):\n    globals()[name] = value\n",
        'import lib\n\nlib.change("SIZES", 4)\nprint(lib.make().shape)\n',
    ),
    "the flag that chose the type": (CHOSEN, "import lib\n\nlib.use_cuda = True\nprint(lib.make())\n"),
    "a layer by another": (
        NET,
        "import numpy as np\nimport lib\n\nholder = lib.Holder()\n"
        "holder.net = lambda x: np.ones(2)\nprint(holder.copy())\n",
    ),
    "a type by import in another file": (
        CAST,
        "import torch\nimport lib\n\nlib.Kind = torch.FloatTensor\nprint(lib.cast(torch.ones(2)).dtype)\n",
    ),
    "torch itself": (
        CLASS.replace("self.Kind", "torch.FloatTensor"),
        "import torch\nimport lib\n\nkept = torch.FloatTensor\ntorch.FloatTensor = torch.DoubleTensor\n"
        "print(lib.Maker().make().dtype)\ntorch.FloatTensor = kept\n",
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


def test_a_list_that_another_file_replaces_by_a_live_tensor_is_detached(tmp_path: Path) -> None:
    replaces = "import torch\nimport lib\n\nlib.ROWS = torch.ones(2, requires_grad=True) * 2\n"
    main = f"{replaces}print(lib.make().requires_grad)\n"
    changed = check_runs_alike(tmp_path, {"lib.py": ROWS, "main.py": main})
    assert ".detach()" in changed["lib.py"]


HANDED = "import lib\n\n\ndef shown(module):\n    return module.make()\n\n\nprint(shown(lib))\n"
OLD = (
    "import torchvision.models as models\n\nnames = sorted(models.__dict__)\n\n\n"
    "def train(x, {}):\n    return x.cuda(async=True), {}\n"
)


@pytest.mark.parametrize(
    ("old", "is_repaired"),
    [(OLD.format("SIZES", "SIZES"), True), ("import lib\n\nlib.SIZES = 4\n" + OLD.format("n", "n"), False)],
)
def test_a_file_of_an_older_python_says_what_it_binds(tmp_path: Path, old: str, is_repaired: bool) -> None:
    files = {"lib.py": SIZES, "main.py": HANDED, "old.py": old}
    assert ("lib.py" in check_runs_alike(tmp_path, files, "lib.py")) == is_repaired


def test_a_file_that_no_python_reads_may_bind_each_of_its_words(tmp_path: Path) -> None:
    old = OLD.format("SIZES", "SIZES")
    files = {"lib.py": SIZES, "main.py": HANDED, "old.py": old + "print SIZES\n"}
    assert check_runs_alike(tmp_path, files, "lib.py") == {}
