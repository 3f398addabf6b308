"""Why what a host tensor meets may be on an accelerator: by itself, or by the call at hand."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, handed_to
from torchlint.rules.evidence.accelerator_places import (
    Place,
    begun_by,
    is_handed_a_tensor,
    place_by_argument,
    place_by_reading,
    place_of_layer,
)
from torchlint.rules.evidence.moved_networks import place_of_result
from torchlint.rules.evidence.read_devices import is_read_directly
from torchlint.rules.silent.device_words import KEEPING
from torchlint.rules.silent.trails import Entered


def met_place(node: ast.expr, at: ast.expr | ast.stmt, context: FileContext) -> Place | None:
    """Return why what a host tensor meets may be on an accelerator: a tensor, or a layer that is a part of a module."""
    value = context.value(node)
    is_handed = isinstance(node, ast.Name) and is_handed_a_tensor(node, context)
    if value.is_tensor or is_handed or is_read_directly(node, context):
        return place_by_reading(node, context) or place_by_argument(node, context)
    if value.must(Kind.MODULE) and isinstance(at, ast.Call) and at.func is node:
        return place_by_reading(at, context) or place_of_layer(node, context)
    if (found := place_of_result(node, context)) is not None:
        return found
    if _looks_like_a_tensor(node, context):
        return place_by_reading(node, context) or place_by_argument(node, context)
    return None


def place_by_call(node: ast.expr, place: Place, context: FileContext, entered: Entered) -> Place | None:
    """Return why what a tensor meets in a function may be there by the calls at hand: another call says nothing.

    What the call hands over may be an argument of the function around it, and so on up to where the tensor was made.
    """
    start = begun_by(context.value(node).why_device, context)
    if start is None or start not in context.inside(entered.function.args, ast.arg):
        return None if place.is_open else place
    if entered.function.name == "forward":
        return place  # which comes where the module is
    given = handed_to(entered.call, entered.function, start)
    found = met_place(given, entered.call, entered.context) if given is not None else None
    if given is None or found is None or entered.outer is None:
        return found
    return place_by_call(given, found, entered.context, entered.outer)


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
