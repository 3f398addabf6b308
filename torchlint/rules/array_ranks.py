"""Whether an array has a dimension: a 0-d integer array is a number, which legacy constructors take as a size."""

from __future__ import annotations

import ast

from torchlint.rule import FileContext, Kind, parameters

# fmt: off
_DIMENSIONAL = frozenset({
    "numpy.concatenate", "numpy.stack", "numpy.vstack", "numpy.hstack", "numpy.dstack", "numpy.column_stack",
    "numpy.atleast_1d", "numpy.atleast_2d", "numpy.linspace", "numpy.arange", "numpy.eye", "numpy.identity",
    "numpy.diag", "numpy.outer", "numpy.ravel", "numpy.repeat", "numpy.tile", "numpy.unique", "numpy.flatnonzero",
    "numpy.random.permutation", "numpy.frombuffer",
})
"""Functions whose result is never 0-d."""
_SHAPED = frozenset({
    "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full", "numpy.reshape", "numpy.broadcast_to",
})
"""Functions that are given a shape: 0-d only where it is written as ``()``."""
_CONVERTING = frozenset({"numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray"})
_ELEMENTWISE = frozenset({
    "numpy.sin", "numpy.cos", "numpy.exp", "numpy.log", "numpy.sqrt", "numpy.abs", "numpy.clip", "numpy.power",
    "numpy.float32", "numpy.float64", "numpy.transpose", "numpy.flip", "numpy.nan_to_num", "numpy.cumsum",
})
_KEEPING = frozenset({"astype", "copy", "clip", "round", "view"})
_RESHAPING = frozenset({"flatten", "ravel", "repeat", "nonzero"})
# fmt: on
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)


def has_dimensions(node: ast.expr, context: FileContext, depth: int = 4) -> bool:
    """Whether the code shows that an array has a dimension; False where it does not tell."""
    if depth == 0:
        return False
    match node:
        case ast.Name():
            bound = bound_once(node, context)
            return bound is not None and has_dimensions(bound, context, depth - 1)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _KEEPING and _is_object(inner, context):
            return has_dimensions(inner, context, depth - 1)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _RESHAPING:
            return _is_object(inner, context) or _called(node, context) in _DIMENSIONAL
        case ast.Call(func=ast.Attribute(attr="reshape"), args=[first, *_]) if not _is_empty_tuple(first):
            return True
        case ast.Call(args=[first, *_]):
            name = _called(node, context)
            if name in _CONVERTING:
                return _is_sequence(first, context) or has_dimensions(first, context, depth - 1)
            if name in _ELEMENTWISE:
                return has_dimensions(first, context, depth - 1)
            return name in _DIMENSIONAL or (name in _SHAPED and not _is_empty_tuple(first))
        case ast.Attribute(value=inner, attr="T" | "real"):
            return has_dimensions(inner, context, depth - 1)
        case ast.Subscript(value=inner, slice=index) if _keeps_a_dimension(index):
            return context.value(inner).must(Kind.ARRAY)
        case ast.BinOp(left=left, right=right):
            return has_dimensions(left, context, depth - 1) or has_dimensions(right, context, depth - 1)
    return False


def _called(node: ast.Call, context: FileContext) -> str:
    names = context.names(node.func)
    return next(iter(names)) if len(names) == 1 else ""


def _is_object(node: ast.expr, context: FileContext) -> bool:
    """Whether a method is called on an object: ``np.copy`` is a function of a module."""
    return not context.value(node).names


def _is_sequence(node: ast.expr, context: FileContext) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
        return True
    return context.value(node).must(Kind.SEQUENCE)


def _keeps_a_dimension(index: ast.expr) -> bool:
    """Whether an index holds a slice: ``a[:, 0]`` is never a number."""
    return any(isinstance(each, ast.Slice) for each in (index.elts if isinstance(index, ast.Tuple) else [index]))


def _is_empty_tuple(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and not node.elts


def bound_once(name: ast.Name, context: FileContext) -> ast.expr | None:
    """Give what a name is bound to where its scope binds it in one assignment only."""
    scope = scope_of(name, context)
    if scope is None:
        return None
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) and name.id in parameters(scope):
        return None
    stores = [each for each in context.own(scope, ast.Name) if _binds(each, name.id)]
    if len(stores) != 1:
        return None
    statement = context.parent(stores[0])
    if isinstance(statement, ast.Assign) and stores[0] in statement.targets:
        return statement.value
    return None


def scope_of(name: ast.Name, context: FileContext) -> ast.AST | None:
    """Give the function, class or module in which a name is looked up first; None in a ``lambda``."""
    scope = next((each for each in context.ancestors(name) if isinstance(each, _SCOPES)), None)
    return None if isinstance(scope, ast.Lambda) else scope


def _binds(node: ast.Name, word: str) -> bool:
    return node.id == word and not isinstance(node.ctx, ast.Load)
