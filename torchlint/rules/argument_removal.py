"""The edit that takes one argument out of a call, with its comma."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Edit
from torchlint.rule import FileContext


def without(argument: cst.Arg, call: cst.Call, context: FileContext) -> Edit | None:
    """Make the edit; None where a comment would go with the argument."""
    at = call.args.index(argument)
    start, end = _start(argument, context), context.outer_span(argument.value)[1]
    if at + 1 < len(call.args):
        end = _start(call.args[at + 1], context)
    elif at:
        start = context.outer_span(call.args[at - 1].value)[1]
    return None if "#" in context.source.slice(start, end) else Edit(start, end, "")


def _start(argument: cst.Arg, context: FileContext) -> int:
    if argument.star:
        return context.outer_span(argument.value)[0] - len(argument.star)
    first = argument.keyword or argument.value
    return context.outer_span(first)[0]
