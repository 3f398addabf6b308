"""Expressions that are Python's or NumPy's data by their spelling, so that nothing needs to be inferred."""

from __future__ import annotations

import ast

from torchlint.inference.lexical import BINDING, bound, naming, own
from torchlint.screening.sight import Sight
from torchlint.syntax.outline import Function, Outline, parameters

_LITERALS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.Dict, ast.JoinedStr, ast.Lambda)
_TYPES = frozenset({"bool", "dict", "float", "int", "list", "range", "set", "str", "tuple"})
_MAKING_DATA = _TYPES | {"len", "sorted"}
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
            return depth > 0 and all(is_plain_data(each, sight, depth - 1) for each in (left, right))
        case ast.Call(func=ast.Name(id=word)) if word in _MAKING_DATA:
            return sight.analysis.names_of(node.func) == {f"builtins.{word}"}
        case ast.Call(func=function):
            names = sight.analysis.names_of(function)
            return bool(names) and all(name.partition(".")[0] in _WITHOUT_TENSORS for name in names)
        case ast.Attribute(value=ast.Call(func=function)):
            names = sight.analysis.names_of(function)
            return bool(names) and names <= _LIMITS
        case ast.Name():
            return _is_tested(node, sight) or (depth > 0 and _is_bound_to_data(node, sight, depth - 1))
    return isinstance(node, _LITERALS)


def _is_bound_to_data(node: ast.Name, sight: Sight, depth: int) -> bool:
    """Whether all that a function's own name is ever bound to is data."""
    function = sight.outline.owner(node)
    if function is None or node.id in sight.outline.told(_bound_in_other_ways, function):
        return False
    places = sight.outline.told(bound, function).get(node.id, ())
    if not 0 < len(places) <= _MOST_PLACES:
        return False
    found = [_given(sight.outline.parents[each]) for each in places]
    return all(each is not None and is_plain_data(each, sight, depth) for each in found)


def _given(statement: ast.AST) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AugAssign(value=value):
            return value
    return None


def _bound_in_other_ways(outline: Outline, function: Function) -> frozenset[str]:
    """Give the names of a function that something else than its own assignments binds."""
    said: list[ast.Global | ast.Nonlocal] = [*outline.nodes(ast.Global), *outline.nodes(ast.Nonlocal)]
    elsewhere = {word for each in said for word in each.names}
    named = {word for each in own(outline, function, *BINDING) for word in naming(each)}
    return parameters(function) | elsewhere | named


def _is_tested(node: ast.Name, sight: Sight) -> bool:
    """Whether a test right before says so: ``if not torch.is_tensor(x): x = torch.tensor(x)``."""
    for above in sight.outline.ancestors(node):
        if isinstance(above, ast.stmt):
            around = sight.outline.parents[above]
            if isinstance(above, ast.If | ast.While) or not isinstance(around, ast.If) or around.body[0] is not above:
                return False
            return _excludes_tensors(around.test, node.id, sight)
        if isinstance(above, ast.Lambda | ast.NamedExpr | ast.comprehension | ast.GeneratorExp | ast.ListComp):
            return False
    return False


def _excludes_tensors(test: ast.expr, word: str, sight: Sight) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=function, args=[ast.Name(id=tested), *types])):
            names = [sight.analysis.names_of(each) for each in (function, *types)]
            return tested == word and names in (
                [{"torch.is_tensor"}],
                [{"builtins.isinstance"}, {"torch.Tensor"}],
            )
        case ast.Call(func=function, args=[ast.Name(id=tested), kind]):
            kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
            wanted = {f"builtins.{each}" for each in _TYPES}
            found = [sight.analysis.names_of(each) for each in kinds]
            if tested != word or sight.analysis.names_of(function) != {"builtins.isinstance"}:
                return False
            return all(each and each <= wanted for each in found)
    return False
