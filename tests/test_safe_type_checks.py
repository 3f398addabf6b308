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
