"""Primaries, as Python's grammar calls them: what a method can be called on without parentheses around it."""

from __future__ import annotations

import libcst as cst

_PRIMARIES = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def is_primary(node: cst.BaseExpression) -> bool:
    """Whether an expression is a primary by its own form, whatever parentheses stand around it."""
    return isinstance(node, _PRIMARIES)
