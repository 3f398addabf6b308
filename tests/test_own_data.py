"""Whose `.data` it is: weak signs of a tensor say nothing where a class of the project says that its `data` is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import written
from torchlint.config import Config
from torchlint.linter.engine import check_bytes

HEAD = "import torch\n\n\n"
SAID = {
    "by a property": "class Image(dict):\n    @property\n    def data(self) -> torch.Tensor:\n        return self[0]\n",
    "by a field": "@dataclass\nclass Image:\n    path: str\n    data: torch.Tensor | None = None\n",
    "by an attribute": "class Image:\n    def __init__(self, data):\n        self.data: Tensor = data\n",
}
NOT_SAID = {
    "a list is kept": "class Rows:\n    def __init__(self, rows):\n        self.data = list(rows)\n",
    "an option": "class Task:\n    @property\n    def data(self):\n        return self.config.get('data', '')\n",
    "a docstring": 'def f(data):\n    """Do.\n\n    data: A `n`-dim Tensor.\n    data: the Tensor of it\n    """\n',
    "a docstring with a list": 'def f(data):\n    """Do.\n\n    Parameters\n\n    data : torch.Tensor\n    """\n',
    "a class's docstring": 'class Loss:\n    """Do.\n\n    data : torch.Tensor\n    """\n',
    "a last parameter": "def show(\n    name: str,\n    data: torch.Tensor\n):\n    print(name, data)\n",
    "a parameter": "def show(\n    name: str,\n    data: torch.Tensor,\n):\n    print(name, data)\n",
}

WEAK = {
    "read as an array": "def f(subject):\n    return subject.t1.data.numpy()\n",
    "an element read as an array": "def f(found):\n    return found[0].data.numpy()\n",
    "copied": "def f(found):\n    return found.data.clone()\n",
}
STRONG = {
    "a parameter": "def f(layer):\n    layer.weight.data.zero_()\n",
    "a gradient": "def f(found):\n    found.backward()\n    return found.data.numpy()\n",
    "made here": "def f(n):\n    found = torch.ones(n, requires_grad=True)\n    return found.data.numpy()\n",
}


def codes(folder: Path, code: str, other: str) -> set[str]:
    """Return what is found of `.data` in a file beside another."""
    written(folder, {"other.py": other, "main.py": HEAD + code})
    path = folder / "main.py"
    found = check_bytes(str(path), path.read_bytes(), Config(root=str(folder))).findings
    return {each.code for each in found if each.code.startswith("TNS2")}


@pytest.mark.parametrize("way", WEAK)
@pytest.mark.parametrize("other", NOT_SAID)
def test_they_do_where_other_objects_hold_none(tmp_path: Path, way: str, other: str) -> None:
    assert codes(tmp_path, WEAK[way], NOT_SAID[other]) == {"TNS201"}


@pytest.mark.parametrize("way", STRONG)
@pytest.mark.parametrize("said", SAID)
def test_what_only_a_tensor_has_is_found_all_the_same(tmp_path: Path, way: str, said: str) -> None:
    assert codes(tmp_path, STRONG[way], SAID[said]) != set()
