"""What a function is handed by its own file, where another file may call it: projects before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

PROGRAM = """
import torch


def make(v):
    return torch.Tensor(v).shape


if __name__ == "__main__":
    print(make([1, 2]))
"""
PRIVATE = """
import torch


def _make(v):
    def deeper():
        return torch.FloatTensor(v).shape

    return deeper()


print(_make((1, 2)))
"""
METHOD = """
import torch


class Net:
    def _make(self, v):
        return torch.Tensor(v).shape

    def run(self):
        return self._make([1, 2])
"""
LOOP = """
import torch


def make(values):
    return [torch.Tensor(each).shape for each in values]


if __name__ == "__main__":
    print(make([[1, 2]]))
"""
CALLERS = {
    "attribute": (PROGRAM, "import lib\nprint(lib.make(3))\n"),
    "import": (PROGRAM, "from lib import make\nprint(make(3))\n"),
    "star": (PROGRAM, "from lib import *\nprint(make(3))\n"),
    "size": (PROGRAM, "import torch\nfrom lib import make\nprint(make(torch.Size([2, 3])))\n"),
    "handed on": (PROGRAM, "from lib import make\nprint(list(map(make, [3])))\n"),
    "by text": (PROGRAM, 'import lib\nfor word in ("make",):\n    print(getattr(lib, word)(3))\n'),
    "private": (PRIVATE, "from lib import _make\nprint(_make(3))\n"),
    "method": (METHOD, "import lib\nprint(lib.Net()._make(3))\n"),
    "class below": (
        METHOD,
        "import lib\nclass Sub(lib.Net):\n    def go(self):\n        return self._make(3)\nprint(Sub().go())\n",
    ),
    "class below, super": (
        METHOD,
        "import lib\nclass Sub(lib.Net):\n    def go(self):\n        return super()._make(3)\nprint(Sub().go())\n",
    ),
    "array": (
        PRIVATE.replace("FloatTensor(v)", "FloatTensor(np.asarray(v))").replace(
            "import torch", "import numpy as np\nimport torch"
        ),
        "from lib import _make\nprint(_make(3))\n",
    ),
    "class beside": (
        METHOD,
        "import lib\nclass Mixin:\n    def go(self):\n        return self._make(3)\n"
        "class Sub(Mixin, lib.Net):\n    pass\n"
        "class Other:\n    def _make(self, v):\n        return v\nprint(Sub().go())\n",
    ),
    "class beside with one of its own": (
        METHOD,
        "import lib\nclass Mixin:\n    def _make(self, v):\n        return v\n    def go(self):\n"
        "        return self._make(3)\nclass Sub(lib.Net, Mixin):\n    pass\nprint(Sub().go())\n",
    ),
    "elements": (LOOP, "from lib import make\nprint(make([3]))\n"),
}


@pytest.mark.parametrize("way", CALLERS)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_an_argument_may_be_anything_where_another_file_calls(tmp_path: Path, way: str, alone: bool) -> None:
    lib, main = CALLERS[way]
    changed = check_runs_alike(tmp_path, {"lib.py": lib, "main.py": main}, *(["lib.py"] if alone else []))
    assert "lib.py" not in changed


@pytest.mark.parametrize("flag", ["1", "True"])
def test_a_flag_may_be_a_number_where_another_file_calls(tmp_path: Path, flag: str) -> None:
    lib = (
        "import torch\nfrom torch.autograd import Variable\n\n\n"
        "def _leaf(flag):\n    return Variable(torch.ones(2), requires_grad=flag)\n\n\nprint(_leaf(False))\n"
    )
    changed = check_runs_alike(tmp_path, {"lib.py": lib, "main.py": f"import lib\nprint(lib._leaf({flag}))\n"})
    assert "lib.py" not in changed


def test_a_class_above_in_another_file_calls_its_own_method_which_is_ours(tmp_path: Path) -> None:
    base = "class Base:\n    def _make(self, v):\n        return v\n    def go(self):\n        return self._make(3)\n"
    lib = f"from base import Base\n{METHOD.replace('class Net', 'class Net(Base)')}"
    files = {"base.py": base, "lib.py": lib, "main.py": "import lib\nprint(lib.Net().run(), lib.Net().go())\n"}
    assert "lib.py" not in check_runs_alike(tmp_path, files)
