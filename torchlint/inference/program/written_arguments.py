"""The expressions of a call for the arguments of the function that it calls."""

from __future__ import annotations

import ast

from torchlint.syntax.ast_index import Function
from torchlint.syntax.signatures import positional_parameters


def written_argument(function: Function, call: ast.AST, word: str, bound: bool) -> ast.expr | None:
    """Return the expression that a call gives for an argument, where it is written out."""
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == word:
            return keyword.value
    words = [each.arg for each in positional_parameters(function)][bound:]
    at = words.index(word) if word in words else len(call.args)
    return call.args[at] if at < len(call.args) else None


def written_receiver(call: ast.AST, bound: bool) -> ast.expr | None:
    """Return the expression for the object whose method is called; None where it is not written out."""
    match call:
        case ast.Call(func=ast.Attribute(value=owner)) if bound:
            return owner
        case ast.Call(args=[first, *_]) if not isinstance(first, ast.Starred):
            return first
    return None


def written_arguments(function: Function, call: ast.AST, word: str, bound: bool, is_object: bool) -> list[ast.expr]:
    """Return the expressions that a call gives for an argument: several for ``*args``, one or none for others.

    ``is_object`` says that the argument is the object whose method is called.
    """
    one = written_receiver(call, bound) if is_object else written_argument(function, call, word, bound)
    rest = function.args.vararg
    if one is not None or not isinstance(call, ast.Call) or rest is None or rest.arg != word:
        return [one] if one is not None else []
    return call.args[len(function.args.posonlyargs) + len(function.args.args) - bound :]
