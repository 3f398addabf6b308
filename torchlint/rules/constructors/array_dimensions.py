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


def has_dimensions(node: ast.AST | None, context: FileContext) -> bool:
    """Whether a call, or those of a name, make an array that has a dimension; False where they do not tell."""
    if isinstance(node, ast.Name):
        made = context.definition(node)
        return isinstance(made, ast.Call) and has_dimensions(made, context)
    if not isinstance(node, ast.Call) or any(each.arg in ("out", None) for each in node.keywords):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
        return has_dimensions(node.func.value, context)
    names, first = context.names(node.func), node.args[0] if node.args else None
    if not names:
        return False
    if names <= DIMENSIONAL:
        return not any((each.arg or "").startswith("return_") for each in node.keywords)
    if names <= _SHAPED | _CONVERTING and first is not None:
        known = context.value(first)
        kind = Kind.INTEGER if names <= _SHAPED else Kind.SEQUENCE
        return _is_spelled(first) or (known.must(kind) and not known.claimed)
    sizes = [each.value for each in node.keywords if each.arg == "size"]
    if sizes and all(each.startswith("numpy.random.") for each in names):
        return _is_spelled(sizes[0]) or context.value(sizes[0]).must(Kind.INTEGER)
    return names <= _DRAWN and bool(node.args)


def _is_spelled(node: ast.expr) -> bool:
    """Whether a list or a tuple is written out, with something in it."""
    return isinstance(node, ast.ListComp) or (isinstance(node, ast.List | ast.Tuple) and bool(node.elts))


def holds_floats(node: ast.AST | None, context: FileContext) -> bool:
    """Whether an array is cast to floats right there: these are no size, whatever its dimensions."""
    match node:
        case ast.Call(func=ast.Attribute(attr="astype"), args=[wanted]):
            return bool(names := context.names(wanted)) and names <= _FLOATS
    return False


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
