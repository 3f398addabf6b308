"""Projects in which other files decide whether a fix is safe: names taken from a module, defaults set elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, printed, written

NETS = "import torch\nfrom torch.autograd import Variable\n\n\ndef make():\n    return torch.ones(2)\n"
TAKERS = {
    "star": "from nets import *\n\nprint(Variable(make()).sum())\n",
    "import": "from nets import Variable, make\n\nprint(Variable(make()).sum())\n",
    "import under a name": "from nets import make, Variable as V\n\nprint(V(make()).sum())\n",
    "attribute": "import nets\n\nwrap = nets.Variable\nprint(wrap(nets.make()).sum())\n",
    "attribute of an alias": "import nets as n\n\nwrap = n.Variable\nprint(wrap(n.make()).sum())\n",
    "getattr": 'import nets\n\nprint(getattr(nets, "Variable")(nets.make()).sum())\n',
    "import_module": "from importlib import import_module\n\nnets = import_module('nets')\nprint(nets.Variable)\n",
}


@pytest.mark.parametrize("way", TAKERS)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_an_import_stays_that_another_file_takes(tmp_path: Path, way: str, alone: bool) -> None:
    files = {"nets.py": NETS, "main.py": TAKERS[way]}
    changed = check_runs_alike(tmp_path, files, *(["nets.py"] if alone else []))
    assert "nets.py" not in changed


def test_an_import_goes_that_no_other_file_takes(tmp_path: Path) -> None:
    main = (
        "import nets\nfrom nets import make\nfrom torch.autograd import Variable\n\n"
        "print(Variable(make()).sum(), getattr(nets, 'make')().sum())\n"
    )
    changed = check_runs_alike(tmp_path, {"nets.py": NETS, "main.py": main}, "nets.py")
    assert changed == {"nets.py": NETS.replace("from torch.autograd import Variable\n", "")}


PROGRAM = "import os\nimport sys\nimport time\n\n" + NETS + "\n\nfor step in range(2):\n    print(make(), step)\n"


@pytest.mark.parametrize("other", ["print('train')\n", "import trainer\n", "train = 3\nprint(train)\n"])
def test_unused_imports_of_a_program_are_an_oversight(tmp_path: Path, other: str) -> None:
    changed = check_runs_alike(tmp_path, {"train.py": PROGRAM, "trainer.py": "", "main.py": other}, "train.py")
    assert changed == {"train.py": PROGRAM.replace("from torch.autograd import Variable\n", "")}


def test_a_chain_of_stars_keeps_the_import(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "from .nets import *\n",
        "lib/_nets.py": "",
        "lib/nets.py": NETS,
        "main.py": "from lib import *\n\nprint(Variable(make()).sum())\n",
    }
    assert "lib/nets.py" not in check_runs_alike(tmp_path, files)


@pytest.mark.parametrize(
    "own",
    [
        "print('Variable' in globals())\n",
        "names = [n for n in list(globals()) if n[0].isupper()]\n__all__ = names + ['make']\nprint(__all__)\n",
    ],
)
def test_an_import_stays_that_the_file_may_reach_at_run_time(tmp_path: Path, own: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": NETS + "\n\n" + own}) == {}


@pytest.mark.parametrize("comment", ["# noqa: F401", "# NOQA:F401,E501", "# pylint: disable=unused-import"])
def test_an_import_stays_that_a_comment_says_is_for_others(tmp_path: Path, comment: str) -> None:
    text = NETS.replace("import Variable", f"import Variable  {comment}") + "\n\nprint(make())\n"
    assert check_runs_alike(tmp_path, {"main.py": text}) == {}


def test_an_import_of_a_package_goes_that_no_file_takes(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "from lib._inner import make\n",
        "lib/nets.py": NETS,
        "lib/_inner.py": NETS,
        "main.py": "import lib\n\nprint(lib.make())\n",
    }
    assert sorted(check_runs_alike(tmp_path, files)) == ["lib/_inner.py", "lib/nets.py"]


def test_a_notebook_that_takes_the_name_keeps_it(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": each}
             for each in (["from nets import *\n", "Variable"],)]  # fmt: skip
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    written(tmp_path, {"nets.py": NETS, "look.ipynb": book})
    assert fixed(tmp_path, "nets.py") == {}


def test_what_another_file_no_longer_takes_goes_in_the_same_run(tmp_path: Path) -> None:
    main = "import torch\nimport nets\n\nprint(nets.Variable(torch.zeros(2)))\n"
    files = {"nets.py": NETS, "main.py": main}
    changed = check_runs_alike(tmp_path, files)
    assert changed == {
        "nets.py": NETS.replace("from torch.autograd import Variable\n", ""),
        "main.py": main.replace("nets.Variable(torch.zeros(2))", "torch.zeros(2)"),
    }
    assert fixed(tmp_path) == {}


# ---------------------------------------------------------------------- defaults
USES = (
    "import torch\n\n\ndef make():\n"
    "    return torch.Tensor([1, 2]), torch.Tensor(2).fill_(1), torch.FloatTensor([3])\n\n\n"
    "def shown():\n    return [(str(each.dtype), str(each.device)) for each in make()]\n"
)
SETTERS = {
    "dtype": "import torch\n\nfrom uses import shown\n\ntorch.set_default_dtype(torch.float64)\nprint(shown())\n",
    "tensor type": (
        "import torch\n\nfrom uses import shown\n\n"
        "torch.set_default_tensor_type('torch.DoubleTensor')\nprint(shown())\n"
    ),
    "device": "import torch\n\nfrom uses import shown\n\ntorch.set_default_device('meta')\nprint(shown())\n",
    "context": "import torch\n\nfrom uses import shown\n\nwith torch.device('meta'):\n    print(shown())\n",
    "context by name": (
        "import torch\n\nfrom uses import shown\n\nwhere = torch.device('meta')\nwith where:\n    print(shown())\n"
    ),
    "stack": (
        "import torch\nfrom contextlib import ExitStack\n\nfrom uses import shown\n\n"
        "with ExitStack() as stack:\n    stack.enter_context(torch.device('meta'))\n    print(shown())\n"
    ),
    "decorator": (
        "import torch\n\nfrom uses import shown\n\n\n@torch.device('meta')\ndef run():\n    print(shown())\n\n\nrun()\n"
    ),
}


@pytest.mark.parametrize("way", SETTERS)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_a_default_set_elsewhere_is_asked_for_or_written(tmp_path: Path, way: str, alone: bool) -> None:
    files = {"uses.py": USES, "main.py": SETTERS[way]}
    changed = check_runs_alike(tmp_path, files, *(["uses.py"] if alone else [])).get("uses.py", USES)
    assert "torch.Tensor([1, 2])" not in changed
    assert "torch.FloatTensor" not in changed


def test_a_tensor_type_and_a_device_leave_open_which_of_them_counts(tmp_path: Path) -> None:
    files = {"uses.py": USES, "main.py": SETTERS["tensor type"], "other.py": SETTERS["device"]}
    assert "torch.Tensor([1, 2])" in check_runs_alike(tmp_path, files, "uses.py").get("uses.py", USES)


def test_a_default_set_by_a_test_counts(tmp_path: Path) -> None:
    conftest = "import pytest\nimport torch\n\n\n@pytest.fixture(autouse=True)\ndef double():\n"
    conftest += "    torch.set_default_dtype(torch.float64)\n    yield\n    torch.set_default_dtype(torch.float32)\n"
    written(tmp_path, {"uses.py": USES, "tests/conftest.py": conftest})
    changed = fixed(tmp_path, "uses.py")
    assert "torch.tensor([1, 2], dtype=torch.get_default_dtype()), torch.empty(2).fill_(1)" in changed["uses.py"]


def test_contexts_that_are_no_device_keep_no_constructor(tmp_path: Path) -> None:
    main = (
        "import threading\nimport torch\n\nfrom uses import shown\n\nlock = threading.Lock()\n"
        "kind = getattr(torch, f'float{64}')\ndtype = getattr(torch, 'float' + '32')\n"
        "with lock, torch.no_grad(), torch.cuda.device(-1):\n    print(shown(), kind, dtype)\n"
    )
    assert "uses.py" in check_runs_alike(tmp_path, {"uses.py": USES, "main.py": main})


# ---------------------------------------------------------------------- the name torch
def test_an_import_in_a_function_never_becomes_one_of_the_module(tmp_path: Path) -> None:
    helper = "def wrapped(x):\n    from deep import Variable\n\n    return isinstance(x, Variable)\n"
    deep = "from torch.autograd import Variable\n\n__all__ = ['Variable']\n"
    main = "import sys\nimport helper\n\nprint('torch' in sys.modules and 'torch' in vars(helper), helper.wrapped(1))\n"
    assert check_runs_alike(tmp_path, {"helper.py": helper, "deep.py": deep, "main.py": main}) == {}


def test_a_parameter_named_torch_is_not_the_module(tmp_path: Path) -> None:
    main = (
        "from torch.autograd import Variable\n\n\ndef ask(x, torch):\n    return isinstance(x, Variable), torch\n"
        "\n\nprint(ask(1, 'a word'))\n"
    )
    assert check_runs_alike(tmp_path, {"main.py": main}) == {}


def test_the_program_shows_why_a_fix_is_not_safe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, {"nets.py": NETS, "main.py": TAKERS["attribute"]})
    before = printed(tmp_path)
    fixed(tmp_path, "nets.py")
    assert printed(tmp_path) == before
    from torchlint.cli import main

    main(["--no-cache", "--isolated", "--output-format", "json", str(tmp_path / "nets.py")])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["fix"]["applicability"] == "unsafe"
    assert found["fix"]["message"] == (
        "Remove the import of `Variable`; assumes that other files do without `Variable` from this module "
        "(`main.py` takes `Variable` from here)"
    )


def test_what_another_file_traces_keeps_its_data(tmp_path: Path) -> None:
    net = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        scale = torch.abs(x)\n        return x / (scale.data + 1)\n"
    )
    main = "import torch\n\nfrom net import Net\n\ntraced = torch.jit.trace(Net(), torch.ones(2))\n"
    main += "print(traced(torch.zeros(2) + 3))\n"
    assert check_runs_alike(tmp_path, {"net.py": net, "main.py": main}, "net.py") == {}
    (tmp_path / "main.py").write_text("from net import Net\n")
    assert "scale.detach()" in fixed(tmp_path, "net.py")["net.py"]


# ---------------------------------------------------------------------- errors
TO_ARRAY = (
    "import torch\n\nweight = torch.ones(2, requires_grad=True)\n\n\ndef to_array():\n    return weight.numpy()\n"
)


@pytest.mark.parametrize(
    "main",
    [
        "from arrays import to_array\n\ntry:\n    import json\nexcept ImportError:\n    pass\nprint(to_array())\n",
        "from arrays import to_array\n\ntry:\n    print(to_array())\nexcept (KeyError, OSError):\n    print('no')\n",
        "from arrays import weight\n\ntry:\n    print(weight)\nexcept RuntimeError:\n    print('no')\n",
    ],
)
def test_an_error_that_nobody_expects_is_repaired(tmp_path: Path, main: str) -> None:
    written(tmp_path, {"arrays.py": TO_ARRAY, "main.py": main})
    assert fixed(tmp_path, "arrays.py") == {"arrays.py": TO_ARRAY.replace("weight.numpy", "weight.detach().numpy")}


# ---------------------------------------------------------------------- initialisers
RESET = (
    "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.w = nn.Parameter(torch.ones(2))\n        self.reset_parameters()\n\n"
    "    def reset_parameters(self):\n        self.w.data.zero_()\n\n"
    "    def forward(self, x):\n        return (self.w * self.w * x).sum()\n"
)


def test_what_is_taken_as_text_from_an_imported_module_is_no_initialiser(tmp_path: Path) -> None:
    use = "n = Net()\nprint(n(torch.ones(2)), getattr(nn, 'Re' + 'LU')())\n"
    assert "nn.init.zeros_(" in check_runs_alike(tmp_path, {"main.py": f"{RESET}\n\n{use}"})["main.py"]


SETTINGS = "SIZES = [1, 2]\n\n\nclass Options:\n    sizes = [1, 2]\n"
SIZED = {
    "import": ("from settings import SIZES\n", "SIZES"),
    "import under a name": ("from settings import SIZES as S\n", "S"),
    "module": ("import settings\n", "settings.SIZES"),
    "class": ("from settings import Options\n", "Options.sizes"),
}


@pytest.mark.parametrize("way", SIZED)
def test_a_setting_of_another_module_is_what_it_is_there(tmp_path: Path, way: str) -> None:
    statement, code = SIZED[way]
    uses = f"import torch\n{statement}\n\ndef make():\n    return torch.Tensor({code}).shape\n"
    files = {"settings.py": SETTINGS, "uses.py": uses, "main.py": "import uses\nprint(uses.make())\n"}
    assert "uses.py" in check_runs_alike(tmp_path, files)


TEXT = "SIZE = 3\nexec(open(__file__.replace('settings.py', 'chosen.txt')).read())\n"
GLOBALS = "SIZE = 3\nfor key in ['SI' + 'ZE']:\n    globals()[key] = (3, 1)\n"


@pytest.mark.parametrize("settings", [TEXT, GLOBALS, GLOBALS.replace("[key] = (3, 1)", ".update({key: (3, 1)})")])
def test_a_setting_may_be_bound_by_a_text_in_its_own_module(tmp_path: Path, settings: str) -> None:
    files = {
        "settings.py": settings,
        "chosen.txt": "SIZE = (3, 1)\n",
        "main.py": "import torch\nimport settings\n\nprint(torch.Tensor(settings.SIZE).zero_())\n",
    }
    assert "main.py" not in check_runs_alike(tmp_path, files)


OPTIONAL = {
    "a list before": "SIZES = [1.0, 2.0]\ntry:\n    from fast import SIZES\nexcept ImportError:\n    pass\n",
    "a list instead": "try:\n    from fast import SIZES\nexcept ImportError:\n    SIZES = [1.0, 2.0]\n",
}


@pytest.mark.parametrize("way", OPTIONAL)
@pytest.mark.parametrize("spelled", ["import settings as s", "from settings import SIZES as S"])
def test_an_import_of_another_file_may_fail(tmp_path: Path, way: str, spelled: str) -> None:
    code = "S" if "SIZES" in spelled else "s.SIZES"
    files = {
        "settings.py": OPTIONAL[way],
        "fast.py": "import not_installed_here\n\nSIZES = 3\n",
        "main.py": f"import torch\n{spelled}\n\nprint(torch.Tensor({code}).zero_().shape)\n",
    }
    assert "main.py" not in check_runs_alike(tmp_path, files)
