"""Whether an array has a dimension, or holds floats: one whole number of NumPy's is a size for a legacy constructor."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, elements_of
from torchlint.rules.local_bindings import names_of, values_of

DIMENSIONAL = frozenset(
    f"numpy.{word}"
    for word in (
        "concatenate stack vstack hstack dstack column_stack atleast_1d atleast_2d atleast_3d eye identity diag outer "
        "triu tril ravel arange unique flatnonzero random.permutation frombuffer append sort diff bincount"
    ).split()
)
"""Functions that give an array which has dimensions, or raise, whatever they are given."""
FOLLOWING = frozenset(f"numpy.{word}" for word in "linspace repeat cumsum cumprod argsort delete insert".split())
"""Functions that do so where they are given no tensor."""
_SHAPED = frozenset(f"numpy.{word}" for word in "zeros ones empty full".split())
_CONVERTING = frozenset(f"numpy.{word}" for word in "array asarray ascontiguousarray".split())
_DRAWN = frozenset(f"numpy.random.{word}" for word in "rand randn normal uniform random standard_normal beta".split())
"""Functions that give new floats."""
_FLOATS = frozenset(f"numpy.float{width}" for width in (16, 32, 64)) | {"builtins.float"}
_NUMBERS = Kind.SCALAR | Kind.INTEGER
_KEEPING = frozenset({"astype", "copy", "clip", "round"})
_DEEPEST = 6


def is_no_size(node: ast.expr, context: FileContext) -> bool:
    """Whether the code shows that an array is no size."""
    return has_dimensions(node, context) or _holds_floats(node, context, _DEEPEST)


def has_dimensions(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether the code shows that something is an array that has a dimension; False where it does not tell."""
    match node:
        case ast.Name() if depth:
            values = values_of(node, context)
            return bool(values) and all(has_dimensions(each, context, depth - 1) for each in values)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _KEEPING:
            return has_dimensions(inner, context, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr="reshape"), args=[_, _, *_]):
            return is_no_size(inner, context)
        case ast.Call():
            return _makes_dimensions(node, names_of(node.func, context), context)
        case ast.Subscript(value=inner, slice=index):
            return any(isinstance(each, ast.Slice) for each in elements_of(index)) and is_no_size(inner, context)
        case ast.BinOp(left=left, op=operator, right=right) if not isinstance(operator, ast.MatMult):
            either = has_dimensions(left, context, depth) or has_dimensions(right, context, depth)
            return either and _are_numbers(context, left, right)
    return False


def _makes_dimensions(call: ast.Call, names: frozenset[str], context: FileContext) -> bool:
    first = call.args[0] if call.args else None
    if not names or any(each.arg in ("out", None) for each in call.keywords):
        return False
    if names <= DIMENSIONAL:
        return not any((each.arg or "").startswith("return_") for each in call.keywords)
    if names <= _SHAPED | _CONVERTING and first is not None:
        known = context.value(first)
        kind = Kind.INTEGER if names <= _SHAPED else Kind.SEQUENCE
        return _is_spelled(first) or (known.must(kind) and not known.claimed)
    sizes = [each.value for each in call.keywords if each.arg == "size"]
    is_drawn = bool(sizes) and all(each.startswith("numpy.random.") for each in names)
    return is_drawn and (_is_spelled(sizes[0]) or context.value(sizes[0]).must(Kind.INTEGER))


def _is_spelled(node: ast.expr) -> bool:
    """Whether a list or a tuple is written out, with something in it."""
    return isinstance(node, ast.ListComp) or (isinstance(node, ast.List | ast.Tuple) and bool(node.elts))


def _holds_floats(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether all that an array or a number of NumPy's may hold are floats."""
    match node:
        case ast.Name() if depth:
            values = values_of(node, context)
            return bool(values) and all(_holds_floats(each, context, depth - 1) for each in values)
        case ast.Call(func=ast.Attribute(attr="astype"), args=[wanted]):
            return bool(names := names_of(wanted, context)) and names <= _FLOATS
        case ast.Call(func=function):
            return bool(names := names_of(function, context)) and names <= _DRAWN
        case ast.Subscript(value=inner):
            return _holds_floats(inner, context, depth)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _are_numbers(context, left, right)
    return False


def _are_numbers(context: FileContext, *nodes: ast.expr) -> bool:
    """Whether expressions are numbers, or arrays by more than a function of NumPy's, which gives tensors of tensors."""
    found = [(each, context.value(each)) for each in nodes]
    return all((value.must(_NUMBERS) and not value.claimed) or is_no_size(each, context) for each, value in found)
