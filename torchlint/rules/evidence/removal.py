"""The edits that delete a statement or take an argument out of a call, with comments and commas seen to."""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext


def without_statement(statement: cst.BaseSmallStatement, context: FileContext) -> Edit | None:
    """Make the edit; None where a comment would go with it, others share its line, or its block would be empty."""
    line = context.parent(statement)
    start, end = context.span(statement)
    if not isinstance(line, cst.SimpleStatementLine) or "#" in context.source.slice(start, end):
        return None
    if len(line.body) > 1:
        return None
    block = context.parent(line)
    if not isinstance(block, cst.Module) and not (isinstance(block, cst.IndentedBlock) and len(block.body) > 1):
        return None
    comment = line.trailing_whitespace.comment
    if comment is not None:
        return Edit(start, context.source.utf8.index(b"#", end), "")
    starts = context.source.line_starts
    first, last = context.source.position(start)[0], context.source.position(end)[0]
    return Edit(starts[first - 1], starts[last] if last < len(starts) else len(context.source.utf8), "")


def without(argument: cst.Arg, call: cst.Call, context: FileContext) -> Edit | None:
    """Make the edit; None where a comment would go with the argument."""
    at = call.args.index(argument)
    start, end = _start(argument, context), context.outer_span(argument.value)[1]
    if at + 1 < len(call.args):
        end = _start(call.args[at + 1], context)
    elif at:
        start = context.outer_span(call.args[at - 1].value)[1]
    return None if "#" in context.source.slice(start, end) else Edit(start, end, "")


def does_nothing(node: cst.BaseExpression) -> bool:
    """Whether the evaluation of an expression does nothing, so that it may be left out: it names and asks."""
    match node:
        case cst.Name() | cst.BaseNumber() | cst.SimpleString():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner):
            return does_nothing(inner)
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return does_nothing(inner) and does_nothing(key)
    return False


def _start(argument: cst.Arg, context: FileContext) -> int:
    if argument.star:
        return context.outer_span(argument.value)[0] - len(argument.star)
    first = argument.keyword or argument.value
    return context.outer_span(first)[0]
