"""What the text of a definition says of its parameters and decorators, and that of a call of its arguments."""

from __future__ import annotations

import ast

from torchlint.syntax.ast_index import Function
from torchlint.syntax.places import word_of


def positional_parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return the parameters that a call may give by position, ``*args`` left out."""
    return [*function.args.posonlyargs, *function.args.args]


def plain_parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return the parameters of one argument each: those with stars are left out."""
    return [*positional_parameters(function), *function.args.kwonlyargs]


def all_parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return all parameters, those with stars last."""
    starred = (function.args.vararg, function.args.kwarg)
    return [*plain_parameters(function), *(each for each in starred if each is not None)]


def parameters(function: Function | ast.Lambda) -> frozenset[str]:
    """Return the names of a function's parameters, those with stars too."""
    return frozenset(each.arg for each in all_parameters(function))


def first_parameter(function: Function) -> str | None:
    """Return the name of what a call gives first, of a method its object; None where it takes nothing by position."""
    return next((each.arg for each in positional_parameters(function)), None)


def is_static(function: Function) -> bool:
    """Whether a method is a ``staticmethod``: it has no ``self``."""
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)


def decorators_of(definition: Function | ast.ClassDef) -> list[ast.expr]:
    """Return what decorates a function or a class, without its own arguments: ``lru_cache`` of ``@lru_cache(4)``."""
    return [each.func if isinstance(each, ast.Call) else each for each in definition.decorator_list]


def decorator_words(definition: Function | ast.ClassDef) -> set[str]:
    """Return the last words of what decorates a function or a class; ``""`` for what is no name."""
    return set(map(word_of, decorators_of(definition)))


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Return the expressions that a call hands over, by position and by keyword."""
    return [*call.args, *(each.value for each in call.keywords)]


def unpacks(call: ast.Call) -> bool:
    """Whether a call hands over what stands in a sequence or a dictionary: ``f(*given)``, ``f(**given)``."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def defaults_of(function: Function | ast.Lambda) -> dict[ast.arg, ast.expr]:
    """Return the defaults of the parameters that have one, in their order."""
    positional, given = positional_parameters(function), function.args
    found = dict(zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True))
    by_keyword = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {each: default for each, default in by_keyword if default is not None}
