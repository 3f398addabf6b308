"""The LibCST tree of a region of a file: nodes by type, parents, exact byte spans, and each one's `ast` node."""

from __future__ import annotations

import ast
import bisect
import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property

import libcst as cst
from libcst._nodes.internal import CodegenState

from torchlint.source.text import Source
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.regions import Region

_WRAP = "if 1:\n"
"""Stands before an indented region, so that it parses as it is: dedenting would change multi-line strings."""

_FORM_FEED = re.compile(r"(?:(?<=[\r\n])|\A)[ \t\f]*\f")
"""At a line's start, where Python forgets the indentation before it and LibCST's printer loses it."""

_LAYOUT = frozenset(
    [
        "lpar",
        "rpar",
        "lbracket",
        "rbracket",
        "lbrace",
        "rbrace",
        "comma",
        "semicolon",
        "equal",
        "dot",
        "colon",
        "star",
        "leading_lines",
        "lines_after_decorators",
        "trailing_whitespace",
        "header",
        "footer",
        "indent",
        "lines_after_as",
        "asynchronous_whitespace",
    ]
)

Span = tuple[int, int]


class NotParsed(Exception):
    """LibCST refuses the text; ``row`` counts from 1 and ``column`` from 1, both within the text given."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message, self.row, self.column = message, row, column


class Definition:
    """A region as a LibCST tree.

    :raises NotParsed: where LibCST refuses the text.
    """

    def __init__(self, source: Source, region: Region) -> None:
        self.source = source
        self.region = region
        text = source.slice(region.start, region.end)
        self._prefix = _WRAP if text[:1] in (" ", "\t") else ""
        self._dropped = _form_feeds(self._prefix + text)
        self._text = _FORM_FEED.sub("", self._prefix + text)
        self.module = _parse(self._text)

    @cached_property
    def _walked(self) -> tuple[dict[cst.CSTNode, cst.CSTNode], dict[type[cst.CSTNode], list[cst.CSTNode]]]:
        above: dict[cst.CSTNode, cst.CSTNode] = {}
        found: dict[type[cst.CSTNode], list[cst.CSTNode]] = defaultdict(list)
        stack: list[cst.CSTNode] = [self.module]
        while stack:
            node = stack.pop()
            found[type(node)].append(node)
            below = list(semantic_children(node))
            for child in below:
                above[child] = node
            below.reverse()
            stack.extend(below)
        return above, found

    @property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """The node above each node; whitespace and punctuation left out."""
        return self._walked[0]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, innermost first."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    @property
    def by_type(self) -> dict[type[cst.CSTNode], list[cst.CSTNode]]:
        """All nodes by their type, the one around before the one inside."""
        return self._walked[1]

    @cached_property
    def _spans(self) -> _Spans:
        """From one code generation of the region, asked for only when something is to be said."""
        recorder = _Spans(default_indent=self.module.default_indent, default_newline=self.module.default_newline)
        self.module._codegen(recorder)
        return recorder

    def span(self, node: cst.CSTNode) -> Span:
        """Return where a node stands in :attr:`Source.utf8`, parentheses around it not counted."""
        return self._placed(self._spans.inner.get(node) or self._spans.outer[node])

    def outer_span(self, node: cst.CSTNode) -> Span:
        """Return where a node stands in :attr:`Source.utf8` with the parentheses around it."""
        return self._placed(self._spans.outer[node])

    def _placed(self, span: Span) -> Span:
        shift = self.region.start - len(self._prefix)
        start, end = span
        if self._dropped:
            start += bisect.bisect_right(self._dropped, start)
            end += bisect.bisect_left(self._dropped, end)
        return start + shift, end + shift

    def prints_source(self, start: int, end: int) -> bool:
        """Whether bytes of :attr:`Source.utf8` are printed as they stand when they run: in `f"{x.data=}"`."""
        return any(first < end and start < last for first, last in self._printed_fields)

    @cached_property
    def _printed_fields(self) -> list[Span]:
        fields = self.by_type.get(cst.FormattedStringExpression, ())
        return [self.span(each) for each in fields if getattr(each, "equal", None) is not None]

    @property
    def faithful(self) -> bool:
        """Whether LibCST prints the text as it was read; only then can its spans be trusted."""
        return self._spans.printed.rstrip() == self._text.encode().rstrip()


def _form_feeds(text: str) -> list[int]:
    """Return where bytes are taken out before parsing, each as an offset in what remains."""
    dropped: list[int] = []
    for found in _FORM_FEED.finditer(text):
        at = len(text[: found.start()].encode())
        for _ in found.group():
            dropped.append(at - len(dropped))
            at += 1
    return dropped


class _Spans(CodegenState):
    """Prints a tree and notes the bytes at which each node begins and ends, with and without its parentheses."""

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent, default_newline)
        self.inner: dict[cst.CSTNode, Span] = {}
        self.outer: dict[cst.CSTNode, Span] = {}
        self._at = 0
        self._open: list[int] = []

    @cached_property
    def printed(self) -> bytes:
        """All that was printed."""
        return "".join(self.tokens).encode()

    def add_indent_tokens(self) -> None:
        super().add_indent_tokens()
        self._at += sum(len(token.encode()) for token in self.indent_tokens)

    def add_token(self, value: str) -> None:
        super().add_token(value)
        self._at += len(value) if value.isascii() else len(value.encode())

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._open.append(self._at)

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.outer[node] = (self._open.pop(), self._at)

    def record_syntactic_position(  # type: ignore[override]  # a generator takes longer, tens of thousands of times
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)

    def note(self, node: cst.CSTNode, start: int, first: cst.CSTNode | None, last: cst.CSTNode | None) -> None:
        """Take notice that a node was printed from an offset on: all of it, or from a first to a last part."""
        self.inner[node] = (
            self.outer[first][0] if first in self.outer else start,
            self.outer[last][1] if last in self.outer else self._at,
        )


class _Syntactic:
    """What LibCST puts around the printing of a node without its parentheses."""

    __slots__ = ("_first", "_last", "_node", "_spans", "_start")

    def __init__(self, spans: _Spans, node: cst.CSTNode, first: cst.CSTNode | None, last: cst.CSTNode | None) -> None:
        self._spans, self._node, self._first, self._last = spans, node, first, last

    def __enter__(self) -> None:
        self._start = self._spans._at

    def __exit__(self, *_: object) -> None:
        self._spans.note(self._node, self._start, self._first, self._last)


def semantic_children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes right below a node in the order of the text, whitespace and punctuation left out."""
    for name in _semantic_fields(type(node)):
        value = getattr(node, name)
        kind = type(value)
        if kind is tuple or kind is list:
            yield from value
        elif kind is not str and value is not None and _is_node(kind):
            yield value


def _is_node(kind: type[object]) -> bool:
    """Whether objects of a type are nodes: asking each one would go through the machinery of abstract classes."""
    if kind not in _NODES:
        _NODES[kind] = issubclass(kind, cst.CSTNode)
    return _NODES[kind]


_NODES: dict[type[object], bool] = {}


@cache
def _semantic_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(
        each.name
        for each in dataclasses.fields(kind)
        if each.name not in _LAYOUT and "whitespace" not in each.name and not each.name.startswith("_")
    )


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise NotParsed(error.message, error.raw_line, error.raw_column + 1) from None


_KINDS: dict[type[cst.CSTNode], type[ast.AST] | tuple[type[ast.AST], ...]] = {
    cst.Name: (ast.Name, ast.Constant),
    cst.Attribute: ast.Attribute,
    cst.Call: ast.Call,
    cst.Subscript: ast.Subscript,
}

_BySpan = dict[Span, list[ast.expr]]
"""Expressions by where they stand: more than one where Python is not exact, inside f-strings."""


class Bridge:
    """Finds the stdlib's node by its span, or by its text where spans are unreliable: inside f-strings."""

    def __init__(self, index: AstIndex, definition: Definition) -> None:
        self._index = index
        self._definition = definition

    @cached_property
    def _by_span(self) -> _BySpan:
        found: _BySpan = {}
        for statement in self._definition.region.statements:
            for node in self._index.within(statement):
                if isinstance(node, ast.expr) and node.end_lineno is not None:
                    found.setdefault((self._index.start(node), self._index.end(node)), []).append(node)
        return found

    @cached_property
    def _by_text(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        nodes = (each for statement in self._definition.region.statements for each in ast.walk(statement))
        for node in (inner for each in nodes if isinstance(each, ast.JoinedStr) for inner in ast.walk(each)):
            if isinstance(node, ast.expr):
                found.setdefault(ast.unparse(node), node)
        return found

    def python(self, node: cst.CSTNode) -> ast.expr | None:
        """Return the stdlib's node for a LibCST expression; None where there is none."""
        spans = (self._definition.span(node), self._definition.outer_span(node))
        return _at(spans, node, self._by_span) or self._inside_string(node)

    def _inside_string(self, node: cst.CSTNode) -> ast.expr | None:
        if not self._by_text or not isinstance(node, cst.BaseExpression):
            return None
        try:
            text = ast.unparse(ast.parse(f"({self._definition.module.code_for_node(node)})", mode="eval"))
        except (SyntaxError, ValueError):
            return None
        return self._by_text.get(text)


def _at(spans: tuple[Span, Span], node: cst.CSTNode, known: _BySpan) -> ast.expr | None:
    """Find the stdlib's node for a LibCST expression at one of two spans, the first before the second."""
    wanted = _KINDS.get(type(node), ast.expr)
    fitting = (each for span in spans for each in known.get(span, ()) if isinstance(each, wanted) and _fits(node, each))
    return next(fitting, None)


def _fits(node: cst.CSTNode, found: ast.expr) -> bool:
    """Positions inside f-strings are not exact before Python 3.12: the words must agree too."""
    match node, found:
        case cst.Name(value=word), ast.Name(id=other):
            return word == other
        case cst.Attribute(attr=cst.Name(value=word)), ast.Attribute(attr=other):
            return word == other
    return True
