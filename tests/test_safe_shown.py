"""What is shown of code and its values: f-strings that print their source, and the last lines of cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written
from tests.notebooks import code, notebook

pytest.importorskip("torch")
HEAD = "import torch\nfrom torch.autograd import Variable\n\nx = torch.ones(2, requires_grad=True)\n"
FIELDS = {
    "x.data.sum()": "x.detach().sum()",
    "x.data.shape": "x.shape",
    "isinstance(x, Variable)": "isinstance(x, torch.Tensor)",
    "x.sum().data.item()": "x.sum().item()",
    "torch.Tensor([1, 2])": None,
}


@pytest.mark.parametrize("field", FIELDS)
def test_what_an_fstring_prints_the_source_of_stays(field: str, tmp_path: Path) -> None:
    said = f'print(f"{{{field}}}")\n'
    text = check_runs_alike(tmp_path, {"main.py": HEAD + said}).get("main.py", "")
    assert FIELDS[field] is None or f"{{{FIELDS[field]}}}" in text
    for spelled in ("=", " = ", "=!r:>40", "=:"):
        printed = HEAD + f'print(x.data.sum(), f"{{{field}{spelled}}} {{x.data.sum()}}")\n'
        changed = check_runs_alike(tmp_path, {"main.py": printed}).get("main.py", printed)
        assert f"{{{field}{spelled}}}" in changed


MADE = "import torch\nfrom torch import nn\n\nm = nn.Linear(2, 2)\n"
LINES = {
    "m.weight.data.fill_(1)": "nn.init.constant_(m.weight, 1)",
    "nn.init.zeros_(m.weight.data)": "nn.init.zeros_(m.weight)",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("end", [";", "\nx = 1", "\nm;"])
def test_a_line_of_a_cell_that_is_not_shown_is_repaired(line: str, end: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.ipynb": notebook(code(MADE + line + end)).decode()})
    assert LINES[line] in fixed(folder)["a.ipynb"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("end", ["", "\n", "  # a comment;"])
def test_a_line_that_a_cell_shows_is_left(line: str, end: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.ipynb": notebook(code(MADE + line + end), code("x = 1")).decode()})
    assert not fixed(folder)
