"""Whether a constructor runs on new objects alone: what it writes, a graph may hold where it runs once more."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, remembered, runs_later
from torchlint.rules.data.building_methods import own_name

_BUILDING = frozenset({"__init__", "__post_init__"})
_TELLING = frozenset({"__annotations__", "__code__", "__doc__", "__globals__", "__name__", "__qualname__"})
"""What may be asked of a constructor without a call of it."""


@remembered
def may_reinitialise(_: ast.Module, context: FileContext) -> bool:
    """Whether the file may call a constructor on an object that is there already: ``net.__init__()``, ``restart(net)``.

    Constructors call those of their bases, on the object that is being built; who else gets hold of one may call it.
    """
    if any(isinstance(each.ctx, ast.Load) for each in context.names_by_word().get("__init__", ())):
        return True
    return not all(_builds(each, context) for each in context.attributes_by_word().get("__init__", ()))


def _builds(constructor: ast.Attribute, context: FileContext) -> bool:
    """Whether a constructor is called on the object that is being built, or only looked at."""
    match context.parent(constructor):
        case ast.Attribute(attr=word):
            return word in _TELLING
        case ast.Call(func=function, args=given) if function is constructor:
            return _is_called_on_own(constructor, given, context)
        case ast.Call(func=function):
            return all(each.startswith("inspect.") for each in context.names(function) or {""})
    return False


def _is_called_on_own(constructor: ast.Attribute, given: list[ast.expr], context: FileContext) -> bool:
    """Whether the object is that of the constructor around: by ``super()``, or handed to one of a class."""
    around = context.function_around(constructor)
    if around is None or around.name not in _BUILDING or not isinstance(context.parent(around), ast.ClassDef):
        return False
    if runs_later(constructor, context.parent, context.bound_otherwise):
        return False
    match constructor.value, given:
        case ast.Call(func=ast.Name(id="super")), _:
            return True
        case _, [ast.Name(id=first), *_]:
            return first == own_name(around)
    return False
