"""Code that asks whether there is an accelerator, and copies to the host only where there is one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Final

import libcst as cst

from torchlint.rules.api import (
    RECEIVES,
    RETURNED,
    FileContext,
    FlowPlace,
    FlowSpecification,
    Kind,
    NodePattern,
    names_other_accelerators,
)

_OF_DEVICES: Final = re.compile(r"device|cuda|gpu|cpu")
_OF_THE_HOST: Final = re.compile(r"cpu|no_cuda|no_gpu")
_NEGATIONS: Final = re.compile(r"\bnot\b|!=")
_COPIED: Final = FlowSpecification(
    sources=(NodePattern(methods=frozenset({"cpu"}), value=lambda value: value.may(Kind.TENSOR)),),
    stops=(NodePattern(methods=frozenset({"cuda", "to"})),),
    sinks=(NodePattern(methods=frozenset({"numpy"}), at=RECEIVES),),
    is_computed=True,
)
_MOST_COPIES: Final = 30
"""Each copy in a file is followed: where there are more, nobody tells the host from an accelerator by one of them."""
_HANDED: Final = replace(_COPIED, sinks=(), ways_out=frozenset({RETURNED}))


def host_branch(call: cst.Call, context: FileContext) -> str | None:
    """Return the step that says how code tells the host from an accelerator, where a call converts on the host's side.

    So it does in ``if not use_cuda:``, by the words of the test, where the other branch copies the same value, and
    behind ``if use_cuda: x = x.cpu()``, as one way leads from a copy to the call. That is no proof, but whoever wrote
    it thought of it. ``torch.cuda.is_available()`` tells nothing in a file that names another accelerator.
    """
    test = _host_test(call, context)
    if test is not None:
        is_of_cuda = "is_available" in context.code(test) and names_other_accelerators(context.source.utf8)
        told = f"`{context.code(test)}` tells the host from an accelerator, line {context.row(test)}"
        return None if is_of_cuda else told
    copy = next(_copies(call, context), None)
    return None if copy is None else f"one way leads by a copy to the host, line {copy.row}"


def _copies(call: cst.Call, context: FileContext) -> Iterator[FlowPlace]:
    """Yield the copies to the host on a way to a call, in its function or in one that hands it its value."""
    place = context.python(call)
    if not isinstance(place, ast.Call) or not isinstance(place.func, ast.Attribute):
        return
    if len(context.attributes_by_word().get("cpu", ())) > _MOST_COPIES:
        return
    paths = context.paths_in(_COPIED, context.function_around(place) or context.tree)
    yield from (each.source for each in paths if each.sink.node is place)
    handing = context.called(place.func.value) if isinstance(place.func.value, ast.Call) else None
    if handing is not None:
        yield from (each.source for each in context.paths_in(_HANDED, handing))


def _host_test(call: cst.Call, context: FileContext) -> cst.BaseExpression | None:
    copied = f"{context.code(cst.ensure_type(call.func, cst.Attribute).value)}.cpu()"
    for branch, is_met in _branches(call, context):
        text = context.code(branch.test)
        is_met_on_host = bool(_OF_THE_HOST.search(text)) is not bool(_NEGATIONS.search(text))
        if _OF_DEVICES.search(text) and is_met is is_met_on_host:
            return branch.test
        if "grad" not in text and copied in context.code(branch):
            return branch.test
    return None


def _branches(call: cst.Call, context: FileContext) -> Iterator[tuple[cst.If | cst.IfExp, bool]]:
    """Yield the tests in a function that a call stands behind, innermost first, and whether each is met there."""
    below: cst.CSTNode = call
    for above in context.ancestors(call):
        match above:
            case cst.FunctionDef():
                return
            case cst.If(test=test, orelse=other) | cst.IfExp(test=test, orelse=other) if below is not test:
                yield above, below is not other
            case cst.IndentedBlock(body=lines) | cst.Module(body=lines):
                before = takewhile(lambda each: each is not below, lines)  # noqa: B023  # used up at once
                yield from ((each, False) for each in before if isinstance(each, cst.If) and _leaves(each))
        below = above


def _leaves(branch: cst.If) -> bool:
    """Whether the block is left where a test is met, and goes on where it is not."""
    match branch:
        case cst.If(orelse=None, body=cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[*_, last])])):
            return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)
    return False
