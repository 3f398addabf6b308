"""Attributes may be set in other ways than by an assignment: programs run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

NET = (
    "import torch\n\n\n{}class Net:\n    def __init__(self):\n        self.v = [1, 2]\n\n    def load(self, state):\n"
    "        {}\n\n    def forward(self):\n        return torch.Tensor(self.v).shape\n\n\n"
    "n = Net()\n{}\nprint(n.forward())\n"
)
DECORATOR = (
    "def grow(c):\n    old = c.__init__\n\n    def init(self):\n        old(self)\n        self.v = 3\n\n"
    "    c.__init__ = init\n    return c\n\n\n@grow\n"
)
SET = {
    "its state": NET.format("", "self.__dict__ = state", 'n.load({"v": 3})'),
    "from outside": NET.format("", "pass", 'n.__dict__ = {"v": 3}'),
    "by the object's setter": NET.format("", "pass", 'object.__setattr__(n, "v", 3)'),
    "by its setter": NET.format("", "pass", 'n.__setattr__("v", 3)'),
    "by a decorator": NET.format(DECORATOR, "pass", ""),
    "by a class made of a dictionary": NET.format(
        "", "pass", 'P = property(lambda s: 3, lambda s, x: None)\nn = type("B", (Net,), {"v": P})()'
    ),
}


@pytest.mark.parametrize("program", SET.values(), ids=SET.keys())
def test_an_attribute_set_out_of_sight_is_not_proven(program: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": program})
