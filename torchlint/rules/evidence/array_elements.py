"""Whether an array holds floats or truth values beyond doubt: without dimensions only integers are a size."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext
from torchlint.rules.evidence.array_dimensions import is_numbers
from torchlint.rules.evidence.local_bindings import names_of, values_of

_DRAWING = frozenset(
    f"numpy.random.{word}"
    for word in (
        "normal uniform randn rand random random_sample beta gamma exponential standard_normal laplace lognormal "
        "dirichlet multivariate_normal"
    ).split()
)
"""Functions that give new floats."""
_FLOATING = frozenset(
    f"numpy.{word}"
    for word in (
        "sqrt exp expm1 log log1p log2 log10 sin cos tan arctan sinh cosh tanh deg2rad rad2deg hypot arctan2 "
        "true_divide divide"
    ).split()
)
"""Functions that give floats of arrays and numbers of any kind, and a tensor of a tensor (measured on NumPy 2.4)."""
_TELLING = frozenset(
    f"numpy.{word}"
    for word in (
        "logical_or logical_and logical_not logical_xor isnan isinf isfinite isclose greater greater_equal less "
        "less_equal equal not_equal"
    ).split()
)
"""Functions that give truth values of arrays and numbers."""
_FILLED = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty"})
"""Functions that give floats where no dtype is given."""
_DTYPED = frozenset(f"numpy.{word}" for word in "zeros ones empty full array asarray ascontiguousarray".split())
_TYPES = {
    **dict.fromkeys(("numpy.float16", "numpy.float32", "numpy.float64", "builtins.float"), "float"),
    **dict.fromkeys(("numpy.bool_", "builtins.bool"), "bool"),
    **dict.fromkeys(("float", "float16", "float32", "float64", "double", "f", "d", "f4", "f8"), "float"),
    "bool": "bool",
}
"""What arrays of a dtype hold, by its name or its text."""
_KEEPING = frozenset({"copy", "reshape", "ravel", "flatten", "transpose", "squeeze"})
_KEEPING_FUNCTIONS = frozenset(
    f"numpy.{word}"
    for word in (
        "transpose reshape squeeze expand_dims flip stack concatenate vstack hstack tile repeat moveaxis swapaxes "
        "atleast_1d atleast_2d atleast_3d ravel ascontiguousarray copy"
    ).split()
)
_DEEPEST = 8


def holds_no_integers(node: ast.expr, context: FileContext) -> bool:
    """Whether all that an array or a number of NumPy's may hold are floats or truth values."""
    return _held(node, context, _DEEPEST) is not None


def _held(node: ast.expr, context: FileContext, depth: int) -> str | None:
    """Return what an array holds, ``float`` or ``bool``; None where it may be anything else."""
    if depth == 0:
        return None
    match node:
        case ast.Name():
            return _agreed(values_of(node, context), context, depth)
        case ast.Call():
            return _of_call(node, context, depth)
        case ast.Attribute(value=inner, attr="T") | ast.Subscript(value=inner):
            return _held(inner, context, depth - 1)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return "float" if _held(inner, context, depth - 1) == "float" else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return "float" if is_numbers(left, context) and is_numbers(right, context) else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            sides = ((left, right), (right, left))
            floats = any(_held(one, context, depth - 1) == "float" and is_numbers(two, context) for one, two in sides)
            return "float" if floats else None
    return None


def _agreed(nodes: list[ast.expr], context: FileContext, depth: int) -> str | None:
    found = {_held(each, context, depth - 1) for each in nodes}
    return found.pop() if len(found) == 1 else None


def _of_call(call: ast.Call, context: FileContext, depth: int) -> str | None:
    """Return what the array that a call gives holds, as :func:`_held` does."""
    names = names_of(call.func, context)
    words = {each.arg: each.value for each in call.keywords}
    if names:
        if "dtype" in words:
            return _of_type(words["dtype"], context) if names <= _DTYPED else None
        if None in words or "out" in words:
            return None
        if names <= _DRAWING or (names <= _FILLED and len(call.args) == 1):
            return "float"
        if names <= _KEEPING_FUNCTIONS:
            first = call.args[0] if call.args else None
            parts = first.elts if isinstance(first, ast.List | ast.Tuple) else call.args[:1]
            return _agreed(parts, context, depth)
        held = "float" if names <= _FLOATING else "bool" if names <= _TELLING else None
        return held if all(is_numbers(each, context) for each in call.args) else None
    match call.func:
        case ast.Attribute(value=inner, attr="astype") if call.args and is_numbers(inner, context):
            return _of_type(call.args[0], context)
        case ast.Attribute(value=inner, attr=word) if word in _KEEPING and not call.keywords:
            return _held(inner, context, depth - 1)
    return None


def _of_type(node: ast.expr, context: FileContext) -> str | None:
    if isinstance(node, ast.Constant):
        return _TYPES.get(node.value) if isinstance(node.value, str) else None
    found = {_TYPES.get(name) for name in names_of(node, context)}
    return found.pop() if len(found) == 1 else None
