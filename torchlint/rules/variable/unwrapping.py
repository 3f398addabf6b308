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
_LOOSE = (cst.NamedExpr, cst.Yield, cst.GeneratorExp, cst.Tuple, cst.Lambda)


def unwrap(call: cst.Call, inner: cst.Arg, behind: str, context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits; None where a comment would be lost or the argument does not come first."""
    if call.args[0] is not inner:
        return None
    start, end = context.span(call)
    first, last = context.outer_span(inner.value)
    head, tail = context.source.slice(start, first), context.source.slice(last, end)
    if "#" in tail and len(call.args) > 1:
        return None
    if "#" not in head + tail and not _needs_parentheses(call, inner.value, bool(behind), context):
        return Edit(start, first, ""), Edit(last, end, behind)
    return _keeping_parentheses(call, inner, behind, context)


def _keeping_parentheses(call: cst.Call, inner: cst.Arg, behind: str, context: FileContext) -> tuple[Edit, ...]:
    start, end = context.span(call)
    first, last = context.outer_span(inner.value)
    opening = context.outer_span(call.func)[1] + len(_code(call.whitespace_after_func))
    edits = [Edit(start, opening, "")]
    if inner.keyword is not None:
        edits.append(Edit(context.span(inner.keyword)[0], first, ""))
    if len(call.args) > 1:
        edits.append(Edit(last, end - 1, ""))
    elif isinstance(inner.comma, cst.Comma):
        comma = last + len(_code(inner.comma.whitespace_before).encode())
        edits.append(Edit(comma, comma + 1, ""))
    return (*edits, Edit(end, end, behind)) if behind else tuple(edits)


def _needs_parentheses(call: cst.Call, value: cst.BaseExpression, suffixed: bool, context: FileContext) -> bool:
    if value.lpar:
        return False
    if not isinstance(value, _ATOMS):
        return suffixed or isinstance(value, _LOOSE) or not (call.lpar or isinstance(context.parent(call), _OPEN))
    try:
        return len(ast.parse(context.code(value)).body) != 1
    except (SyntaxError, ValueError):  # a line break outside brackets
        return True


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
