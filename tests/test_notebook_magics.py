"""Magics as neutral Python: every character in its place, IPython's own reading of cells as the measure."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.source.magics import neutral, runs_by_itself
from torchlint.source.notebook_json import Cell
from torchlint.source.notebook_module import part

CELLS = [
    "x = 1\ny = 2",
    "%matplotlib inline",
    "  %matplotlib inline",
    "!ls -l",
    "!!ls",
    "?x",
    "??x.y",
    "x?",
    "x.y??",
    "x[0].y?",
    "%time?",
    "%%time?",
    "x = !ls",
    "x, y = !ls -l",
    "x = %time f()",
    "x: int = !ls",
    "%time x = 1",
    "%%time\nx = 1",
    "%%bash\nls | grep x",
    "if x:\n    !ls\n    y = %who\nelse:\n    z?\n",
    "for a in b:\n    %time f(a)",
    "!ls \\\n  -l \\\n  -a\nx = 1",
    "x = (1\n% 2)",
    "x = '''\n%magic\n!ls\n?x\n'''",
    "x = 5 \\\n% 3",
    "x = 1  # what?",
    "print('what?')",
    "f(a=1, b='!')",
    "x == y",
    "x != y",
    ",f a b",
    ";f a b",
    "/f a b",
    "x %= 2",
    "@decorated\ndef f():\n    !ls\n",
    "{\n!ls\n}",
    "# comment\n%matplotlib inline\n\n\nx",
    "x = f(\n)?",
    "def f():\n    '''doc'''\n    return !ls",
    "f()?",
    "x = y?",
    "x.*?",
    "    x = 1\n    !ls\n\n    y?",
    "\n\n  x = 1\n  %time y",
    "%timeit -n 1 -r 1 x = f(a, b)",
    "x = !",
    "x =!ls",
    "x = %",
    "!",
    "%",
    "?",
    ">>> x = 1",
    ">>> from a import b\n\n >>> x = b",
    ">>> for i in x:\n...     print(i)\n...\n>>> y = 1\n",
    "  >>> x = 1\n  >>> y = 2\n",
    ">>> %matplotlib inline\n>>> !ls\n>>> x = 1",
    ">>> x = 1\n1",
    ">>> x = 1\nTensor(1, device='cpu') is what\n",
    '"""Add.\n\n>>> add(1)\n"""\nx = 1',
    "In [1]: x = 1\n   ...: y = 2\n",
    "In [12]: %time x = 1",
    "\nIn [1]: x = 1\nIn [2]: for y in x:\n   ...:     y\n",
    "x = (1\n>>> 2)",
]


def same_places(source: str, text: str) -> bool:
    ends = re.compile(r"\r\n|\r|\n")
    return len(source) == len(text) and [e.span() for e in ends.finditer(source)] == [
        e.span() for e in ends.finditer(text)
    ]


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.parametrize("source", CELLS)
def test_what_ipython_runs_parses_and_what_it_does_not_run_does_not(source: str) -> None:
    manager = pytest.importorskip("IPython.core.inputtransformer2", reason="IPython is not installed")
    read = part(Cell(1, source, (), None))  # without the indentation of a cell that is indented as a whole
    assert same_places(read.source, read.text)
    assert parses(read.text) == parses(manager.TransformerManager().transform_cell(source))


@pytest.mark.parametrize("source", CELLS)
def test_what_is_plain_python_is_left_alone(source: str) -> None:
    if parses(source):
        assert neutral(source).text == source
        assert neutral(source).shielded == ()


PIECES = st.sampled_from(
    [
        *"%!?,;/=()[]{}'\"#\\\n \tx",
        "%%",
        "'''",
        '"""',
        "\\\n",
        "\n    ",
        "%time ",
        "= !",
        "x = ",
        "%%time\n",
        "é",
        "\r\n",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(max_examples=400, deadline=None)
def test_no_cell_moves_a_character(source: str) -> None:
    read = neutral(source)
    assert same_places(source, read.text)
    outside, last = [], 0
    for start, end in read.shielded:
        assert last <= max(start, 0) <= end <= len(source)
        outside.append(source[last : max(start, 0)] == read.text[last : max(start, 0)])
        last = end
    assert all(outside)
    assert source[last:] == read.text[last:]


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_what_parses_as_it_stands_is_never_taken_for_a_magic(source: str) -> None:
    if parses(source):
        assert neutral(source).text == source


def test_a_magic_without_its_sign_is_known_on_a_single_line_only() -> None:
    assert runs_by_itself("pip install torch")
    assert runs_by_itself("\nls\n")
    assert not runs_by_itself("pip install torch\nx = 1")
    assert not runs_by_itself("print x")


@pytest.mark.parametrize("line", ["# a\r\n", "\r\n", " \r\n", "\r", "\n", "# a\r"])
def test_many_lines_before_the_code_are_read_in_one_way(line: str) -> None:
    """Read in two ways, each of them would double the work, and this would not end."""
    source = line * 200 + "x = !ls"
    assert neutral(source).text == line * 200 + "x = __#"
    indented = part(Cell(1, source, ((0, len(source)),), None))
    assert indented.source == source


def test_many_options_of_a_magic_are_read_in_an_end() -> None:
    source = "%timeit " + "-tt " * 200 + "-"
    assert neutral(source).text == "0#" + source[2:]
