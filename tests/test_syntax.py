"""AstIndex, regions, trees, spans and the bridge between the two parsers, held against the text itself."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nightly import in_turn
from torchlint.diagnostics.registry import RULES
from torchlint.source.text import Source, decode
from torchlint.syntax.ast_index import AstIndex, index_of
from torchlint.syntax.cst import Bridge, Definition, NotParsed
from torchlint.syntax.regions import Region, candidate_regions, whole

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent
OWN_FILES = in_turn(
    sorted(
        path
        for folder in ("torchlint", "tests", "benchmarks", "docs", "examples")
        for path in (ROOT / folder).rglob("*.py")
    ),
    shares=24,
    name="own files",
)
"""One in 24 of the project's own files, another one with each change of the program."""
WORDS = frozenset[str]().union(*(entry.words for entry in RULES))
DATA = frozenset({"data"})


def read(text: str | bytes) -> Source:
    return decode("some.py", text.encode() if isinstance(text, str) else text)


# ---------------------------------------------------------------------- what regions are
TRICKY = {
    "multi-line string in an indented function": '''
        class A:
            def f(self, x):
                text = """
        not indented
                  deeper"""
                return x.data, text
    ''',
    "comment dedented": """
        class A:
            def f(self, x):
                y = 1
        # dedented
                return x.data
    """,
    "continuation lines": """
        def f(x):
            return (
          x
            # why
              .data
            )
    """,
    "backslash": """
        def f(x):
            y = x \\
                .data
            return y
    """,
    "parentheses around everything": """
        y = ((((x)).data))
        z = ((x).data)[(0)]
    """,
    "f-strings": """
        def f(x):
            return f"{x.data} {x.data!r:>{x.data}} {'a' + f'{x.data}'}"
    """,
    "wide characters": """
        def f(x):
            é = '漢🔥'; y = (é, x.data)  # 🔥
            return y
    """,
    "lambda, walrus, star": """
        g = lambda *a, **k: [(b := a[0].data), *k.data]
        print(*x.data, **y.data, sep=z.data)
    """,
    "async and match": """
        async def f(x):
            async with x.data as a, y.data as b:
                await a.data
            match x.data:
                case [y.data, *_] if b.data:
                    return x.data
    """,
    "decorated class": """
        @one
        @two(x.data)
        class A(B, metaclass=C):
            \"\"\"Text.\"\"\"
            x: int = y.data

            @property
            def data(self): return self.x.data
    """,
    "comprehensions": """
        a = [x.data for x in xs if x.data]
        b = {x.data: y.data for x, y in zs.data}
        c = (x.data for x in (x.data for x in xs))
    """,
    "chained comparison and unary": """
        a = not -x.data < +y.data <= ~z.data ** w.data
    """,
    "try, while, del, global": """
        def f():
            global x
            try:
                while x.data: del y.data
            except (A.data, B) as e:
                raise e.data from None
            else:
                assert x.data, y.data
            finally:
                return x.data
    """,
    "subscripts and slices": """
        a = x.data[1:2, ..., None][y.data:z.data:w.data]
        a[x.data] += y.data
    """,
    "tabs": "def f(x):\n\tif x:\n\t\treturn (x\n\t\t\t.data)\n",
    "form feeds": "\fa = x.data\n\f\ndef f(x):\n\f    y = 1\n    return x.data\n",
    "form feed in a string": "a = '\f'; b = x.data\n",
    "crlf": "class A:\r\n    def f(self, x):\r\n        s = '''\r\n\r\n'''\r\n        return x.data\r\n",
    "cr": "a = 1\rif a:\r    b = x.data\r",
    "no newline, trailing blanks": "def f(x):\n    return x.data  \t",
    "comment at the end": "def f(x):\n    return x.data\n    # the end",
    "blank lines at the end": "def f(x):\n    return x.data\n\n\n\n   \n",
    "byte-order mark": "\ufeffa = x.data\n",
    "string prefixes": "a = rb'\\d' + b'' ; c = u'é' + R'\\x' + x.data\n",
    "line separators in strings": "a = '\x0b\x1c\x85\u2028'; b = x.data\n",
    "decorator behind comment": "class A:\n    # a\n    @d  # b\n\n    # c\n    def f(self, x): return x.data\n",
}
CASES = {name: textwrap.dedent(text) for name, text in TRICKY.items()}


def definitions(source: Source, words: frozenset[str] = WORDS) -> Iterator[tuple[AstIndex, Definition]]:
    made = index_of(source)
    for region in (*candidate_regions(made, words), whole(made)):
        yield made, Definition(source, region)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_regions_are_whole_lines_apart_and_hold_every_candidate(text: str) -> None:
    check_regions(read(text), DATA)


def check_regions(source: Source, words: frozenset[str]) -> None:
    made = index_of(source)
    places = candidate_regions(made, words)
    bounds = [0, *source.line_starts, len(source.utf8)]
    for place in places:
        assert place.start in bounds
        assert place.end in bounds
        assert place.statements
    for one, other in itertools.pairwise(places):
        assert one.end <= other.start
    for node in ast.walk(made.tree):
        if isinstance(node, ast.Attribute) and node.attr == "data" and "data" in words:
            at = made.end(node)
            utils = isinstance(node.value, ast.Attribute) and node.value.attr == "utils"
            assert utils or any(place.start < at <= place.end for place in places)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_spans_give_the_code_of_the_node(text: str) -> None:
    source = read(text)
    for _, definition in definitions(source):
        assert definition.faithful
        assert check_spans(source, definition) > 0


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_regions_and_spans_on_the_projects_own_files(path: Path) -> None:
    source = decode(str(path), path.read_bytes())
    check_regions(source, WORDS)
    for _, definition in definitions(source):
        assert definition.faithful
        check_spans(source, definition)


def check_spans(source: Source, definition: Definition) -> int:
    """Hold every expression's two spans against the code that LibCST prints for it; give how many there were."""
    checked = 0
    for nodes in definition.by_type.values():
        for node in nodes:
            if not isinstance(node, cst.BaseExpression) or isinstance(node, cst.StarredElement):
                continue
            start, end = definition.outer_span(node)
            inner_start, inner_end = definition.span(node)
            if end <= definition.region.start:
                continue  # the condition of the wrapping line
            assert definition.region.start <= start <= inner_start <= inner_end <= end <= definition.region.end
            if _prints_indentation(node):
                continue
            checked += 1
            assert _plain(source.utf8[start:end]) == _plain(definition.module.code_for_node(node).encode())
            if isinstance(node, cst.Tuple) and not node.elements:
                continue  # has no text but its parentheses
            bare = definition.module.code_for_node(node.with_changes(lpar=[], rpar=[])).encode()
            assert _plain(source.utf8[inner_start:inner_end]) == _plain(bare)
    return checked


def _plain(code: bytes) -> bytes:
    """A form feed may be seen by LibCST as the blank it stands for."""
    return code.replace(b"\f", b" ")


def _prints_indentation(node: cst.CSTNode) -> bool:
    """Line breaks inside parentheses print the indentation of where they stand, which one node alone does not know."""
    finder = _BreakFinder()
    node.visit(finder)
    return finder.found


class _BreakFinder(cst.CSTVisitor):
    found = False

    def visit_ParenthesizedWhitespace(self, node: cst.ParenthesizedWhitespace) -> None:  # noqa: N802
        self.found = self.found or node.indent


# ---------------------------------------------------------------------- trees
def test_parents_and_types_leave_no_semantic_node_out() -> None:
    definition = Definition(read("y = f(a, *b, k=c)[0].data\n"), Region(0, 26, ()))
    attribute = definition.by_type[cst.Attribute][0]
    assert definition.parents[attribute] is definition.by_type[cst.Assign][0]
    names = [definition.module.code_for_node(each) for each in definition.by_type[cst.Name]]
    assert sorted(names) == ["a", "b", "c", "data", "f", "k", "y"]
    for nodes in definition.by_type.values():
        for node in nodes:
            assert node is definition.module or node in definition.parents


def test_the_wrapping_line_moves_no_span() -> None:
    source = read("class A:\n    def f(self, x):\n        return x.data\n")
    definition = Definition(source, candidate_regions(index_of(source), DATA)[0])
    attribute = definition.by_type[cst.Attribute][0]
    assert source.slice(*definition.span(attribute)) == "x.data"
    assert source.position(definition.span(attribute)[0]) == (3, 16)


def test_text_that_libcst_refuses() -> None:
    source = read("a = 1\nb = = 2\n")
    with pytest.raises(NotParsed) as caught:
        Definition(source, Region(0, len(source.utf8), ()))
    assert caught.value.row == 2


def outside_of(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Yield the nodes inside a node, those inside one of some types left out: the plain way."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, kinds):
            yield from outside_of(child, kinds)


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nodes_inside_a_node_are_found_by_type_in_the_order_of_the_text(path: Path) -> None:
    made = index_of(decode(str(path), path.read_bytes()))
    kinds, scopes = (ast.Name, ast.Call, ast.FunctionDef), (ast.FunctionDef, ast.Lambda, ast.ClassDef)
    for owner in (made.tree, *made.nodes(ast.FunctionDef), *made.nodes(ast.For)):
        below = made.within(owner)[1:]
        assert made.inside(owner, *kinds) == [each for each in below if isinstance(each, kinds)]
        own = set(outside_of(owner, scopes))
        assert made.inside(owner, *kinds, but=scopes) == [
            each for each in below if isinstance(each, kinds) and each in own
        ]


# ---------------------------------------------------------------------- the bridge
@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_the_bridge_finds_the_same_expression(text: str) -> None:
    source = read(text)
    for made, definition in definitions(source, DATA):
        check_bridge(made, definition)


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_bridge_on_the_projects_own_files(path: Path) -> None:
    source = decode(str(path), path.read_bytes())
    for made, definition in definitions(source):
        check_bridge(made, definition)


def check_bridge(made: AstIndex, definition: Definition) -> None:
    bridge = Bridge(made, definition)
    for kind in (cst.Name, cst.Attribute, cst.Call, cst.Subscript):
        for node in definition.by_type.get(kind, ()):
            if not _is_expression(node, definition):
                continue
            known = bridge.python(node)
            assert known is not None, definition.module.code_for_node(node)
            assert ast.dump(_loaded(known)) == ast.dump(_parsed(definition.module.code_for_node(node)))


def _is_expression(node: cst.CSTNode, definition: Definition) -> bool:
    """Leave out names that are no expression to the stdlib: of attributes, keywords, functions, imports."""
    above = definition.parents[node]
    if isinstance(above, cst.Attribute) and above.attr is node:
        return False
    if isinstance(above, cst.Arg) and above.keyword is node:
        return False
    if isinstance(above, cst.FunctionDef | cst.ClassDef | cst.Param | cst.NameItem):
        return above is not None and node is not getattr(above, "name", None)
    around: cst.CSTNode | None = node
    while around is not None:
        if isinstance(around, cst.Import | cst.ImportFrom):
            return False
        if isinstance(around, cst.MatchPattern):
            return False
        if isinstance(around, cst.AsName) and isinstance(definition.parents[around], cst.ExceptHandler):
            return False
        around = definition.parents.get(around)
    return True


def _parsed(code: str) -> ast.expr:
    return _loaded(ast.parse(f"({code})", mode="eval").body)


def _loaded(node: ast.expr) -> ast.expr:
    copy: ast.expr = ast.parse(f"({ast.unparse(node)})", mode="eval").body
    return copy


# ---------------------------------------------------------------------- properties
ATOMS = st.sampled_from(["x", "é", "'漢'", "1.5", "f'{x.data}'", "b''", "None", "(x)", "( x )", "...", "'''a\nb'''"])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        inner.map(lambda a: f"({a}).data"),
        inner.map(lambda a: f"(({a}))"),
        pair.map(lambda ab: f"({ab[0]} + {ab[1]})"),
        pair.map(lambda ab: f"f({ab[0]}, *{ab[1]}, k={ab[0]})"),
        pair.map(lambda ab: f"[{ab[0]},{ab[1]} ,]"),
        pair.map(lambda ab: f"({ab[0]})[{ab[1]}]"),
        pair.map(lambda ab: f"(lambda a: {ab[0]}, {ab[1]})"),
        pair.map(lambda ab: f"({ab[0]} if {ab[1]} else  # why\n  {ab[0]})"),
        pair.map(lambda ab: f"({ab[0]}  # é\n      , {ab[1]}\n)"),
    )


EXPRESSIONS = st.recursive(ATOMS, _grown, max_leaves=8)
LAYOUTS = st.sampled_from(
    [
        "y = {}\n",
        "def f():\n    return {}\n",
        "class A:\n\tdef f(self):\n\t\tif 1: return {}\n\t\tpass",
        "# é\nclass A:\n    @d\n    async def f(self, a={}):\n        '''漢\n'''\n",
        "\fx = 1; y = {}; z = 2\n",
    ]
)


@given(LAYOUTS, EXPRESSIONS)
def test_spans_and_bridge_on_any_expression(layout: str, expression: str) -> None:
    source = read(layout.replace("{}", expression))
    check_regions(source, DATA)
    for made, definition in definitions(source, DATA):
        assert definition.faithful
        check_spans(source, definition)
        check_bridge(made, definition)
