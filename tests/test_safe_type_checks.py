"""Projects run before and after `--fix`: `Variable` as a type, in tuples and annotations, and the name `torch`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

HEAD = "import torch\nfrom torch.autograd import Variable\n\n"

CHECKS = {
    "two names": "print(isinstance(3, (Variable, torch.Tensor)), isinstance(torch.ones(1), (Variable, list)))\n",
    "a union": "print(isinstance(3, Variable | torch.Tensor))\n",
    "a sum": "MORE = (list,)\nprint(isinstance([], (Variable, torch.Tensor) + MORE))\n",
    "a sum from the left": "MORE = (list,)\nprint(isinstance([], MORE + (torch.Tensor, Variable)))\n",
    "a sum of three": "MORE = (list,)\nprint(isinstance([], (int, Variable) + MORE + (Variable, torch.Tensor)))\n",
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_check_of_types_answers_as_before(tmp_path: Path, check: str) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": HEAD + check})
    assert "Variable" not in changed["main.py"]


OTHER_QUESTIONS = {
    "a key": "KINDS = {Variable: list}\nprint(isinstance([], KINDS[Variable]))\n",
    "a function of the file": "def isinstance(x, kind):\n    return kind\n\n\nprint(isinstance(3, Variable))\n",
    "a function of another file": "from asked import assertIsInstance\n\nprint(assertIsInstance(3, Variable))\n",
    "one that is taken by name": "from asked import isinstance\n\nprint(isinstance(3, Variable))\n",
}


@pytest.mark.parametrize("question", OTHER_QUESTIONS.values(), ids=OTHER_QUESTIONS)
def test_what_is_no_check_of_types_keeps_the_class(tmp_path: Path, question: str) -> None:
    asked = "def assertIsInstance(x, kind):\n    return kind.__name__\n\n\nisinstance = assertIsInstance\n"
    assert check_runs_alike(tmp_path, {"main.py": HEAD + question, "asked.py": asked}) == {}


# ---------------------------------------------------------------------- the name `torch`
VARIABLE = "from torch.autograd import Variable\n"
ASKED = "\n\ndef is_tensor(x):\n    return isinstance(x, Variable)\n"
TAKEN = "from nets import *\n\nprint(is_tensor(3))\n"

TORCH_IS_TORCH = {
    "an import that is added": ({"main.py": VARIABLE + ASKED + "\n\nprint(is_tensor(3))\n"}),
    "all names are taken": {"main.py": TAKEN, "nets.py": "import torch\n" + VARIABLE + ASKED},
    "all names that are listed are taken": {
        "main.py": TAKEN,
        "nets.py": VARIABLE + '\n__all__ = ["is_tensor"]' + ASKED,
    },
    "a part of torch": {"main.py": "import torch.nn\n" + VARIABLE + ASKED + "\n\nprint(is_tensor(3))\n"},
    "another name is patched": {
        "main.py": "from unittest import mock\nimport nets\n\n"
        'with mock.patch("nets.is_tensor"):\n    pass\nprint(nets.is_tensor(3))\n',
        "nets.py": "import torch\n" + VARIABLE + ASKED,
    },
}  # fmt: skip


@pytest.mark.parametrize("files", TORCH_IS_TORCH.values(), ids=TORCH_IS_TORCH)
def test_torch_is_written_where_it_means_torch(tmp_path: Path, files: dict[str, str]) -> None:
    changed = check_runs_alike(tmp_path, files)
    assert any("isinstance(x, torch.Tensor)" in text for text in changed.values())


TORCH_IS_ANOTHER = {
    "a module of the project": {
        "main.py": "from backend import torch\n" + VARIABLE + ASKED + "\n\nprint(is_tensor(3), torch.name)\n",
        "backend/torch.py": 'name = "backend"\n',
    },
    "another name of a module": {
        "main.py": "import backend as torch\n" + VARIABLE + ASKED + "\n\nprint(is_tensor(3), torch.name)\n",
        "backend.py": 'name = "backend"\n',
    },
    "an import that comes later": {
        "main.py": "import torch\n" + VARIABLE
        + "\n\ndef ask(x):\n    found = isinstance(x, Variable)\n    import torch\n    return found, torch.ones(1)\n"
        + "\n\nprint(ask(3))\n",
    },
    "a name that is bound late": {
        "main.py": VARIABLE + "\ntorch = None\n\n\ndef need():\n    global torch\n    import torch as found\n"
        "    torch = found\n" + ASKED + "\n\nprint(is_tensor(3))\n",
    },
    "what may be missing is another module": {
        "main.py": "try:\n    import torch\n    import no_such_module\nexcept ImportError:\n    torch = None\n"
        + VARIABLE + ASKED + "\n\nprint(is_tensor(3))\n",
    },
    "an attribute of the class": {
        "main.py": VARIABLE + '\n\nclass Versions:\n    torch = "2.0"\n'
        "\n    def ask(self, x: Variable):\n        return x\n\n\nprint(Versions().ask(3))\n",
    },
    "an import that goes out": {
        "main.py": "torch = None\n" + TAKEN + 'print("no torch" if torch is None else "torch")\n',
        "nets.py": VARIABLE + ASKED,
    },
}  # fmt: skip


@pytest.mark.parametrize("files", TORCH_IS_ANOTHER.values(), ids=TORCH_IS_ANOTHER)
def test_torch_is_not_written_where_it_may_mean_something_else(tmp_path: Path, files: dict[str, str]) -> None:
    assert check_runs_alike(tmp_path, files) == {}


# ---------------------------------------------------------------------- who reads annotations
ANNOTATED = HEAD + "\ndef show(x: Variable, n: int = 0):\n    return n\n"
RECORD = HEAD + "\nclass Record:\n    x: Variable = None\n    n: int = 0\n"
NOT_READ = {
    "nobody reads": {"main.py": "import nets\n\nprint(nets.show(1))\n", "nets.py": ANNOTATED},
    "others are read": {
        "main.py": "import inspect\nimport nets\n\n\ndef f(x: int):\n    return x\n"
        "\n\nprint(inspect.signature(f), nets.show(1))\n",
        "nets.py": ANNOTATED,
    },
    "it is handed on where nobody reads": {
        "main.py": "import nets\n\nprint(list(map(nets.show, [1])))\n",
        "nets.py": ANNOTATED,
    },
    "a local variable": {
        "main.py": "import typing\nfrom torch.autograd import Variable\nimport torch\n"
        "\n\ndef f(x):\n    y: Variable = x\n    return y\n\n\nprint(list(map(f, [1])))\n",
        "asking.py": "from typing import get_type_hints\n",
    },
}


@pytest.mark.parametrize("files", NOT_READ.values(), ids=NOT_READ)
def test_an_annotation_that_nobody_reads_is_replaced(tmp_path: Path, files: dict[str, str]) -> None:
    changed = check_runs_alike(tmp_path, files)
    assert any(": torch.Tensor" in text for text in changed.values())
