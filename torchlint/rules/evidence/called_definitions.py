"""What the parameters of a function stand for in a call, and what their defaults say."""

from __future__ import annotations

import ast

from torchlint.rules.api import (
    Function,
    defaults_of,
    plain_parameters,
    unpacks,
    written_argument,
)


def has_plain_default(function: Function, word: str) -> bool:
    """Whether a parameter's default is a number, a text, or a literal of these: not ``None``."""
    return any(each.arg == word and _is_plain(default) for each, default in defaults_of(function).items())


def _is_plain(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not None
        case ast.UnaryOp(operand=inner):
            return _is_plain(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(_is_plain, parts))
    return False


def bind(call: ast.Call, function: Function, method: bool) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of a function's parameters, as far as they are written one by one."""
    words = [each.arg for each in plain_parameters(function)]
    written = {word: written_argument(call, function, word, method) for word in words}
    found = {word: argument for word, argument in written.items() if argument is not None}
    if unpacks(call):
        return found
    told = {each.arg: default for each, default in defaults_of(function).items() if isinstance(default, ast.Constant)}
    return told | found
