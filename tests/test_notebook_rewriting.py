"""Fixes of random notebooks: JSON as it was but for the lines that change, which Jupyter's own library still reads."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import torchlint
from tests.notebooks import PYTHON, code, notebook, sources
from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Edit, Finding, Fix
from torchlint.diagnostics.splice import splice
from torchlint.source.edits import replacements
from torchlint.source.notebook_edits import allows
from torchlint.source.notebook_module import Notebook
from torchlint.syntax.parse import read

UNSAFE = Config(unsafe_fixes=True)
SETUP = "import torch\nfrom torch.autograd import Variable\nw = torch.ones(3, requires_grad=True)"

LINES = st.sampled_from(
    [
        "y = w.numpy()",
        "w.numpy();",
        "print('é', \"q\", w.numpy())  # ü \\ \t",
        "w.data.fill_(3)",
        "w.data.fill_(3);  # kept",
        "z = Variable(torch.zeros(2))",
        "from torch.autograd import Variable",
        "t = torch.FloatTensor([1, 2])",
        "if True:\n    w.data.zero_()\n    q = w.numpy()",
        "def f(v):\n    '''\n    %no magic\n    '''\n    return (\n        v.data\n    )",
        "s = '😀'; u = w.numpy()",
        "x = 1",
        "",
        "   ",
        "# only words",
        "%time r = w.numpy()",
        "%matplotlib inline",
        "!ls",
        "files = !ls",
        "w?",
        "await f(w.numpy())",
    ]
)
SPECIAL = st.sampled_from(
    ["", "%%bash\nw.numpy()", "def broken(:\n    w.numpy()", "%%time\nw.numpy()", "  i = w.numpy()\n  w.data.fill_(4)"]
)
NEWLINES = st.sampled_from(["\n", "\n", "\n", "\r\n"])


@st.composite
def code_sources(draw: st.DrawFn) -> str:
    source = draw(st.one_of(st.lists(LINES, max_size=5).map("\n".join), SPECIAL)) + draw(st.sampled_from(["", "\n"]))
    return source.replace("\n", draw(NEWLINES))


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["code", "code", "code", "markdown", "raw"]))
    made: dict[str, Any] = {"cell_type": kind, "metadata": draw(st.sampled_from([{}, {"tags": ["w.numpy()", "é\t"]}]))}
    if kind == "code":
        text = {"output_type": "stream", "name": "stdout", "text": ["w.numpy()\n", "\x1b[0m é 😀"]}
        made |= {"execution_count": draw(st.sampled_from([None, 3])), "outputs": draw(st.sampled_from([[], [text]]))}
    source = draw(code_sources())
    made["source"] = source if draw(st.booleans()) else source.splitlines(keepends=True)
    return dict(draw(st.permutations(list(made.items()))))


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    indent = draw(st.sampled_from([None, 1, 4, "\t"]))
    compact = draw(st.booleans()) and indent is None
    return {
        "indent": indent,
        "ensure_ascii": draw(st.booleans()),
        **({"separators": (",", ":")} if compact else {}),
    }


def stored(made: dict[str, Any], layout: dict[str, Any], mark: bool, newline: str, end: str) -> bytes:
    text = json.dumps(made, **layout).replace("\n", newline) + end
    return (b"\xef\xbb\xbf" if mark else b"") + text.encode()


@given(
    st.lists(cells(), max_size=6),
    layouts(),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\r\n "]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_fixed_notebook_is_the_old_one_with_other_sources(
    drawn: list[dict[str, Any]], layout: dict[str, Any], mark: bool, newline: str, end: str
) -> None:
    made = {"cells": [code(SETUP), *drawn], "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 4}
    before = stored(made, layout, mark, newline, end)
    result = torchlint.fix(before, path="a.ipynb", config=UNSAFE)
    assert result.remaining.troubles == ()

    for cell, source in zip(made["cells"], sources(result.raw), strict=True):  # type: ignore[call-overload]
        if cell["cell_type"] != "code":
            assert source == "".join(cell["source"])
        cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)
    expected = stored(made, layout, mark, newline, end)
    # JSON that has no character outside ASCII does not say how it would spell one: nothing inserted here has any.
    assert result.raw == expected

    again = torchlint.fix(result.raw, path="a.ipynb", config=UNSAFE)
    assert (again.raw, again.fixed) == (result.raw, ())
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    if not mark:
        nbformat.validate(nbformat.reads(result.raw.decode(), as_version=4))


@st.composite
def strings(draw: st.DrawFn, source: str) -> list[str] | str:
    """Part a source as Jupyter does, or anywhere: formats allow any list of strings, and one string."""
    kind = draw(st.sampled_from(["lines", "lines", "anywhere", "one"]))
    if kind != "anywhere":
        return source if kind == "lines" else [source]
    at = sorted(draw(st.lists(st.integers(0, len(source)), max_size=4)))
    return [source[start:end] for start, end in pairwise([0, *at, len(source)])]


@given(st.lists(code_sources(), min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_any_edits_that_stay_in_their_cells_change_these_characters_alone(
    parts: list[str], data: st.DataObject
) -> None:
    raw = notebook(*(code(data.draw(strings(each))) for each in parts))
    source = read("a.ipynb", raw).source
    assert isinstance(source, Notebook)
    assume(not any(any(each.margins) for each in source.parts))  # there a row begins behind the indentation
    size = len(source.utf8)
    edits: list[Edit] = []
    last = 0
    while last < size and len(edits) < 4:
        start = data.draw(st.integers(last, size))
        stop = data.draw(st.integers(start, min(start + 12, size)))
        new = Edit(start, stop, data.draw(st.sampled_from(["", "é", "a\nb\n", "\n", 'x"\\'])))
        if source.utf8[start : start + 1].hex() < "80" and source.utf8[stop : stop + 1].hex() < "80":
            edits += [new] * allows(source, [new])
        last = stop + 1
    fix = Fix("any", tuple(edits))
    after = splice(source, [Finding("TNS101", "n", 0, 0, "m", Confidence.CERTAIN, (), fix)]).raw

    assert sources(after) == [_edited(source, index, edits) for index in range(len(parts))]
    spliced = source.json.split("\n")
    for each in sorted(replacements(source, edits), key=lambda each: each.start, reverse=True):
        (row, column), (end, stop) = each.start, each.end
        text = spliced[row - 1][: column - 1] + each.text + spliced[end - 1][stop - 1 :]
        spliced[row - 1 : end] = text.split("\n")
    assert "\n".join(spliced).encode() == after
    kept = [line for line in raw.split(b"\n") if b'"source"' not in line]
    assert [line for line in after.split(b"\n") if line in kept and line.startswith(b'   "')] == [
        line for line in kept if line.startswith(b'   "')
    ]


def _edited(source: Notebook, index: int, edits: list[Edit]) -> str:
    """Edit a cell's own text and the newline that ends it, and take away the newline that then ends it."""
    part, start = source.parts[index], source.starts[index]
    text = f"{part.source}\0"
    for edit in sorted(edits, key=lambda each: each.start, reverse=True):
        if source.index(edit.start) == index:
            first = len(source.utf8[start : edit.start].decode())
            last = len(source.utf8[start : edit.end].decode())
            text = text[:first] + edit.text.replace("\n", part.newline) + text[last:]
    if text.endswith("\0"):
        return text[:-1]
    return re.sub(r"(\r\n|\r|\n)\Z", "", text.replace("\0", part.newline))


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_a_list_of_one_string_grows_as_the_notebook_spells_lists(separators: tuple[str, str]) -> None:
    made = notebook(code(SETUP), {**code(""), "source": ["w.data.fill_(3)"]})
    before = json.dumps(json.loads(made), separators=separators).encode()
    after = torchlint.fix(before, path="a.ipynb", config=UNSAFE).raw
    assert json.loads(after)["cells"][-1]["source"] == ["with torch.no_grad():\n", "    w.fill_(3)"]
    assert after == json.dumps(json.loads(after), separators=separators).encode()
