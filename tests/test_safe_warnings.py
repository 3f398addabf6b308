"""Projects run before and after `--fix`: a warning of torch that somebody waits for, and one that nobody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, torch, written
from torchlint.inference.program.warning_filters import file_with_errors

pytestmark = pytest.mark.filterwarnings("ignore")
COPIES = "import torch\n\n\ndef copied():\n    return torch.tensor(torch.ones(2) * 2)\n"
REPAIRED = COPIES.replace("torch.tensor(torch.ones(2) * 2)", "(torch.ones(2) * 2).detach().clone()")
HEAD = "import warnings\n\nimport torch\nfrom copies import copied\n\n"
BLOCK = "with warnings.catch_warnings({}):\n    warnings.simplefilter({})\n    print(copied())\n"
QUIET = {
    "ignored": BLOCK.format("", '"ignore"'),
    "another class": BLOCK.format("", '"error", DeprecationWarning'),
    "an error of another message": "warnings.filterwarnings('error', 'Method .*', UserWarning)\nprint(copied())\n",
    "an error of another library": "class OwnWarning(UserWarning):\n    pass\n\n\n"
    "warnings.simplefilter('error', OwnWarning)\nprint(copied())\n",
    "ignored by another name": "from warnings import simplefilter as setting\n\nsetting('ignore')\nprint(copied())\n",
    "looked at": "print(any(each[0] == 'error' for each in warnings.filters))\nprint(copied())\n",
    "shown otherwise": "warnings.showwarning = lambda *_: None\nprint(copied())\n",
    "not recorded": BLOCK.format("record=False", '"always"'),
    "another class that is expected": (
        "import pytest\n\nwith pytest.warns(FutureWarning):\n"
        "    warnings.warn('x', FutureWarning)\n    print(copied())\n"
    ),
    "a handler": "try:\n    print(copied())\nexcept UserWarning:\n    print('warned')\n",
    "an error elsewhere": "def strict():\n    with warnings.catch_warnings():\n        warnings.simplefilter('error')\n"
    "        print(1)\n\n\nstrict()\nprint(copied())\n",
}
WATCHED = {
    "recorded": "with warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n"
    "    copied()\nprint(len(seen))\n",
    "an error": "try:\n    with warnings.catch_warnings():\n        warnings.simplefilter('error')\n        copied()\n"
    "except UserWarning:\n    print('warned')\n",
    "an error of this message": "warnings.filterwarnings('error', message='To copy')\ntry:\n    copied()\n"
    "except UserWarning:\n    print('warned')\n",
    "an error for good": "warnings.filterwarnings(action='error', category=UserWarning)\ntry:\n    copied()\n"
    "except UserWarning:\n    print('warned')\n",
    "an error by another name": "from warnings import simplefilter as setting\n\nsetting('error')\ntry:\n    copied()\n"
    "except UserWarning:\n    print('warned')\n",
    "an error by a name of its own": "setting = warnings.filterwarnings\nsetting('error')\ntry:\n    copied()\n"
    "except UserWarning:\n    print('warned')\n",
    "an error among the filters": "warnings.filters.insert(0, ('error', None, UserWarning, None, 0))\n"
    "try:\n    copied()\nexcept UserWarning:\n    print('warned')\n",
    "pytest": "import pytest\n\nwith pytest.warns(UserWarning):\n    copied()\nprint('warned')\n",
    "unittest": "import unittest\n\nwith unittest.TestCase().assertWarns(UserWarning):\n    copied()\nprint(1)\n",
    "handed over": "import unittest\n\nunittest.TestCase().assertWarns(UserWarning, copied)\nprint('warned')\n",
    "a helper": "def run(function):\n    with warnings.catch_warnings(record=True) as seen:\n"
    "        warnings.simplefilter('always')\n        function()\n    return len(seen)\n\n\nprint(run(copied))\n",
    "a list of its own": "seen = []\nwarnings.showwarning = lambda *each: seen.append(each)\n"
    "warnings.simplefilter('always')\ncopied()\nprint(len(seen))\n",
}


@pytest.mark.parametrize("way", QUIET)
def test_a_warning_that_nobody_waits_for_is_repaired(tmp_path: Path, way: str) -> None:
    changed = check_runs_alike(tmp_path, {"copies.py": COPIES, "main.py": HEAD + QUIET[way]}, "copies.py")
    assert changed == {"copies.py": REPAIRED}


@pytest.mark.parametrize("way", WATCHED)
def test_a_warning_that_is_expected_stays(tmp_path: Path, way: str) -> None:
    assert check_runs_alike(tmp_path, {"copies.py": COPIES, "main.py": HEAD + WATCHED[way]}, "copies.py") == {}


NUMBER = """
import warnings

import torch

w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
with warnings.catch_warnings({}):
    warnings.simplefilter("{}")
    try:
        print(float(loss))
    except UserWarning:
        print("warned")
"""


def test_a_number_is_taken_with_its_warning_where_that_is_an_error(tmp_path: Path) -> None:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        assert check_runs_alike(tmp_path, {"main.py": NUMBER.format("", "error")}) == {}
        changed = check_runs_alike(tmp_path, {"main.py": NUMBER.format("", "ignore")})
    finally:
        torch.set_warn_always(before)
    assert "loss.item()" in changed["main.py"]


OPTIONS = {
    "no options": ("pyproject.toml", "[project]\nname = 'x'\n", False),
    "another class": (
        "pyproject.toml",
        "[tool.pytest.ini_options]\nfilterwarnings = ['error::DeprecationWarning']\n",
        False,
    ),
    "errors but for ours": (
        "setup.cfg",
        "[tool:pytest]\nfilterwarnings =\n    error\n    ignore::UserWarning\n",
        False,
    ),
    "no option of pytest": ("tox.ini", "[testenv]\nfilterwarnings = error\n", False),
    "all": ("pyproject.toml", "[tool.pytest.ini_options]\nfilterwarnings = ['error']\n", True),
    "all but some": (
        "pyproject.toml",
        "[tool.pytest.ini_options]\nfilterwarnings = ['error', 'ignore:a message:UserWarning']\n",
        True,
    ),
    "a line": ("pytest.ini", "[pytest]\nfilterwarnings = error::UserWarning\n", True),
    "an argument": ("tox.ini", "[pytest]\naddopts = -q -W error\n", True),
    "an argument without a blank": ("setup.cfg", "[tool:pytest]\naddopts = -Werror\n", True),
}


@pytest.mark.parametrize("way", OPTIONS)
def test_options_of_pytest_make_errors_of_warnings(tmp_path: Path, way: str) -> None:
    name, text, is_fatal = OPTIONS[way]
    written(tmp_path, {"copies.py": COPIES, name: text})
    assert file_with_errors(str(tmp_path)) == (name if is_fatal else None)
    assert fixed(tmp_path) == ({} if is_fatal else {"copies.py": REPAIRED})


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg"])
def test_options_that_cannot_be_read_say_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("filterwarnings = [error", encoding="utf-8")
    assert file_with_errors(str(tmp_path)) is None


ARRAY = """\
import warnings

import torch

x = {tensor}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    print(float(x.numpy()))
print(len(seen))
"""


@pytest.mark.parametrize(("tensor", "is_kept"), [("torch.ones(1, 1)", False), ("torch.ones(3).sum()", True)])
def test_numpy_warns_of_an_array_with_dimensions(tmp_path: Path, tensor: str, *, is_kept: bool) -> None:
    changed = check_runs_alike(tmp_path, {"main.py": ARRAY.format(tensor=tensor)})
    assert bool(changed) is is_kept
