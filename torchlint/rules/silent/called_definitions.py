"""What the defaults of a function say of its parameters."""

from __future__ import annotations

import ast

from torchlint.rules.api import (
    Function,
    defaults_of,
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
