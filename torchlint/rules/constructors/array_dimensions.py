"""Whether an array has a dimension, by the call that makes it: one whole number of NumPy's is a size."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, elements_of

DIMENSIONAL = frozenset(
    f"numpy.{word}"
    for word in (
        "concatenate stack vstack hstack dstack column_stack atleast_1d atleast_2d atleast_3d eye identity diag outer "
        "triu tril ravel arange unique flatnonzero random.permutation frombuffer append sort diff bincount"
    ).split()
)
"""Functions that give an array which has dimensions, or raise, whatever they are given."""
_SHAPED = frozenset(f"numpy.{word}" for word in "zeros ones empty full".split())
_CONVERTING = frozenset(f"numpy.{word}" for word in "array asarray ascontiguousarray".split())
_DRAWN = frozenset({"numpy.random.rand", "numpy.random.randn"})
_FLOATS = frozenset({"numpy.float16", "numpy.float32", "numpy.float64", "builtins.float"})
_REDUCTIONS = frozenset("sum prod max min mean argmax argmin count_nonzero std var".split())


def is_no_size(node: ast.AST | None, context: FileContext) -> bool:
    """Whether the call that makes an array gives it a dimension, or floats; False where it does not tell."""
    if isinstance(node, ast.Name):
        node = context.definition(node)
    if not isinstance(node, ast.Call) or any(each.arg in ("out", None) for each in node.keywords):
        return False
    names, first = context.names(node.func), node.args[0] if node.args else None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
        wanted = context.names(first)
        return (bool(wanted) and wanted <= _FLOATS) or is_no_size(node.func.value, context)
    if not names or first is None:
        return False
    if names <= DIMENSIONAL:
        return not any((each.arg or "").startswith("return_") for each in node.keywords)
    if names <= _SHAPED | _CONVERTING:
        known = context.value(first)
        kind = Kind.INTEGER if names <= _SHAPED else Kind.SEQUENCE
        return _is_spelled(first) or (known.must(kind) and not known.claimed)
    return names <= _DRAWN


def _is_spelled(node: ast.expr) -> bool:
    """Whether a list or a tuple is written out, with something in it."""
    return isinstance(node, ast.ListComp) or (isinstance(node, ast.List | ast.Tuple) and bool(node.elts))


def may_be_one_number(node: ast.AST | None) -> bool:
    """Whether an array may as well be one number: a name, an element, or what is reduced without saying an axis."""
    match node:
        case ast.Name() | ast.Attribute():
            return True
        case ast.Subscript(slice=index):
            return not any(isinstance(each, ast.Slice) for each in elements_of(index))
        case ast.Call(func=ast.Attribute(attr=word), keywords=[]):
            return word in _REDUCTIONS
    return False
