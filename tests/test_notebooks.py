"""Notebooks through the program: what is found where, what is repaired, and that nothing else changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Program
from tests.notebooks import code, document, notebook, old_notebook, sources, text

SETUP = "import torch\n\nw = torch.ones(3, requires_grad=True)"
HIT = "w.numpy()"
MESSAGE = "TNS101 [*] `.numpy()` on a tensor that requires grad: add `.detach()`"


RATING = re.compile(r" \[\w+, \w+\]$")
"""Severity and confidence, which these tests are not about."""


def concise(torchlint: Program, *arguments: str, stdin: bytes = b"") -> list[str]:
    ran = torchlint("--output-format", "concise", "-q", *arguments, stdin=stdin)
    assert ran.stderr == ""
    return [RATING.sub("", line) for line in ran.stdout.splitlines()]


def write(folder: Path, *cells: dict[str, object], name: str = "a.ipynb") -> Path:
    path = folder / name
    path.write_bytes(notebook(*cells))
    return path


def fixed(torchlint: Program, path: Path, *flags: str) -> list[str]:
    """Fix a notebook, hold that a second run changes nothing, and give the sources of its cells."""
    ran = torchlint("--fix", *flags, str(path))
    assert ran.status in (0, 1), ran.stderr
    assert ran.stderr == ""
    once = path.read_bytes()
    torchlint("--fix", *flags, str(path))
    assert path.read_bytes() == once
    return sources(once)


# ---------------------------------------------------------------------- cells as one module
def test_cells_are_one_module_in_order_and_all_cells_are_counted(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, text("# Title"), code(SETUP), code(""), text("raw w.numpy()", "raw"), code("\nx = 1\ny = " + HIT))
    assert concise(torchlint, "a.ipynb") == [f"a.ipynb:cell 5:3:7: {MESSAGE}"]


def test_what_a_later_cell_does_is_not_known_in_an_earlier_one(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, code("import torch\nw = torch.ones(3)"), code(HIT), code("w = torch.ones(3, requires_grad=True)"))
    assert concise(torchlint, "a.ipynb") == []


def test_steps_name_the_cell(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, text("t"), code(SETUP), code(HIT))
    (told,) = json.loads(torchlint("--output-format", "json", "a.ipynb").stdout)
    assert told["why"] == ["`torch.ones(3, requires_grad=True)` requires grad, cell 2, line 3"]


def test_steps_into_another_file_keep_its_lines(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text("import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n")
    write(tmp_path, code("from nets import make"), code("make().numpy()"))
    (told,) = json.loads(torchlint("--output-format", "json", "a.ipynb").stdout)
    assert (told["code"], told["cell"], told["location"]) == ("TNS101", 2, {"row": 1, "column": 8})
    assert any(step.endswith("nets.py line 5") for step in told["why"]), told["why"]


def test_a_notebook_without_code_is_clean(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook(text("only words")))
    (tmp_path / "b.ipynb").write_bytes(notebook())
    ran = torchlint(".")
    assert (ran.status, ran.stdout, ran.stderr) == (0, "All checks passed!\n", "")


# ---------------------------------------------------------------------- cells that do not parse
def test_a_broken_cell_is_named_and_the_others_are_checked(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, code(SETUP), code("x = 1\ndef f(:\n    " + HIT), code("print 'old'"), code(HIT))
    assert concise(torchlint, "a.ipynb") == [
        "a.ipynb:cell 2:2:7: TNS900 invalid syntax",
        "a.ipynb:cell 3:1:1: TNS900 Missing parentheses in call to 'print'. Did you mean print(...)?",
        f"a.ipynb:cell 4:1:3: {MESSAGE}",
    ]


def test_cells_do_not_complete_each_other(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, code(SETUP), code("x = ("), code("3)"), code("if True:"), code(HIT))
    assert [line.partition(": TNS")[0] for line in concise(torchlint, "a.ipynb")] == [
        "a.ipynb:cell 2:1:5",
        "a.ipynb:cell 3:1:2",
        "a.ipynb:cell 4:1:9",
        "a.ipynb:cell 5:1:3",
    ]


def test_the_sound_cells_of_a_notebook_with_a_broken_one_are_fixed(torchlint: Program, tmp_path: Path) -> None:
    path = write(tmp_path, code(SETUP), code("def f(:\n    " + HIT), code(HIT))
    assert fixed(torchlint, path) == [SETUP, "def f(:\n    " + HIT, "w.detach().numpy()"]


def test_an_import_that_only_a_broken_cell_or_a_magic_needs_stays(torchlint: Program, tmp_path: Path) -> None:
    imported = "import torch\nfrom torch.autograd import Variable\nx = 1"
    for other in (
        "def f(:\n    Variable(x)",
        "%timeit -n 1 for i in x: Variable(i)",
        "Variable?",
        "%%cython\nVariable",
    ):
        write(tmp_path, code(imported), code(other))
        assert [each for each in concise(torchlint, "a.ipynb") if "TNS404" in each] == [], other
    path = write(tmp_path, code(imported), code("1"))
    assert fixed(torchlint, path) == ["import torch\nx = 1", "1"]


# ---------------------------------------------------------------------- magics
@pytest.mark.parametrize(
    ("cell", "place"),
    [
        (f"%matplotlib inline\n{HIT}", "2:3"),
        (f"!pip install x \\\n  y w.numpy()\n{HIT}", "3:3"),
        (f"if True:\n    !ls\n    {HIT}", "3:7"),
        (f"files = !ls w.numpy()\n{HIT}", "2:3"),
        (f"w?\nw.numpy??\n?w.numpy\n{HIT}", "4:3"),
        (f"%time {HIT}", "1:9"),
        (f"%time y = {HIT}", "1:13"),
        (f"%timeit -n 10 -r 3 {HIT}", "1:22"),
        (f"%%time\n{HIT}", "2:3"),
        (f"%%capture out\n\n%time {HIT}", "3:9"),
        (f"# first\n%%time\n{HIT}", "3:3"),
        (f"await {HIT}", "1:9"),
        (f"async with x as y:\n    {HIT}", "2:7"),
        (f"    {HIT}\n    1", "1:7"),
        (f"s = '''\n%magic\n!ls\n'''\nz = (3\n% 2\n)\n{HIT}", "8:3"),
    ],
)
def test_code_around_magics_is_checked(torchlint: Program, tmp_path: Path, cell: str, place: str) -> None:
    write(tmp_path, code(SETUP), code(cell))
    assert concise(torchlint, "a.ipynb") == [f"a.ipynb:cell 2:{place}: {MESSAGE}"]


@pytest.mark.parametrize(
    "cell",
    [
        f"%%bash\n{HIT}",
        f"%%html\n<p>{HIT}",
        f"%%writefile a.py\nimport x\n{HIT}",
        f"!python -c '{HIT}'",
        f"%run {HIT}",
        "pip install torch",
        "%%time?",
        "",
        "# only a comment",
    ],
)
def test_what_is_no_python_is_passed_over_and_kept(torchlint: Program, tmp_path: Path, cell: str) -> None:
    path = write(tmp_path, code(SETUP), code(cell), code(HIT))
    assert concise(torchlint, "a.ipynb") == [f"a.ipynb:cell 3:1:3: {MESSAGE}"]
    assert fixed(torchlint, path) == [SETUP, cell, "w.detach().numpy()"]


def test_what_a_command_gives_is_not_known(torchlint: Program, tmp_path: Path) -> None:
    write(tmp_path, code("import torch\nw = torch.ones(3)"), code("w = !ls"), code("torch.Tensor(w)"))
    assert [line.partition(" ")[0] for line in concise(torchlint, "a.ipynb")] == ["a.ipynb:cell"]
    (told,) = json.loads(torchlint("--output-format", "json", "a.ipynb").stdout)
    assert told["code"] == "TNS303"  # an argument of unknown kind


# ---------------------------------------------------------------------- fixes
def test_only_the_line_that_changes_is_written(torchlint: Program, tmp_path: Path) -> None:
    path = write(tmp_path, code(SETUP), code('print("é", "\\u00e9")\ny = w.numpy()  # ü\n!ls'))
    before = path.read_bytes()
    assert torchlint("--fix", "a.ipynb").status == 0
    assert path.read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")


def test_a_new_line_is_a_new_string_and_a_lost_line_is_none(torchlint: Program, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        code("import torch\nfrom torch.autograd import Variable\nw = torch.ones(3, requires_grad=True)"),
        code("w.data.fill_(3)\nx = 1"),
        code("from torch.autograd import Variable"),
        code("x = 2\nfrom torch.autograd import Variable"),
    )
    before = path.read_bytes()
    torchlint("--fix", "--unsafe-fixes", "a.ipynb")
    expected = (
        before.replace(b'    "from torch.autograd import Variable\\n",\n', b"")
        .replace(b'    "w.data.fill_(3)\\n",\n', b'    "with torch.no_grad():\\n",\n    "    w.fill_(3)\\n",\n')
        .replace(b'[\n    "from torch.autograd import Variable"\n   ]', b"[]")
        .replace(b'    "x = 2\\n",\n    "from torch.autograd import Variable"\n', b'    "x = 2"\n')
    )
    assert path.read_bytes() == expected


def test_a_block_does_not_reach_over_the_end_of_a_cell(torchlint: Program, tmp_path: Path) -> None:
    built = "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)"
    path = write(tmp_path, code(built), code("net.weight.data.mul_(0);"), code("net.bias.data.mul_(0);\nx = 1"))
    assert fixed(torchlint, path, "--unsafe-fixes") == [
        built,
        "with torch.no_grad():\n    net.weight.mul_(0);",
        "with torch.no_grad():\n    net.bias.mul_(0);\nx = 1",
    ]


def test_a_fix_that_changes_what_a_cell_shows_is_unsafe(torchlint: Program, tmp_path: Path) -> None:
    shown = "import torch\nx = torch.ones(2)\nx\nfrom torch.autograd import Variable"
    path = write(tmp_path, code(shown))
    (told,) = json.loads(torchlint("--output-format", "json", "a.ipynb").stdout)
    assert told["fix"]["applicability"] == "unsafe"
    assert told["fix"]["message"].endswith("; assumes that nobody needs what the cell shows")
    assert fixed(torchlint, path) == [shown]
    path = write(tmp_path, code(shown.replace("\nx\n", "\nx;\n")))
    assert fixed(torchlint, path) == ["import torch\nx = torch.ones(2)\nx;"]


def test_an_indented_cell_is_fixed_in_its_own_indentation(torchlint: Program, tmp_path: Path) -> None:
    path = write(tmp_path, code(SETUP), code("  w.data.fill_(3)\n\n  x = w.numpy()\n  w.data.fill_(4)"))
    assert fixed(torchlint, path, "--unsafe-fixes")[1].splitlines() == [
        "  with torch.no_grad():",
        "      w.fill_(3)",
        "",
        "  x = w.detach().numpy()",
        "  with torch.no_grad():",
        "      w.fill_(4)",
    ]


@pytest.mark.parametrize(("first", "next_"), [(">>> ", "... "), ("In [3]: ", "...: ")])
def test_a_cell_with_prompts_is_fixed_behind_them(torchlint: Program, tmp_path: Path, first: str, next_: str) -> None:
    path = write(tmp_path, code(SETUP), code(f"{first}w.data.fill_(3)\n{first}x = w.numpy()"))
    assert fixed(torchlint, path, "--unsafe-fixes")[1].splitlines() == [
        f"{first}with torch.no_grad():",
        f"{next_}    w.fill_(3)",
        f"{first}x = w.detach().numpy()",
    ]


def test_outputs_and_everything_else_stay(torchlint: Program, tmp_path: Path) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["w.numpy()\n", "\ud83d\ude00 \ud800 </script>"]}
    cells = [text("w.numpy()"), code(SETUP), code("y = w.numpy()", outputs=[output], execution_count=7, id="a1")]
    made = {"nbformat_minor": 5, "cells": cells, "nbformat": 4, "metadata": {"x": 1e400, "y": [1.5], "z": {}}}
    for layout in ({"indent": 4}, {"indent": None}, {"separators": (",", ":")}, {"indent": "\t"}):
        before = json.dumps(made, **layout).replace("1.5", f"1.50, -1E+4, {'7' * 5000}").encode()  # type: ignore[arg-type]
        (tmp_path / "a.ipynb").write_bytes(before)
        assert torchlint("--fix", "a.ipynb").status == 0
        assert (tmp_path / "a.ipynb").read_bytes() == before.replace(b"y = w.numpy()", b"y = w.detach().numpy()")


def test_crlf_a_mark_and_a_missing_newline_at_the_end_are_kept(torchlint: Program, tmp_path: Path) -> None:
    raw = notebook(code(SETUP), code("w.data.fill_(3)\nx = 1\n"))
    before = b"\xef\xbb\xbf" + raw.strip().replace(b"\n", b"\r\n")
    (tmp_path / "a.ipynb").write_bytes(before)
    torchlint("--fix", "--unsafe-fixes", "a.ipynb")
    assert (tmp_path / "a.ipynb").read_bytes() == before.replace(
        b'"w.data.fill_(3)\\n",', b'"with torch.no_grad():\\n",\r\n    "    w.fill_(3)\\n",'
    )


def test_a_source_that_is_one_string_stays_one(torchlint: Program, tmp_path: Path) -> None:
    cells = [code(SETUP), code("")]
    cells[1]["source"] = "# \u00e9 \t\nw.data.fill_(3)\r\nx = '\ud83d\ude00'; y = w.numpy()"
    before = json.dumps(document(*cells)).encode()
    (tmp_path / "a.ipynb").write_bytes(before)
    torchlint("--fix", "--unsafe-fixes", "a.ipynb")
    assert (tmp_path / "a.ipynb").read_bytes() == before.replace(
        b"w.data.fill_(3)\\r\\n", b"with torch.no_grad():\\n    w.fill_(3)\\r\\n"
    ).replace(b"w.numpy()", b"w.detach().numpy()")


def test_format_3_is_read_and_fixed(torchlint: Program, tmp_path: Path) -> None:
    before = old_notebook(SETUP, "x = 1\nw.numpy()")
    (tmp_path / "a.ipynb").write_bytes(before)
    assert concise(torchlint, "a.ipynb") == [f"a.ipynb:cell 2:2:3: {MESSAGE}"]
    assert torchlint("--fix", "a.ipynb").status == 0
    assert (tmp_path / "a.ipynb").read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")
