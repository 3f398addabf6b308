"""Where a tensor goes on that an object keeps in a list or a dictionary, and which functions serve a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext

_KEEPING_ORDER = frozenset({"builtins.reversed", "builtins.list", "builtins.tuple", "builtins.iter"})


def is_called_in_a_class(function: ast.AST | None, context: FileContext) -> bool:
    """Whether a method names a function of the file."""
    return isinstance(function, ast.FunctionDef) and is_named_in_a_class(function.name, context)


def is_named_in_a_class(word: str, context: FileContext) -> bool:
    """Whether a class of the file has a name in its body or its methods."""
    uses = context.names_by_word().get(word, [])
    return any(isinstance(above, ast.ClassDef) for each in uses for above in context.ancestors(each))


def members_of(read: ast.expr, container: ast.expr, member: ast.expr, context: FileContext) -> Iterator[ast.expr]:
    """Yield what may be one member of a list or a dictionary where that is read: an item, or the name of a loop."""
    above = context.parent(read)
    match above:
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if value is read:
            if not isinstance(index, ast.Slice) and _may_be_at(index, container, member):
                yield above
        case ast.For(iter=source, target=target) | ast.comprehension(iter=source, target=target):
            if source is read and isinstance(target, ast.Name) and not isinstance(container, ast.Dict):
                yield target
        case ast.Call(args=given) if read in given and not isinstance(container, ast.Dict):
            yield from _looped_over(above, given.index(read), context)


def _may_be_at(index: ast.expr, container: ast.expr, member: ast.expr) -> bool:
    """Whether an index or a key may be the one at which a container that is spelled holds a member."""
    match container, index:
        case ast.Dict(keys=keys, values=values), ast.Constant(value=asked):
            key = keys[values.index(member)]
            return not isinstance(key, ast.Constant) or key.value == asked
        case ast.List(elts=members) | ast.Tuple(elts=members), ast.Constant(value=int() as asked):
            return any(isinstance(each, ast.Starred) for each in members) or members[asked:][:1] == [member]
    return True


def _looped_over(call: ast.Call, at: int, context: FileContext) -> Iterator[ast.expr]:
    """Yield the target of a loop over ``zip(..., container)`` or ``enumerate(container)`` that stands for members."""
    names, above = context.names(call.func), context.parent(call)
    if not isinstance(above, ast.For | ast.comprehension) or above.iter is not call:
        return
    parts = above.target.elts if isinstance(above.target, ast.Tuple) else []
    at = {"builtins.zip": at, "builtins.enumerate": 1}.get(next(iter(names), ""), -1)
    if names <= _KEEPING_ORDER and names and isinstance(above.target, ast.Name):
        yield above.target
    elif 0 <= at < len(parts) and isinstance(parts[at], ast.Name):
        yield parts[at]
