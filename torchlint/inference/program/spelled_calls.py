"""What calls and texts say by their spelling alone."""

from __future__ import annotations

import ast


def last_word(node: ast.expr) -> str | None:
    """Return the last word of what is called or named."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(word)), *_]):
            return word
        case ast.Call(func=function):
            return last_word(function)
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word
    return None


def text_of(node: ast.expr) -> str | None:
    """Return what a string says; None for others."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
