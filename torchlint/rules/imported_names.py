"""What a name that only imports bind stands for, where a star may have brought it too."""

from __future__ import annotations

import ast

from torchlint.rule import FileContext


def names_of(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return what a dotted name of a library or a built-in means; nothing where the file binds its first word."""
    known = context.qualified_names(node)
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if known or not isinstance(root, ast.Name) or root.id in context.bound_otherwise:
        return known
    return context.value(node).names
