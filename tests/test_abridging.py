"""What LibCST is spared of a stretch: nothing that a rule may speak of or ask about, and no byte is moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.test_syntax import CASES, DATA, OWN_FILES, WORDS, read
from torchlint.config import Config
from torchlint.engine import check_bytes
from torchlint.source import Source, decode
from torchlint.syntax.abridging import abridged, cuts
from torchlint.syntax.definition import Definition, Span
from torchlint.syntax.outline import outline
from torchlint.syntax.stretches import stretches, whole


def short(text: str) -> str:
    """Give the abridged text of the first stretch, with what is left of each cut written as ``0``."""
    made = outline(read(text))
    found = abridged(made, stretches(made, DATA)[0])
    assert len(found) == len(text)
    return re.sub(r"0#+", "0", found)


# ---------------------------------------------------------------------- what stays, and what goes
CUT = {
    "statements without a candidate": (
        "def f(x):\n    '''Text.'''\n    y = 1\n    if y:\n        y = 2\n\n    z = y\n    return x.data\n",
        "def f(x):\n    0\n\n    z = y\n    return x.data\n",
    ),
    "heads around a candidate stay": (
        "@d\ndef f(x):\n    a = 1\n    with a:\n        b = 1\n        if b:\n            b = 2\n"
        "        for c in b:\n            x.data\n            b = 3\n    return a\n",
        "@d\ndef f(x):\n    a = 1\n    with a:\n        0\n        for c in b:\n            x.data\n"
        "            0\n    0\n",
    ),
    "a head that holds the candidate stays without its body": (
        "for x in y.data:\n    a = 1\n    b = 2\nelse:\n    c = 3\n",
        "for x in y.data:\n    0\nelse:\n    0\n",
    ),
    "every branch keeps its head": (
        "try:\n    a = 1\nexcept A:\n    b = 2\nelse:\n    x.data\nfinally:\n    c = 3\n"
        "match x.data:\n    case 1:\n        d = 4\n    case _:\n        x.data\n",
        "try:\n    0\nexcept A:\n    0\nelse:\n    x.data\nfinally:\n    0\n"
        "match x.data:\n    case 1:\n        0\n    case _:\n        x.data\n",
    ),
    "an elif is part of what is before it": (
        "if a:\n    x.data\nelif b:\n    c = 1\n    d = 2\nelif e:\n    f = 3\nelse:\n    g = 4\n",
        "if a:\n    x.data\nelif b:\n    0\nelif e:\n    0\nelse:\n    0\n",
    ),
    "an if in an else is no elif": (
        "if a:\n    x.data\nelse:\n    if b:\n        c = 1\n",
        "if a:\n    x.data\nelse:\n    0\n",
    ),
    "the simple statement before a candidate stays": (
        "def f(x):\n    a = 1\n    b = 2\n    x.data\n    c = 3\n",
        "def f(x):\n    0\n    b = 2\n    x.data\n    0\n",
    ),
    "a compound statement before a candidate goes": (
        "def f(x):\n    if x:\n        b = 2\n    x.data\n",
        "def f(x):\n    0\n    x.data\n",
    ),
    "statements that share a line with what stays do too": (
        "def f(x):\n    a = 1\n    b = 2; c = 3; x.data; d = 4\n    e = 5; f = 6  # why\n",
        "def f(x):\n    0\n    b = 2; c = 3; x.data; d = 4\n    0  # why\n",
    ),
    "so do those on a head's line": (
        "def f(x):\n    if x: a = 1; x.data\n    else: b = 2\n",
        "def f(x):\n    if x: a = 1; x.data\n    else: b = 2\n",
    ),
    "decorators go with their function": (
        "def f(x):\n    @a\n    @b(\n        1\n    )\n    def g():\n        pass\n\n    return x.data\n",
        "def f(x):\n    0\n\n    return x.data\n",
    ),
    "strings over several lines go as a whole": (
        'def f(x):\n    a = """\nx.data\n"""; b = 1\n    c = 1\n    return x.data\n',
        "def f(x):\n    0\n    c = 1\n    return x.data\n",
    ),
}


@pytest.mark.parametrize(("text", "left"), CUT.values(), ids=CUT)
def test_what_holds_no_candidate_goes(text: str, left: str) -> None:
    assert short(text) == left


def test_a_file_that_is_looked_at_as_a_whole_stays_as_it_is() -> None:
    text = "def f(x):\n    a = 1\n    return x.data\n"
    made = outline(read(text))
    assert cuts(made, whole(made)) == []
    assert abridged(made, whole(made)) == text


# ---------------------------------------------------------------------- no byte is moved
def check_abridged(source: Source, words: frozenset[str]) -> int:
    """Hold every stretch's abridged text against its own; give how many candidates there were."""
    made, seen = outline(source), 0
    for place in stretches(made, words):
        gone, text = cuts(made, place), abridged(made, place)
        assert len(text.encode()) == place.end - place.start
        ours, full = Definition(source, place, text), Definition(source, place)
        assert ours.faithful
        assert list(spans(ours, words)) == [each for each in spans(full, words) if not inside(each[1], gone)]
        nodes = [node for each in place.statements for node in ast.walk(each) if is_candidate(node, words)]
        assert not [node for node in nodes if inside((made.start(node), made.end(node)), gone)]
        seen += len(nodes)
    return seen


def inside(span: Span, gone: list[Span]) -> bool:
    """Whether a span lies in one of the cuts; none may lie there in part."""
    assert not any(span[0] < start < span[1] < end or start < span[0] < end < span[1] for start, end in gone)
    return any(start <= span[0] and span[1] <= end for start, end in gone)


def is_candidate(node: ast.AST, words: frozenset[str]) -> TypeGuard[ast.expr]:
    match node:
        case ast.Attribute(attr="data", value=ast.Attribute(attr="utils")):
            return False
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word in words
    return False


def spans(definition: Definition, words: frozenset[str]) -> Iterator[tuple[str, Span, Span, list[type[cst.CSTNode]]]]:
    """Give the two spans of each node that bears a word, and the types of the nodes around it."""
    for node in definition.by_type.get(cst.Attribute, ()):
        if isinstance(node, cst.Attribute) and node.attr.value in words:
            around, above = [], definition.parents.get(node)
            while above is not None:
                around.append(type(above))
                above = definition.parents.get(above)
            yield node.attr.value, definition.span(node), definition.outer_span(node), around


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_tricky_texts_keep_their_candidates_in_place(text: str) -> None:
    assert check_abridged(read(text), DATA)


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_projects_own_files_keep_their_candidates_in_place(path: Path) -> None:
    check_abridged(decode(str(path), path.read_bytes()), WORDS | {"text"})


_SIMPLE = st.sampled_from(
    [
        *("a = 1", "x.data", "b = x.data + (\n1)", "s = '''\nx.data\n'''", "pass", "del a; b = 2"),
        *("c = 3; x.data;", "d = 4 \\\n+ 5", "e = 5; \\\n  x.data", "é = x.data; f = 6"),
    ]
)
_HEADS = st.sampled_from(
    ["if a:", "if x.data:", "for a in b:", "while a:", "with a as b:", "@d\n{0}def f():", "class A:", "async def g():"]
)


def _indented(text: str, depth: int) -> str:
    return f"{' ' * depth}{text.format(' ' * depth)}\n"


@st.composite
def _blocks(draw: st.DrawFn, depth: int = 0) -> str:
    made = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 6 and draw(st.booleans()):
            head = draw(_HEADS)
            made.append(_indented(head, depth) + draw(_blocks(depth + 2)))
            if head.startswith("if"):
                others = draw(st.lists(st.sampled_from(["elif a:", "elif x.data:"]), max_size=2))
                made.extend(_indented(other, depth) + draw(_blocks(depth + 2)) for other in others)
            if head[:2] in ("if", "fo", "wh") and draw(st.booleans()):
                made.append(_indented("else:", depth) + draw(_blocks(depth + 2)))
        else:
            made.append(_indented(draw(_SIMPLE), depth))
        made.append(draw(st.sampled_from(["", "", "\n", "# x.data\n", _indented("# why", depth)])))
    return "".join(made)


@settings(max_examples=300)
@given(_blocks())
def test_texts_at_random_keep_their_candidates_in_place(text: str) -> None:
    check_abridged(read(text), DATA)


# ---------------------------------------------------------------------- what LibCST does not read
def test_a_fix_reaches_over_what_was_cut_out() -> None:
    lines = ["import torch", "", "", "def f(w: torch.Tensor):", '    """Text."""', "    a = 1", "    b = '''", "'''"]
    text = "\n".join([*lines, "    return w.detach().data", ""])
    (finding,) = check_bytes("some.py", text.encode(), Config(select=("ALL",))).findings
    assert finding.start == text.index("data")
