"""What the text of a definition says of its parameters, decorators and methods, and that of a call of its arguments."""

from __future__ import annotations

import ast

from torchlint.syntax.ast_index import Function


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


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Return the expressions that a call hands over, by position and by keyword."""
    return [*call.args, *(each.value for each in call.keywords)]


def argument_at(call: ast.Call, place: int | None, word: str) -> ast.expr | None:
    """Return what a call writes for a parameter, by its name or at its place; None where nothing or not one by one.

    ``place`` counts what the call itself hands over, from 0; it is None where the parameter is given by name only.
    """
    for keyword in call.keywords:
        if keyword.arg == word:
            return keyword.value
    if place is None or not 0 <= place < len(call.args):
        return None
    is_known = not any(isinstance(each, ast.Starred) for each in call.args[: place + 1])
    return call.args[place] if is_known else None


def written_argument(call: ast.AST, function: Function, word: str, bound: bool) -> ast.expr | None:
    """Return what a call writes for a parameter of the function that it calls; None where nothing or not one by one.

    ``bound`` says that the call leaves out the first parameter, the object whose method it calls.
    """
    if not isinstance(call, ast.Call):
        return None
    words = [each.arg for each in positional_parameters(function)]
    return argument_at(call, words.index(word) - bound if word in words else None, word)


def has_stars(call: ast.AST) -> bool:
    """Whether a node is a call that hands over what stands in a sequence: ``f(*given)``."""
    return isinstance(call, ast.Call) and any(isinstance(each, ast.Starred) for each in call.args)


def unpacks(call: ast.Call) -> bool:
    """Whether a call hands over what stands in a sequence or a dictionary: ``f(*given)``, ``f(**given)``."""
    return has_stars(call) or any(each.arg is None for each in call.keywords)


def defaults_of(function: Function | ast.Lambda) -> dict[ast.arg, ast.expr]:
    """Return the defaults of the parameters that have one, in their order."""
    positional, given = positional_parameters(function), function.args
    found = dict(zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True))
    by_keyword = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {each: default for each, default in by_keyword if default is not None}


def handed_to(call: ast.Call, function: Function, argument: ast.arg) -> ast.expr | None:
    """Return what a call hands over for an argument; None where it leaves it to its default."""
    first = first_parameter(function)
    is_bound = first in ("self", "cls") and not is_static(function)
    if not is_bound or argument.arg != first:
        return written_argument(call, function, argument.arg, is_bound)
    match call.func:
        case ast.Attribute(value=owner, attr=word) if word == function.name:
            return owner
    return call.func
