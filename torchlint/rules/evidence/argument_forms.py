"""What speaks for the kind of an argument of which inference knows nothing: its form, and a parameter's default."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext, Kind, defaults_of
from torchlint.rules.evidence.object_attributes import attribute_values

_RESHAPING = frozenset("flatten ravel reshape squeeze swapaxes transpose".split())
"""Methods that arrays and tensors have, and neither numbers nor sequences."""
_NEW_AXIS = frozenset({"numpy.newaxis"})


def kind_by_form(place: ast.expr, context: FileContext) -> tuple[Kind, str] | None:
    """Return what an expression is taken for, and why as a clause; None where nothing speaks for a kind."""
    code = ast.unparse(place)
    if _has_axes(place, context):
        return Kind.ARRAY | Kind.TENSOR, f"only an array or a tensor can be written `{code}`"
    found = list(_defaults(place, context))
    if found and all(isinstance(each, ast.List | ast.Tuple) for each in found):
        return Kind.SEQUENCE, f"the default of `{code}` is a sequence"
    if found and all(isinstance(each, ast.Constant) and type(each.value) is int for each in found):
        return Kind.INTEGER, f"the default of `{code}` is a whole number"
    return None


def _has_axes(place: ast.expr, context: FileContext) -> bool:
    """Whether only arrays and tensors are written like this: ``x[:, 0]``, ``x[None]``, ``x.ravel()``."""
    match place:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(isinstance(each, ast.Slice) or _is_new_axis(each, context) for each in parts)
        case ast.Subscript(slice=part):
            return _is_new_axis(part, context)
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _RESHAPING and not context.qualified_names(place.func)
    return False


def _is_new_axis(part: ast.expr, context: FileContext) -> bool:
    """Whether an index adds an axis, or stands for all that are left."""
    if isinstance(part, ast.Constant):
        return part.value is None or part.value is ...
    return bool(names := context.qualified_names(part)) and names <= _NEW_AXIS


def _defaults(place: ast.expr, context: FileContext) -> Iterator[ast.expr | None]:
    """Yield the default of each parameter that a name or an attribute stands for; None for anything else it may be."""
    match place:
        case ast.Name():
            bound = context.reaching(place)
            yield from (_default_of(each, context) if isinstance(each, ast.arg) else None for each in bound)
        case ast.Attribute():
            for value in attribute_values(place, context):
                yield from _defaults(value, context) if isinstance(value, ast.Name) else (None,)


def _default_of(parameter: ast.arg, context: FileContext) -> ast.expr | None:
    function = context.function_around(parameter)
    return defaults_of(function).get(parameter) if function is not None else None
