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
