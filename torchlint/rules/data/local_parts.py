"""Which local names hold parts of a module that is built: what is computed with them is computed with the part."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext, Function, Kind, parameters
from torchlint.rules.evidence.aliasing import COMPUTING_ANEW
from torchlint.rules.evidence.object_attributes import settings

_WRAPPING = frozenset(f"torch.nn.{module}{word}" for module in ("", "parameter.") for word in ("Parameter", "Buffer"))


def tensors_made_parts(function: Function, context: FileContext) -> Iterator[ast.Name]:
    """Yield the local names whose memory a method gives to its object: ``nn.Parameter(w)``, ``self.w = w[:2]``."""
    kept = [name for each in settings(function, context) if (name := _source(each.value, context)) is not None]
    yield from (each for each in kept if _is_tensor(each, context))
    for call in context.inside(function, ast.Call):
        is_wrapper = bool(names := context.names(call.func)) and names <= _WRAPPING
        if is_wrapper and call.args and (name := _source(call.args[0], context)) is not None:
            yield name


def _source(node: ast.expr | None, context: FileContext) -> ast.Name | None:
    """Return the local name whose memory an expression may give; None for a parameter, which others made."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=word)) if not context.names(node.func):
                if word in COMPUTING_ANEW:
                    return None
                node = inner
            case ast.Name(id=word):
                function = context.function_around(node)
                own = function is not None and word in context.local_names(function) - parameters(function)
                return node if own else None
            case _:
                return None


def _is_tensor(name: ast.Name, context: FileContext) -> bool:
    known = context.value(name)
    return known.may(Kind.TENSOR) and not known.unknown


def is_made_locally(name: ast.Name, context: FileContext) -> bool:
    """Whether a name may be bound in its function to what was made there."""
    function = context.function_around(name)
    if function is None or name.id not in context.local_names(function):
        return False
    reaching = context.reaching(name)
    return not reaching or any(isinstance(each, ast.Name) for each in reaching)


def is_list_of_its_own(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is bound to lists alone that are written where they are bound."""
    names = context.own(context.function_around(name) or context.tree, ast.Name)
    bound = [context.parent(each) for each in names if each.id == name.id and isinstance(each.ctx, ast.Store)]
    return bool(bound) and all(
        isinstance(each, ast.Assign) and isinstance(each.value, ast.List | ast.Dict) for each in bound
    )
