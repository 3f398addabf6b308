"""What a name that only imports bind stands for, where a star may have brought it too."""

from __future__ import annotations

import ast

from torchlint.inference.lexical import bound_otherwise
from torchlint.rule import FileContext


def names_of(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return what a dotted name of a library or a built-in means; nothing where the file binds its first word."""
    if context.analysis is None or context.outline is None:
        return frozenset()
    known = context.analysis.names_of(node)
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if (
        known
        or not isinstance(root, ast.Name)
        or root.id in context.outline.told(bound_otherwise, context.outline.tree)
    ):
        return known
    return context.analysis.value(node).names
