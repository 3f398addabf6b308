"""Whether the statement of a write keeps nothing that it computes with what it writes into.

``m.weight.data.fill_(score(m))`` hands the module to a function, which may keep a graph that holds the old values.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, operations
from torchlint.rules.data.moved_code import is_function_of_torch
from torchlint.rules.data.other_operands import keeps_nothing
from torchlint.rules.evidence.tensor_uses import CALLING_BACK

_KEEPING = (ast.NamedExpr, ast.Lambda, ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom)
_BUILTINS = frozenset(f"builtins.{word}" for word in "float int len min max abs round sum bool isinstance".split())


def is_kept_by_nobody(place: ast.Name, context: FileContext) -> bool:
    """Whether all that a statement does with what a name holds is to compute a value for the write.

    ``place`` is where the statement writes into it.
    """
    statement = context.nearest(place, ast.stmt)
    if statement is None:
        return False
    uses = (each for each in context.inside(statement, ast.Name) if each.id == place.id and each is not place)
    return all(_is_forgotten(each, place, statement, context) for each in uses)


def _is_forgotten(use: ast.Name, place: ast.Name, statement: ast.stmt, context: FileContext) -> bool:
    """Whether nobody keeps what one use gives, on its way up to the statement."""
    node: ast.AST = use
    for above in context.ancestors(use):
        if above is statement:
            return True
        if isinstance(above, ast.Attribute) and above.attr == "data":
            return True  # no graph begins there
        if isinstance(above, _KEEPING) or not _lets_go(node, above, place, context):
            return False
        node = above
    return False


def _lets_go(node: ast.AST, above: ast.AST, place: ast.Name, context: FileContext) -> bool:
    """Whether what stands around a value only computes with it."""
    match above:
        case ast.Call(func=ast.Attribute(attr=word) as function) if function is node:
            return _is_method(word)
        case ast.Call():
            return _forgets(above.func, place, context)
        case ast.BinOp(left=left, op=operator, right=right):
            return keeps_nothing(right if left is node else left, operator, context)
        case ast.Compare(left=left, ops=operators, comparators=others):
            return all(keeps_nothing(each, operators[0], context) for each in (left, *others) if each is not node)
    return True


def _forgets(function: ast.expr, place: ast.Name, context: FileContext) -> bool:
    """Whether a function is torch's or Python's own and keeps nothing that it is given, or a method of a tensor."""
    names = context.names(function)
    if names:
        return all(_is_of_a_library(each) for each in names)
    match function:
        case ast.Attribute(value=receiver, attr=word) if _is_method(word):
            known = context.value(receiver)
            return (known.must(Kind.TENSOR) and not known.claimed) or place in context.within(receiver)
    return False


def _is_method(word: str) -> bool:
    return word in operations().methods and word not in CALLING_BACK and word != "register_hook"


def _is_of_a_library(name: str) -> bool:
    return name in _BUILTINS or name.startswith(("math.", "numpy.")) or is_function_of_torch(name)
