"""What a function does with a value that no number puts up with: asks for its length, appends to it, casts it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from torchlint.rule import FileContext, remembered
from torchlint.rules.tensor_uses import uses_around

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RECEIVERS = (ast.Name, ast.Attribute, ast.Subscript)
_TAKE_APART = frozenset({"all", "any", "enumerate", "list", "max", "min", "reversed", "set", "sorted", "sum", "tuple"})
_OF_LISTS = frozenset({"append", "extend", "insert"})


class Shape(Enum):
    """What a value is by what is done to it."""

    LIST = "a list"
    ARRAY = "an array"
    SIZED = "a sequence or an array"
    CHECKED = "one of several kinds"
    PARTED = "something that has parts"
    TENSOR = "a tensor"


def shape_by_use(place: ast.expr, context: FileContext) -> Shape | None:
    """Say what the function around an expression takes it for, up to its row; None where nothing or too much speaks."""
    found = _found(place, context)
    uses = uses_around(place, context)
    if uses is not None and found is not None and uses.speak_before(ast.unparse(place), place.lineno):
        found.add(Shape.TENSOR)
    found = (found or set()) - {Shape.PARTED}
    if Shape.CHECKED in found or len(found - {Shape.SIZED}) > 1:
        return None
    return next((each for each in (Shape.LIST, Shape.ARRAY, Shape.TENSOR, Shape.SIZED) if each in found), None)


def is_checked(place: ast.expr, context: FileContext) -> bool:
    """Whether the function around asks what kind of thing an expression is, before or on its row."""
    return Shape.CHECKED in (_found(place, context) or ())


def has_parts(place: ast.expr, context: FileContext) -> bool:
    """Whether the function around measures an expression, walks over it or takes parts of it: no number has any."""
    return bool((_found(place, context) or set()) - {Shape.CHECKED, Shape.TENSOR})


def _found(place: ast.expr, context: FileContext) -> set[Shape] | None:
    """Give what the function around does with an expression up to its row; None outside functions."""
    if not isinstance(place, _RECEIVERS):
        return None
    around = next((each for each in context.ancestors(place) if isinstance(each, _FUNCTIONS)), None)
    if around is None:
        return None
    code = ast.unparse(place)
    shapes = _shapes(around, context)
    return {shape for shape, value, row in shapes if value == code and row <= place.lineno}


@remembered
def _shapes(around: ast.AST, context: FileContext) -> tuple[tuple[Shape, str, int], ...]:
    found = ((shape, value) for node in context.within(around) for shape, value in _evidence(node))
    return tuple((shape, ast.unparse(value), value.lineno) for shape, value in found if isinstance(value, _RECEIVERS))


def _evidence(node: ast.AST) -> Iterator[tuple[Shape, ast.expr]]:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            yield Shape.SIZED, value
        case ast.Call(func=ast.Name(id="isinstance" | "type" | "hasattr" | "callable" | "iter"), args=[value, *_]):
            yield Shape.CHECKED, value
        case ast.Call(func=ast.Attribute(attr="is_tensor"), args=[value]):
            yield Shape.CHECKED, value
        case ast.Call(func=ast.Attribute(value=value, attr="astype")):
            yield Shape.ARRAY, value
        case ast.Call(func=ast.Attribute(value=value, attr=word)) if word in _OF_LISTS:
            yield Shape.LIST, value
        case (
            ast.For(iter=value) | ast.comprehension(iter=value) | ast.Subscript(value=value) | ast.Starred(value=value)
        ):
            yield Shape.PARTED, value
        case ast.Call(func=ast.Name(id=word), args=[value]) if word in _TAKE_APART:
            yield Shape.PARTED, value
