"""What the project hands over within a dictionary, a tuple or a list: ``batch["points"]`` of ``loss(batch)``.

An argument of which nothing is known is followed from where a part of it is read to the calls that are surely of its
function, and there along the same keys: one that was moved beside others that were not says nothing of them.
"""

from __future__ import annotations

import ast
from typing import Final

from torchlint.rules.api import Device, FileContext, Function, Kind, handed_to
from torchlint.rules.local_bindings import bound_at
from torchlint.rules.silent.accelerator_places import Place, is_building_a_module, place_of_members
from torchlint.rules.silent.calls_in_sight import calls_of
from torchlint.rules.silent.object_attributes import attribute_values
from torchlint.rules.wording import in_a_line

_ANY: Final = None
"""The step to a member of which nobody knows which one it is."""
Step = str | int | None
_FEW = 6
"""So many names stand between a part and its argument."""
_MOST_FUNCTIONS = 4
"""So many functions may hand an argument on to each other."""


def place_of_handed(node: ast.expr, context: FileContext) -> Place | None:
    """Return why a part of an argument may be on an accelerator: a call in the project hands over one that is."""
    found = _argument_behind(node, context)
    return _handed(*found, context, _MOST_FUNCTIONS) if found is not None else None


def place_in(given: ast.expr, node: ast.expr, start: ast.arg, context: FileContext, home: FileContext) -> Place | None:
    """Return why a part of what one call hands over for an argument may be there, by how the part is read at home."""
    found = _argument_behind(node, home)
    return _place(given, found[1], context, _MOST_FUNCTIONS) if found is not None and found[0] is start else None


def _handed(argument: ast.arg, path: tuple[Step, ...], context: FileContext, depth: int) -> Place | None:
    function = context.parent(context.parent(argument) or argument)
    if depth == 0 or not isinstance(function, ast.FunctionDef):
        return None
    for file, call in calls_of(function, context):
        given = handed_to(call, function, argument)
        if given is None or is_building_a_module(call, file):
            continue
        if (place := _place(given, path, file, depth - 1)) is not None:
            told = f"`{in_a_line(call)}` hands it over, line {call.lineno}"
            return Place((*place.why, file.located(told)), place.is_shown and not context.is_test)
    return None


def _place(given: ast.expr, path: tuple[Step, ...], context: FileContext, depth: int) -> Place | None:
    """Return why a part of what is handed over may be there, by its keys."""
    value = context.part(given, path)
    if value.is_tensor and value.device & Device.ACCELERATOR:
        return Place(tuple(map(context.located, context.why(value.why_device))), is_shown=not context.is_test)
    if not value.may(Kind.TENSOR) or not value.may_be_on_accelerator:
        return None
    if (found := _argument_behind(given, context)) is not None:
        argument, before = found
        return _handed(argument, (*before, *path), context, depth)
    spelled = _spelled(given, path, context, _FEW)
    place = place_of_members(spelled, context) if spelled is not None else None
    return Place(tuple(map(context.located, place.why)), place.is_shown) if place is not None else None


def _spelled(given: ast.expr, path: tuple[Step, ...], context: FileContext, depth: int) -> ast.expr | None:
    """Return the expression of a part of what is handed over, where that is written down; the whole where it is alike.

    What a comprehension makes, and what a module gives, are alike: each member is where the others are.
    """
    if not path or context.value(given).is_tensor:
        return given  # a part of a tensor is where that is
    match given:
        case ast.Name() if depth and len(places := context.reaching(given)) == 1 and isinstance(places[0], ast.Name):
            bound = bound_at(places[0], context)
            is_whole = len(bound) == 1 and not bound[0].depth and not bound[0].is_augmented
            return _spelled(bound[0].value, path, context, depth - 1) if is_whole else None
        case ast.Dict(keys=keys, values=values):
            at = [each.value if isinstance(each, ast.Constant) else None for each in keys]
            found = values[at.index(path[0])] if path[0] is not _ANY and path[0] in at else None
            return _spelled(found, path[1:], context, depth) if found is not None else None
        case ast.List(elts=members) | ast.Tuple(elts=members) if isinstance(path[0], int):
            found = next(iter(members[path[0] :]), None)
            return _spelled(found, path[1:], context, depth) if found is not None else None
        case ast.ListComp(elt=member) | ast.DictComp(value=member):
            return _spelled(member, path[1:], context, depth)
        case ast.Call() if context.value(given.func).must(Kind.MODULE):
            return given
    return None


def _argument_behind(node: ast.expr, context: FileContext) -> tuple[ast.arg, tuple[Step, ...]] | None:
    """Return the argument of a function that an expression is a part of, and the keys that lead from it to the part."""
    steps: tuple[Step, ...] = ()
    depth = _FEW
    while depth:
        match node:
            case ast.Subscript(value=inner, slice=index):
                steps, node = (_step(index), *steps), inner
            case ast.Attribute(value=ast.Name(id="self")):
                kept = attribute_values(node, context)
                if len(kept) != 1:
                    return None
                depth, node = depth - 1, kept[0]
            case ast.Name():
                places = context.reaching(node)
                if len(places) != 1:
                    return None
                place = places[0]
                if isinstance(place, ast.arg):
                    return (place, steps) if _is_of_call(place, context) else None
                bound = bound_at(place, context)
                if len(bound) != 1 or bound[0].is_augmented:
                    return None
                steps = (*_taken(place, bound[0].depth, context), *steps)
                depth, node = depth - 1, bound[0].value
            case _:
                return None
    return None


def _step(index: ast.expr) -> Step:
    match index:
        case ast.Constant(value=str() | int() as key):
            return key
    return _ANY


def _taken(place: ast.Name, depth: int, context: FileContext) -> tuple[Step, ...]:
    """Return by which steps a name is a part of what it is bound to: its place in a tuple, or any member in a loop."""
    above = context.parent(place)
    if depth == 1 and isinstance(above, ast.Tuple) and isinstance(context.parent(above), ast.Assign):
        return (above.elts.index(place),)
    return (_ANY,) * depth


def _is_of_call(argument: ast.arg, context: FileContext) -> bool:
    """Whether an argument is one of a function that has a name, of the object itself none."""
    function: ast.AST | Function | None = context.parent(context.parent(argument) or argument)
    return isinstance(function, ast.FunctionDef) and context.value_of_self(argument) is None
