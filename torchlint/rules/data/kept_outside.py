"""Whether code can reach a part of a module that its constructor puts elsewhere: into a list of the file, say."""

from __future__ import annotations

import ast

from torchlint.rules.api import GIVING_ITSELF, FileContext, Function, operations, parameters
from torchlint.rules.data.building_methods import own_name

_LIBRARIES = ("torch.", "torchvision.", "builtins.", "math.", "numpy.", "copy.", "collections.", "logging.", "random.")
_OF_CONTAINERS = frozenset("append extend insert update setdefault pop remove items keys values get".split())


def is_outside(root: ast.expr, context: FileContext) -> bool:
    """Whether a name stands for what others hold, too: one of another scope, or an argument of the constructor."""
    function = context.function_around(root)
    if not isinstance(root, ast.Name) or function is None or root.id == own_name(function):
        return False
    is_argument = function.name == "__init__" and root.id in parameters(function)
    return is_argument or root.id not in context.local_names(function)


def may_reach_outside(function: Function, context: FileContext) -> bool:
    """Whether a function calls what may use a part without being given it: a function or a class of the project."""
    return any(_may_reach(each.func, context) for each in context.inside(function, ast.Call))


def _may_reach(called: ast.expr, context: FileContext) -> bool:
    names = context.names(called)
    if names and all(each.startswith(_LIBRARIES) for each in names):
        return False
    match called:
        case ast.Attribute(value=ast.Name(id="self") | ast.Call(func=ast.Name(id="super"))):
            return False  # it is looked into where it is defined
        case ast.Attribute(attr=word):
            return word not in GIVING_ITSELF | _OF_CONTAINERS | operations().methods
    return True
