"""Why what a host tensor meets may be on an accelerator: by itself, or by the call at hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext, Kind, handed_to, leaf
from torchlint.rules.silent.accelerator_places import (
    Place,
    begun_by,
    is_building_a_module,
    is_handed_a_tensor,
    place_by_argument,
    place_by_reading,
    place_of_layer,
)
from torchlint.rules.silent.device_words import JOINING, KEEPING, LAYERS, LISTED, LOSSES, ONLY_OF_TENSORS, PAIRING
from torchlint.rules.silent.handed_members import place_in, place_of_handed
from torchlint.rules.silent.moved_networks import place_of_result
from torchlint.rules.silent.read_devices import is_read_directly
from torchlint.rules.silent.trails import Entered, Meeting, Trail


def taken(call: ast.Call, node: ast.expr, context: FileContext, trail: Trail) -> Iterator[Meeting]:
    """Yield what a host tensor meets as the argument of a call."""
    function = context.value(call.func)
    if function.names:
        if all(each.startswith("torch.") and leaf(each) in JOINING for each in function.names):
            if _is_weight(node, context):
                trail = trail.having(1)
            yield from met(call, [each for each in given(call) if each is not node], context, trail)
        return
    if function.must(Kind.MODULE):
        if function.instance and function.instance <= LOSSES:
            yield from met(call, [each for each in given(call) if each is not node], context, trail)
        elif function.instance and function.instance <= LAYERS:
            yield from met(call, [call.func], context, trail)
        return
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in JOINING:
        return
    receiver = call.func.value
    if context.value(receiver).is_tensor or _is_tensor_by_use(receiver, call, context):
        yield from met(call, [receiver], context, trail)


def _is_tensor_by_use(node: ast.expr, at: ast.expr | ast.stmt, context: FileContext) -> bool:
    """Whether only a tensor can stand where an expression stands: a method is asked of it, or torch is given it."""
    if not isinstance(at, ast.Call) or not context.value(node).may(Kind.TENSOR):
        return False
    if isinstance(at.func, ast.Attribute) and at.func.value is node:
        return at.func.attr in ONLY_OF_TENSORS
    words = {leaf(each) for each in context.value(at.func).names if each.startswith("torch.")}
    if not words:
        return False
    first = at.args[0] if at.args else None
    is_member = isinstance(first, ast.List | ast.Tuple) and node in first.elts
    return (is_member and words <= LISTED) or (node in at.args[:2] and words <= PAIRING)


def _is_weight(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor is the weight of a loss, one number for each class or sample: it has dimensions."""
    above = context.parent(node)
    return isinstance(above, ast.keyword) and above.arg in ("weight", "pos_weight")


def given(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, the members of a list one by one."""
    found: list[ast.expr] = []
    for each in (*call.args, *(each.value for each in call.keywords)):
        found += each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
    return found


def met(at: ast.expr | ast.stmt, others: list[ast.expr], context: FileContext, trail: Trail) -> Iterator[Meeting]:
    """Yield the tensors beside a host tensor that may be on an accelerator, where that has dimensions."""
    if not trail.dimensions or (trail.is_building and is_building_a_module(at, context)):
        return
    for each in others:
        if isinstance(each, ast.Constant | ast.Starred):
            continue
        place = met_place(each, at, context)
        if place is not None and trail.entered is not None:
            place = place_by_call(each, place, context, trail.entered)
        value = context.value(each)
        if place is not None and (value.rank != 0 or not isinstance(at, ast.Subscript)):
            yield Meeting(at, each, place, context, trail.is_direct, trail.kept_as, trail.is_contained)


def met_place(node: ast.expr, at: ast.expr | ast.stmt, context: FileContext) -> Place | None:
    """Return why what a host tensor meets may be on an accelerator: a tensor, or a layer that is a part of a module."""
    value = context.value(node)
    is_handed = isinstance(node, ast.Name) and is_handed_a_tensor(node, context)
    is_shown = is_handed or _is_tensor_by_use(node, at, context)
    if value.is_tensor or is_shown or is_read_directly(node, context):
        return place_by_reading(node, context) or _by_argument(node, context)
    if value.must(Kind.MODULE) and isinstance(at, ast.Call) and at.func is node:
        return place_by_reading(at, context) or place_of_layer(node, context)
    if (found := place_of_result(node, context)) is not None:
        return found
    if _looks_like_a_tensor(node, context):
        return place_by_reading(node, context) or _by_argument(node, context)
    return place_of_handed(node, context)


def _by_argument(node: ast.expr, context: FileContext) -> Place | None:
    """Return why a tensor that is made of an argument may be elsewhere: what a call hands over goes before all else."""
    found = place_by_argument(node, context)
    return found if found is not None and not found.is_open else place_of_handed(node, context) or found


def place_by_call(node: ast.expr, place: Place, context: FileContext, entered: Entered) -> Place | None:
    """Return why what a tensor meets in a function may be there by the calls at hand: another call says nothing.

    What the call hands over may be an argument of the function around it, and so on up to where the tensor was made.
    """
    start = begun_by(context.value(node).why_device, context)
    if start is None or start not in context.inside(entered.function.args, ast.arg):
        return None if place.is_open else place
    if entered.function.name == "forward":
        return place  # which comes where the module is
    handed = handed_to(entered.call, entered.function, start)
    found = met_place(handed, entered.call, entered.context) if handed is not None else None
    if found is None and handed is not None:
        found = place_in(handed, node, start, entered.context, context)
    if handed is None or found is None or entered.outer is None:
        return found
    return place_by_call(handed, found, entered.context, entered.outer)


def _looks_like_a_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression of which nothing is known is written as only one of a tensor is: no bare name is."""
    if not context.may_be_torch(node):
        return False
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(
                isinstance(each, ast.Slice) or (isinstance(each, ast.Constant) and each.value is None) for each in parts
            )
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in KEEPING
    return False
