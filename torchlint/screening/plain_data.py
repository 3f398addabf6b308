"""Expressions that are Python's or NumPy's data by their spelling, so that nothing needs to be inferred."""

from __future__ import annotations

import ast
from itertools import takewhile

from torchlint.inference.lexical import BINDING, SCOPES, Loop, bound, declared, local, naming, own
from torchlint.screening.sight import Sight
from torchlint.syntax.outline import Function, Outline, parameters

_LITERALS = (ast.List, ast.Tuple, ast.ListComp, ast.Constant, ast.Dict, ast.JoinedStr, ast.Lambda)
_SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
"""What makes no tensor with whatever operator and operand: ``[0] * n``. torch refuses these; Python repeats them."""
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
            if isinstance(left, _SEQUENCES) or isinstance(right, _SEQUENCES):
                return True
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
    """Whether all that a name may have been bound to where it stands is data."""
    outline, word = sight.outline, node.id
    scope = _binder(node, outline)
    if scope is None:
        return False
    is_argument = isinstance(scope, Function) and word in parameters(scope)
    if isinstance(scope, Function) and is_argument and not _is_said_to_be_data(scope, word, sight):
        return False
    places = [each for each in outline.told(bound, scope).get(word, ()) if _reaches(each, node, scope, outline)]
    if len(places) > _MOST_PLACES or not (places or is_argument):
        return False
    found = (_given(outline.parents[each]) for each in places)
    return all(each is not None and is_plain_data(each, sight, depth) for each in found)


def _reaches(place: ast.Name, node: ast.Name, scope: ast.AST, outline: Outline) -> bool:
    """Whether a name may be what is bound to it at a place: not where that comes later, if nothing leads back."""
    around = list(takewhile(lambda above: above is not scope, outline.ancestors(node)))
    if any(isinstance(above, (Loop, *SCOPES)) for above in around):
        return True
    is_before = (place.lineno, place.col_offset) < (node.lineno, node.col_offset)
    return is_before and outline.parents[place] not in around  # in `x = f(x)` the assignment comes later


def _binder(node: ast.Name, outline: Outline) -> Function | ast.Module | None:
    """Give the function or module whose assignments bind a name; None where something else may bind it."""
    for above in outline.ancestors(node):
        if isinstance(above, ast.ClassDef) or (isinstance(above, ast.Lambda) and node.id in parameters(above)):
            return None
        if isinstance(above, Function):
            break
    function = outline.owner(node)
    while True:
        scope = function or outline.tree
        if node.id in outline.told(_bound_in_other_ways, scope):
            return None
        if function is None:
            return outline.tree if node.id in outline.told(bound, outline.tree) else None
        if node.id in outline.told(local, function):
            return function
        function = outline.owner(function)


def _is_said_to_be_data(function: Function, word: str, sight: Sight) -> bool:
    """Whether an argument's annotation is one of Python's own types of data, and no call is known to tell otherwise."""
    given = function.args
    if sight.analysis.is_private(function):
        return False
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if each.arg == word and isinstance(each.annotation, ast.Name) and each.annotation.id in _TYPES:
            return sight.analysis.names_of(each.annotation) == {f"builtins.{each.annotation.id}"}
    return False


def _given(statement: ast.AST) -> ast.expr | None:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AugAssign(value=value):
            return value
    return None


def _bound_in_other_ways(outline: Outline, scope: Function | ast.Module) -> frozenset[str]:
    """Give the names of a function or module that something else than its assignments and its arguments binds."""
    named = frozenset(word for each in own(outline, scope, *BINDING) for word in naming(each))
    return named | outline.told(declared, outline.tree)


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
