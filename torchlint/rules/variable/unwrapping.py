"""The edits that take a wrapper off an expression."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext

_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.ListComp)
_OPEN = (
    cst.Arg, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return, cst.Expr, cst.Element, cst.DictElement, cst.Index,
)  # fmt: skip
"""Where an expression needs no parentheses, however it is made."""


def unwrap(call: cst.Call, inner: cst.Arg, behind: str, context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits; None where the argument does not come first, or a comment or a line break is in the way."""
    start, end = context.span(call)
    first, last = context.outer_span(inner.value)
    head, tail = context.source.slice(start, first), context.source.slice(last, end)
    if call.args[0] is not inner or "#" in head + tail or "\n" in behind:
        return None
    needs = _needs_parentheses(call, inner.value, bool(behind), context)
    opening, closing = ("(", ")") if needs else ("", "")
    return Edit(start, first, opening), Edit(last, end, closing + behind)


def _needs_parentheses(call: cst.Call, value: cst.BaseExpression, suffixed: bool, context: FileContext) -> bool:
    if value.lpar:
        return False
    if not isinstance(value, _ATOMS):
        return suffixed or not (call.lpar or isinstance(context.parent(call), _OPEN))
    try:
        return len(ast.parse(context.code(value)).body) != 1
    except (SyntaxError, ValueError):  # a line break outside brackets
        return True
