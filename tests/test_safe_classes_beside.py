"""What a class's objects hold and do where a class of another file stands beside it: projects before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

METHOD = """
import torch


class Base:
    def sizes(self):
        return 3

    def buffer(self):
        return torch.Tensor(self.sizes()).zero_()
"""
ATTRIBUTE = """
import torch


class Base:
    n = 3

    def buffer(self):
        return torch.Tensor(self.n).zero_()
"""
SHOWN = "print(Child().buffer().shape)\n"
MATRIX = "class Matrix:\n    n = (3, 1)\n    def sizes(self):\n        return (3, 1)\n"
CHILD = f"from lib import Base\nfrom mix import Matrix\nclass Child(Matrix, Base):\n    pass\n{SHOWN}"
BESIDE = {
    "in a third file": {"main.py": CHILD, "mix.py": MATRIX},
    "above what is in a third file": {
        "main.py": CHILD.replace("Matrix", "Mixin"),
        "mix.py": "import deep\nclass Mixin(deep.Matrix):\n    pass\n",
        "deep.py": MATRIX,
    },
    "of a class further below": {
        "main.py": f"from mid import Middle\nfrom mix import Matrix\nclass Child(Matrix, Middle):\n    pass\n{SHOWN}",
        "mid.py": "from lib import Base\nclass Middle(Base):\n    pass\n",
        "mix.py": MATRIX,
    },
    "in the own file": {"main.py": CHILD.replace("from mix", "from lib"), "lib.py": MATRIX},
    "under other names": {
        "main.py": "import lib, mix\nMixin = mix.Matrix\nOurs = lib.Base\n"
        f"class Child(Mixin, Ours):\n    pass\n{SHOWN}",
        "mix.py": MATRIX,
    },
    "under the names of a third file": {
        "main.py": f"from mid import Mixin, Ours\nclass Child(Mixin, Ours):\n    pass\n{SHOWN}",
        "mid.py": "from lib import Base as Ours\nfrom mix import Matrix as Mixin\n",
        "mix.py": MATRIX,
    },
    "by a function": {
        "main.py": f"from lib import Base\nfrom mix import made\nclass Child(made(), Base):\n    pass\n{SHOWN}",
        "mix.py": f"def made():\n    {MATRIX.replace(chr(10), chr(10) + '    ').rstrip()}\n    return Matrix\n",
    },
}
BODIES = {
    "a handler": "try:\n        import not_installed_here\n    except ImportError:\n        n = (3, 1)\n",
    "a loop": "for n in [(3, 1)]:\n        pass\n",
    "a context": "with contextlib.nullcontext():\n        n = (3, 1)\n",
    "what a context gives": "with contextlib.nullcontext((3, 1)) as n:\n        pass\n",
    "an import": "from mix import n\n",
}
NET = """
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = self.make_layer()
        self.init_weights()

    def make_layer(self):
        return nn.Linear(2, 2)

    def init_weights(self):
        self.fc.weight.data.mul_(0.5)
"""
SHARED = "import torch.nn as nn\nSHARED = nn.Linear(2, 2)\n"
TRAINED = """
import torch
from lib import Net
from mix import Mixin
class Child(Mixin, Net):
    pass
net = Child()
loss = net.fc(net.fc(torch.ones(1, 2))).sum()
Child()
loss.backward()
print(net.fc.weight.grad is not None)
"""
SHARING = {
    "method": f"{SHARED}class Mixin:\n    def make_layer(self):\n        return SHARED\n",
    "property": f"{SHARED}class Mixin:\n    fc = property(lambda self: SHARED, lambda self, layer: None)\n",
}

LISTED = """
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        for p in self.parameters():
            p.data.mul_(0.5)
"""
HANDED_ON = """
import torch.nn as nn


def start(module):
    for each in module.modules():
        if isinstance(each, nn.Linear):
            each.weight.data.mul_(0.5)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        start(self)
"""
APPLIED = HANDED_ON.replace("start(self)", "self.apply(start)")
BRINGING = f"{SHARED}class Mixin(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
COOPERATIVE = """
import torch
from lib import Net
from mix import Mixin, SHARED
class Child(Net, Mixin):
    pass
net = Child()
loss = SHARED(SHARED(torch.ones(1, 2))).sum()
Child()
loss.backward()
print(net.fc.weight.sum())
"""
RESET = """
import torch
from lib import Net
class Other:
    def init_weights(self):
        pass
class Mixin:
    def reset(self):
        self.init_weights()
class Child(Net, Mixin):
    pass
net = Child()
loss = net.fc(net.fc(torch.ones(1, 2))).sum()
net.reset()
loss.backward()
print("ok")
"""


@pytest.mark.parametrize("how", BESIDE)
@pytest.mark.parametrize("text", [METHOD, ATTRIBUTE], ids=["method", "attribute"])
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_a_class_beside_may_have_an_attribute_of_its_own(tmp_path: Path, text: str, how: str, alone: bool) -> None:
    files = {**BESIDE[how], "lib.py": text + BESIDE[how].get("lib.py", "")}
    assert "lib.py" not in check_runs_alike(tmp_path, files, *(["lib.py"] if alone else []))


@pytest.mark.parametrize("body", BODIES)
def test_a_class_below_may_bind_an_attribute_in_a_block_of_its_body(tmp_path: Path, body: str) -> None:
    main = f"import contextlib\nfrom lib import Base\nclass Child(Base):\n    {BODIES[body]}{SHOWN}"
    files = {"lib.py": ATTRIBUTE, "mix.py": "n = (3, 1)\n", "main.py": main}
    assert "lib.py" not in check_runs_alike(tmp_path, files)


@pytest.mark.parametrize("how", SHARING)
def test_a_class_beside_may_give_a_layer_that_is_in_use(tmp_path: Path, how: str) -> None:
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": NET, "mix.py": SHARING[how], "main.py": TRAINED})


def test_a_class_beside_may_have_other_methods(tmp_path: Path) -> None:
    mixin = "class Mixin:\n    def size(self):\n        return 2\n"
    assert ".data" not in check_runs_alike(tmp_path, {"lib.py": NET, "mix.py": mixin, "main.py": TRAINED})["lib.py"]


@pytest.mark.parametrize("lib", [LISTED, HANDED_ON, APPLIED], ids=["listed", "handed on", "applied"])
def test_the_constructor_of_a_class_beside_may_bring_a_layer_that_is_in_use(tmp_path: Path, lib: str) -> None:
    mixin = f"{BRINGING}        self.head = SHARED\n"
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": lib, "mix.py": mixin, "main.py": COOPERATIVE})


@pytest.mark.parametrize("lib", [LISTED, APPLIED], ids=["listed", "applied"])
def test_a_class_beside_without_a_constructor_brings_no_layer(tmp_path: Path, lib: str) -> None:
    mixin = f"{SHARED}class Mixin(nn.Module):\n    def size(self):\n        return 2\n"
    child = COOPERATIVE.replace(
        "class Child", "class Middle(Net):\n    def __init__(self):\n        super().__init__()\nclass Child"
    )
    changed = check_runs_alike(tmp_path, {"lib.py": lib, "mix.py": mixin, "main.py": child})
    assert "no_grad" in changed["lib.py"]


def test_a_class_beside_brings_no_layer_into_an_attribute_that_the_constructor_sets(tmp_path: Path) -> None:
    mixin = f"{BRINGING}        self.head = SHARED\n"
    changed = check_runs_alike(tmp_path, {"lib.py": NET, "mix.py": mixin, "main.py": COOPERATIVE})
    assert "no_grad" in changed["lib.py"]


def test_a_class_beside_may_call_what_the_constructor_calls(tmp_path: Path) -> None:
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": NET, "main.py": RESET})


def test_a_class_with_a_method_of_its_own_calls_that(tmp_path: Path) -> None:
    own = RESET.replace("class Mixin", "class Mixin(Other)").replace("Child(Net, Mixin)", "Child(Net)")
    changed = check_runs_alike(tmp_path, {"lib.py": NET, "main.py": own.replace("net.reset()", "Mixin().reset()")})
    assert ".data" not in changed["lib.py"]


def test_a_class_above_in_another_file_may_call_what_the_constructor_calls(tmp_path: Path) -> None:
    lib = NET.replace("class Net(nn.Module)", "from mix import Mixin\n\n\nclass Net(nn.Module, Mixin)")
    mixin = (
        "class Mixin:\n    def init_weights(self):\n        pass\n    def reset(self):\n        self.init_weights()\n"
    )
    main = RESET.replace("class Child(Net, Mixin)", "class Child(Net)")
    assert "lib.py" not in check_runs_alike(tmp_path, {"lib.py": lib, "mix.py": mixin, "main.py": main})
