"""Whether a tensor is on the host by the code's own text: made there, and computed with nothing that is elsewhere.

Inference takes more for granted: a loader's batches, what another library makes. That is enough for silence; a fix that
leaves out a move may not rest on it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from torchlint.rules.api import FileContext, Kind, arguments_of, operations
from torchlint.rules.evidence.local_bindings import values_of
from torchlint.rules.evidence.tensor_proof import is_proven

_MOVING = frozenset("to cuda cpu xpu npu hpu ipu mtia type type_as pin_memory set_ resize_as_".split())
"""Methods whose result may be elsewhere; so it may be of those that make one: ``new``, ``new_zeros`` and their like."""
_EXCHANGED = re.compile(rb"\.data\s*=[^=]|\.set_\(|swap_tensors")
"""What gives a tensor that has a name another one's memory."""
_NO_TENSOR = Kind.INTEGER | Kind.SCALAR | Kind.STRING | Kind.NONE | Kind.SIZE | Kind.DTYPE | Kind.ARRAY | Kind.DEVICE
_DEEPEST = 8


def is_made_on_host(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor is on the host beyond doubt, where nothing sets a default device."""
    return _holds(node, context, _DEEPEST)


def _holds(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether an expression is surely on the host, its parts followed so deep."""
    if depth == 0:
        return False
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[], keywords=[]) if is_proven(inner, context):
            return True
        case ast.Call():
            return _is_computed_there(node, context, depth - 1)
        case ast.BinOp(left=left, right=right):
            return _all_there((left, right), context, depth - 1)
        case ast.Compare(left=left, comparators=others):
            return _all_there((left, *others), context, depth - 1)
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
            return _holds(inner, context, depth - 1)
        case ast.Name():
            values = values_of(node, context) if not context.matches(_EXCHANGED) else []
            return bool(values) and all(_holds(each, context, depth - 1) for each in values)
    return False


def _is_computed_there(call: ast.Call, context: FileContext, depth: int) -> bool:
    """Whether a call computes on the host: it makes its result there, or is given nothing from elsewhere."""
    given = arguments_of(call)
    if any(each.arg in (None, "device", "out") for each in call.keywords):
        return False
    names = context.value(call.func).names
    if names == {"torch.from_numpy"}:
        return True
    if names:
        makes = names <= operations().factories
        computes = names <= operations().functions
        return (makes and _none_elsewhere(given, context, depth)) or (computes and _all_there(given, context, depth))
    match call.func:
        case ast.Attribute(value=inner, attr=word) if word in operations().methods - _MOVING:
            stays = not word.startswith("new")
            return stays and _holds(inner, context, depth) and _none_elsewhere(given, context, depth)
    return False


def _all_there(given: Iterable[ast.expr], context: FileContext, depth: int) -> bool:
    """Whether there is a tensor among some operands, and all are on the host."""
    operands = list(_operands(given))
    return _none_elsewhere(operands, context, depth) and any(_holds(each, context, depth) for each in operands)


def _none_elsewhere(given: Iterable[ast.expr], context: FileContext, depth: int) -> bool:
    """Whether each operand is on the host or no tensor: a number in a tensor goes where the others are."""
    return all(context.value(each).must(_NO_TENSOR) or _holds(each, context, depth) for each in _operands(given))


def _operands(given: Iterable[ast.expr]) -> Iterable[ast.expr]:
    for each in given:
        if isinstance(each, ast.List | ast.Tuple):
            yield from _operands(each.elts)
        else:
            yield each
