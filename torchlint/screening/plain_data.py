"""Expressions that are Python's or NumPy's data by their spelling, so that nothing needs to be inferred."""

from __future__ import annotations

import ast

from torchlint.screening.binders import binder, reaching
from torchlint.screening.sight import Sight
from torchlint.screening.tested import DATA_TYPES, is_excluded, is_mentioned

_LITERALS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.Dict, ast.JoinedStr, ast.Lambda)
_SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
"""What makes no tensor with whatever operator and operand: ``[0] * n``. torch refuses these; Python repeats them."""
_MAKING_DATA = DATA_TYPES | {"len", "sorted"}
"""Functions of Python whose results are no tensors, whatever they are given."""
_WITHOUT_TENSORS = frozenset({"itertools", "math", "numpy", "os", "pandas", "random", "time"})
"""Libraries whose functions give no tensors."""
_LIMITS = frozenset({"torch.finfo", "torch.iinfo"})
"""What is known of a dtype; all of it is numbers and text."""
_DEEPEST = 4
"""Names are followed to what they are bound to this far."""
_MOST_PLACES = 20
"""Of a name that is bound more often nothing is said."""


def is_plain_data(node: ast.expr, sight: Sight, depth: int = _DEEPEST) -> bool:
    """Whether an expression is no tensor beyond doubt; in doubt it may be one."""
    match node:
        case ast.UnaryOp(operand=inner):
            return is_plain_data(inner, sight, depth)
        case ast.BinOp(left=left, right=right):
            if isinstance(left, _SEQUENCES) or isinstance(right, _SEQUENCES):
                return True
            return depth > 0 and all(is_plain_data(each, sight, depth - 1) for each in (left, right))
        case ast.Call(func=ast.Name(id=word)) if word in _MAKING_DATA:
            return sight.analysis.names_of(node.func) == {f"builtins.{word}"}
        case ast.Call(func=ast.Attribute(value=ast.Call(func=function), attr="tolist")):
            return _are(sight.analysis.names_of(function), frozenset({"numpy"}))
        case ast.Call(func=function):
            names = sight.analysis.names_of(function)
            return names == {"torch.Size"} or _are(names, _WITHOUT_TENSORS)
        case ast.Attribute(value=ast.Call(func=function)):
            names = sight.analysis.names_of(function)
            return bool(names) and names <= _LIMITS
        case ast.Name():
            return is_excluded(node, sight) or (depth > 0 and _is_bound_to_data(node, sight, depth - 1))
    return isinstance(node, _LITERALS)


def _is_bound_to_data(node: ast.Name, sight: Sight, depth: int) -> bool:
    """Whether all that a name may have been bound to where it stands is data."""
    scope = binder(node, sight.outline)
    if scope is None or is_mentioned(node, scope, sight.outline):
        return False
    places = reaching(node, scope, sight.outline)
    return 0 < len(places) <= _MOST_PLACES and all(_binds_data(each, sight, depth) for each in places)


def _binds_data(place: ast.Name | ast.arg, sight: Sight, depth: int) -> bool:
    if isinstance(place, ast.arg):
        return _is_said_to_be_data(place, sight)
    given = _given(sight.outline.parents[place])
    return bool(given) and all(is_plain_data(each, sight, depth) for each in given)


def _is_said_to_be_data(argument: ast.arg, sight: Sight) -> bool:
    """Whether an argument's annotation is one of Python's types of data, and no call is known to tell otherwise."""
    said, function = argument.annotation, sight.outline.owner(argument)
    if function is None or argument in (function.args.vararg, function.args.kwarg):
        return False
    if sight.analysis.is_private(function):
        return False
    return (
        isinstance(said, ast.Name)
        and said.id in DATA_TYPES
        and sight.analysis.names_of(said) == {f"builtins.{said.id}"}
    )


def _given(binding: ast.AST) -> list[ast.expr]:
    """Give all that a name may come to be where it is bound; nothing where that is not told by the spelling."""
    match binding:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AugAssign(value=value):
            return [value]
        case ast.For(target=ast.Name(), iter=values) | ast.comprehension(target=ast.Name(), iter=values):
            match values:
                case ast.List(elts=elements) | ast.Tuple(elts=elements):
                    return elements
                case ast.Call(func=ast.Name(id="range")):
                    return [values]
    return []


def _are(names: frozenset[str], libraries: frozenset[str]) -> bool:
    """Whether something is known by name, and by nothing but names of some libraries."""
    return bool(names) and all(name.partition(".")[0] in libraries for name in names)
