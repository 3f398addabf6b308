"""Private functions may be called by a name that a text gives: programs run before and after `--fix`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

FUNCTION = (
    "import operator\nimport sys\n\nimport torch\n\n\ndef _make(v):\n    return torch.Tensor(v).shape\n\n\n"
    'kind = "make"\nprint(_make([1, 2]))\n'
)
METHOD = (
    "import torch\n\n\nclass Agent:\n    def _make(self, v):\n        return torch.Tensor(v).shape\n\n"
    "    def own(self):\n        return self._make([1, 2])\n\n"
    "    def make(self, kind, *given):\n        return {}\n\n\n"
    'a = Agent()\nprint(a.own(), a.make("make", 3))\n'
)
CALLED = {
    "of the globals": FUNCTION + 'print(globals()[f"_{kind}"](3))\n',
    "of the module": FUNCTION + 'print(getattr(sys.modules[__name__], "_make")(3))\n',
    "of the module's names": FUNCTION + 'print(vars(sys.modules[__name__])["_make"](3))\n',
    "evaluated": FUNCTION + 'print(eval("_make(3)"))\n',
    "by a caller of methods": FUNCTION + 'print(operator.methodcaller("_make", 3)(sys.modules[__name__]))\n',
    "a method": METHOD.format('getattr(self, "_" + kind)(*given)'),
    "a method of another": METHOD.format("getattr(a, f'_{kind}')(*given)"),
}
KEPT = {
    "another attribute": METHOD.format('getattr(self, "_other", None)'),
    "of a library": FUNCTION + 'print(getattr(torch, "on" + "es")(2))\n',
    "not at all": FUNCTION,
}


@pytest.mark.parametrize("program", CALLED.values(), ids=CALLED.keys())
def test_the_calls_in_sight_prove_nothing(program: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": program})


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT.keys())
def test_the_calls_in_sight_are_all(program: str, tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": program})
