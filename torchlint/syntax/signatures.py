"""What the text of a definition says of its parameters."""

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
