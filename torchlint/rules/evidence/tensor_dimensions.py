"""Whether the code shows that a tensor has a dimension, or that it has none: ``x[0]`` of one without raises."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext


def has_a_dimension(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor has a dimension; False where the code does not tell."""
    return context.value(node).has_dimensions


def has_one_dimension(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor has one dimension."""
    return context.value(node).rank == 1


def has_no_dimension(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor has no dimensions, by more than a claim: a full reduction, a loss, what is computed of these."""
    value = context.value(node)
    return value.rank == 0 and not value.claimed
