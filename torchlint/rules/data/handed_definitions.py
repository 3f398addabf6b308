"""Which classes and functions of a file an expression may stand for, as far as the file itself hands them on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FUNCTIONS, GRAD_MODES, FileContext, Function, decorators_of
from torchlint.rules.evidence.called_definitions import Definitions, bind, definition, names_layer, stores

_DEEPEST = 6
"""Parameters are followed to who hands them on this far."""


def classes_called(
    node: ast.expr, function: Function | None, context: FileContext, left: int = _DEEPEST
) -> list[ast.ClassDef] | None:
    """Return the classes of the file that an expression may be, by all that the file hands to it; None for others.

    Torch's own layers, which compute nothing with what they are given, are left out.
    """
    if names_layer(context.names(node)):
        return []
    here = Definitions(context).class_here(node)
    if here is not None:
        return [here]
    if function is None or not left:
        return None
    parts: list[ast.expr | None] = []
    match node:
        case ast.IfExp(body=one, orelse=other):
            parts = [one, other]
        case ast.Name(id=word):
            parts = stores(word, function, context) or list(_given(word, function, context))
    found = [
        classes_called(each, context.function_around(each), context, left - 1) if each is not None else None
        for each in parts
    ]
    return [one for each in found for one in each or ()] if found and None not in found else None


def _given(word: str, function: Function, context: FileContext) -> Iterator[ast.expr]:
    """Yield what calls in the file hand to a parameter, as far as they are written there."""
    owner = context.parent(function)
    is_method = isinstance(owner, ast.ClassDef)
    called = owner.name if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function.name
    for call in context.nodes(ast.Call):
        match call.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name == called:
                given = bind(call, function, is_method).get(word)
                if given is not None:
                    yield given


def function_given(node: ast.expr, context: FileContext) -> Function | None:
    """Return the function of the file that is handed on as an expression.

    That of ``partial(start, gain=2)`` is ``start``, that of ``starter("normal")`` what the function gives back.
    """
    match node:
        case ast.Name() as name:
            return _named(name, context)
        case ast.Call(func=maker, args=[ast.Name() as name]) if context.names(maker) == {"functools.partial"}:
            return _named(name, context)
        case ast.Call(func=ast.Name() as name):
            maker_here = _named(name, context)
            results = context.own(maker_here, ast.Return) if maker_here is not None else []
            match [each.value for each in results]:
                case [ast.Name() as inner]:
                    return _named(inner, context)
    return None


def _named(name: ast.Name, context: FileContext) -> Function | None:
    """Return the function that a name stands for, where no decorator may put another one in its place."""
    found = definition(name, context)
    if not isinstance(found, FUNCTIONS):
        return None
    is_bare = all((names := context.names(each)) and names <= GRAD_MODES for each in decorators_of(found))
    return found if is_bare else None
