"""Whether code writes into the array of a ``.numpy()`` call so that the tensor changes with it.

On the host the two share memory. From an accelerator the array is a copy, so a ``.cpu()`` put in between turns the
error into a write that gets lost: ``p.grad.numpy()[:] = average``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import OWN, FileContext, parameters
from torchlint.rules.evidence.aliasing import held_alone, names_within
from torchlint.rules.evidence.called_definitions import bind
from torchlint.rules.evidence.calls_in_sight import called_in_sight
from torchlint.rules.evidence.method_calls import call_of

_WRITING_METHODS = frozenset("fill sort put partition resize itemset setfield".split())
_VIEWS = frozenset("T flat real imag reshape ravel view squeeze transpose swapaxes diagonal".split())
"""Attributes and methods of an array whose result shares its memory, or may."""

_INTO_THE_FIRST = frozenset(
    "numpy.copyto numpy.put numpy.place numpy.putmask numpy.put_along_axis numpy.fill_diagonal "
    "numpy.random.shuffle".split()
)
_SAME_MEMORY = frozenset(
    "data detach cpu view reshape squeeze unsqueeze t transpose permute flatten contiguous expand narrow select".split()
)
"""Attributes and methods of a tensor whose result shares its memory, or may."""

_MAY_WRITE = (OWN, "mpi4py.")
"""How the names of functions begin that may write into what they are given: of the project's other files, of MPI."""


def write_into_array(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return where code may write into the array of a ``.numpy()`` call, and into the tensor; None for nowhere."""
    if not isinstance(call.func, ast.Attribute) or not _outlives(call.func.value, call, context):
        return None
    return next(_writes(call, context, frozenset()), None)


def _outlives(tensor: ast.expr, call: ast.Call, context: FileContext) -> bool:
    """Whether the memory of a tensor can be reached once its array is there."""
    match tensor:
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) | ast.Attribute(value=inner, attr=word) if (
            word in _SAME_MEMORY
        ):
            return _outlives(inner, call, context)
        case ast.Subscript(value=inner):
            return _outlives(inner, call, context)
        case ast.Name():
            return _is_kept(tensor, call, context)
    return isinstance(tensor, ast.Attribute)


def _is_kept(name: ast.Name, call: ast.Call, context: FileContext) -> bool:
    scope = context.function_around(call)
    if scope is None or name.id in parameters(scope):
        return True
    for use in names_within(name.id, scope, context):
        if isinstance(use.ctx, ast.Load):
            if use is not name and context.span(use)[0] > context.span(call)[1]:
                return True
            continue
        match context.parent(use):
            case ast.Assign(value=value) if value is not call and not held_alone(value, context):
                return True
            case ast.Assign():
                pass
            case _:
                return True
    return False


def _scope(node: ast.AST, context: FileContext) -> ast.AST:
    return context.function_around(node) or context.tree


def _writes(node: ast.expr, context: FileContext, followed: frozenset[tuple[ast.AST, str]]) -> Iterator[ast.expr]:
    """Yield what writes into the array that an expression gives, or into a view of it."""
    above = context.parent(node)
    match above:
        case ast.Subscript(ctx=ast.Store()) if above.value is node:
            yield above
        case ast.Subscript() if above.value is node:
            yield from _writes(above, context, followed)
        case ast.AugAssign(target=target) if target is node:
            yield node
        case ast.Attribute(attr=word):
            yield from _by_attribute(above, word, context, followed)
        case ast.keyword(arg="out"):
            yield node
        case ast.Call() if above.func is not node:
            yield from _by_call(above, node, context, followed)
        case ast.Assign(targets=[ast.Name(id=word)]):
            yield from _by_name(word, _scope(above, context), context, followed)
        case ast.Tuple(elts=members):
            name = _target_of(above, members.index(node), context)
            if name is not None:
                yield from _by_name(name.id, _scope(above, context), context, followed)


def _target_of(members: ast.Tuple, at: int, context: FileContext) -> ast.Name | None:
    """Return the name to which an assignment of several values at once gives one of them."""
    match context.parent(members):
        case ast.Assign(value=value, targets=[ast.Tuple(elts=targets)]) if value is members:
            target = targets[at] if len(targets) == len(members.elts) else None
            return target if isinstance(target, ast.Name) else None
    return None


def _by_attribute(
    above: ast.Attribute, word: str, context: FileContext, followed: frozenset[tuple[ast.AST, str]]
) -> Iterator[ast.expr]:
    call = call_of(above, context)
    if word in _WRITING_METHODS and call is not None:
        yield above
    elif word in _VIEWS:
        yield from _writes(call or above, context, followed)


def _by_call(
    call: ast.Call, node: ast.expr, context: FileContext, followed: frozenset[tuple[ast.AST, str]]
) -> Iterator[ast.expr]:
    """Yield what a call may write into the array that it is given; a function of the file is looked through."""
    function = called_in_sight(call, context)
    if function is not None:
        is_method = isinstance(context.parent(function), ast.ClassDef)
        for word, given in bind(call, function, method=is_method).items():
            if given is node:
                yield from _by_name(word, function, context, followed)
        return
    names = context.names(call.func)
    if any(each.startswith(_MAY_WRITE) for each in names) or (names & _INTO_THE_FIRST and call.args[:1] == [node]):
        yield call


def _by_name(
    word: str, scope: ast.AST, context: FileContext, followed: frozenset[tuple[ast.AST, str]]
) -> Iterator[ast.expr]:
    if (scope, word) in followed:
        return
    for use in names_within(word, scope, context):
        if isinstance(use.ctx, ast.Load) or isinstance(context.parent(use), ast.AugAssign):
            yield from _writes(use, context, followed | {(scope, word)})
