"""Statements that would bind names to themselves once a wrapper is gone: ``x, y = Variable(x), Variable(y)``."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.model import Edit
from torchlint.rule import FileContext
from torchlint.rules.detached_proof import never_requires_grad_here
from torchlint.rules.statement_removal import without_statement
from torchlint.rules.tensor_objects import only_here
from torchlint.rules.variable_calls import is_literal, read


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
            wrapper = read(value, context)
        case _:
            return False
    if wrapper is None or wrapper.data is not data or wrapper.volatile or not wrapper.plain:
        return False
    if wrapper.requires_grad and not is_literal(wrapper.requires_grad, "False"):
        return False
    name = context.python(data.value)
    if not never_requires_grad_here(data.value, context) or not isinstance(name, ast.Name):
        return False
    statement = next((each for each in context.ancestors(name) if isinstance(each, ast.stmt)), None)
    return statement is not None and only_here(name, statement, context)
