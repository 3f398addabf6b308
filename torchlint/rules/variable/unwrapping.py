"""The edits that take a wrapper off an expression, and statements that would bind a name to itself once it is gone."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.evidence.aliasing import has_no_other_reference
from torchlint.rules.evidence.removal import without_statement
from torchlint.rules.evidence.tensor_proof import is_detached
from torchlint.rules.evidence.variable_calls import is_literal, variable_call


def removal(call: cst.Call, context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edit that deletes the assignment a call stands in.

    None where it does more than bind names to themselves, where one of their tensors is held elsewhere too, or where
    the statement cannot go.
    """
    assignment = _assignment(call, context)
    if assignment is None or not all(_binds_itself(*pair, context) for pair in _pairs(assignment)):
        return None
    edit = without_statement(assignment, context)
    return (edit,) if edit else None


def _assignment(call: cst.Call, context: FileContext) -> cst.Assign | None:
    above = context.parent(call)
    if isinstance(above, cst.Element):
        above = context.parent(above)
        above = context.parent(above) if isinstance(above, cst.Tuple) else None
    return above if isinstance(above, cst.Assign) and len(above.targets) == 1 else None


def _pairs(assignment: cst.Assign) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    target, value = assignment.targets[0].target, assignment.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        return [(one.value, other.value) for one, other in zip(target.elements, value.elements, strict=True)]
    return [(target, value)]


def _binds_itself(target: cst.BaseExpression, value: cst.BaseExpression, context: FileContext) -> bool:
    match target, value:
        case cst.Name(value=word), cst.Call(args=[cst.Arg(value=cst.Name(value=same)) as data, *_]) if word == same:
            wrapper = variable_call(value, context)
        case _:
            return False
    if wrapper is None or wrapper.data is not data or wrapper.volatile or not wrapper.plain:
        return False
    if wrapper.requires_grad and not is_literal(wrapper.requires_grad, "False"):
        return False
    name = context.python(data.value)
    if not isinstance(name, ast.Name) or not is_detached(name, context):
        return False
    statement = context.nearest(name, ast.stmt)
    return statement is not None and has_no_other_reference(name, statement, context)


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
