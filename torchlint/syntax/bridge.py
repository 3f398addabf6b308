"""From a LibCST node to the stdlib's node for the same text."""

from __future__ import annotations

import ast
from functools import cached_property

import libcst as cst

from torchlint.syntax.definition import Definition, Span
from torchlint.syntax.outline import Outline

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

    def __init__(self, outline: Outline, definition: Definition) -> None:
        self._outline = outline
        self._definition = definition

    @cached_property
    def _by_span(self) -> _BySpan:
        found: _BySpan = {}
        for statement in self._definition.stretch.statements:
            for node in self._outline.within(statement):
                if isinstance(node, ast.expr) and node.end_lineno is not None:
                    found.setdefault((self._outline.start(node), self._outline.end(node)), []).append(node)
        return found

    @cached_property
    def _by_text(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for statement in self._definition.stretch.statements:
            for string in ast.walk(statement):
                if isinstance(string, ast.JoinedStr):
                    for node in ast.walk(string):
                        if isinstance(node, ast.expr):
                            found.setdefault(ast.unparse(node), node)
        return found

    def python(self, node: cst.CSTNode) -> ast.expr | None:
        """Give the stdlib's node for a LibCST expression; None where there is none."""
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
