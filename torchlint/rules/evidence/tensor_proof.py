"""Whether an expression is a tensor of torch by its value: an annotation or a name alone is no proof."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, Decision
from torchlint.rules.api import FileContext, Grad, Kind
from torchlint.rules.evidence.shown_code import brief


def is_tensor(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is a tensor, or `None`, which the old code refuses as the new one does."""
    place = context.python(node)
    proven = isinstance(place, ast.expr) and is_proven(place, context)
    return IS_TENSOR.decided(None if proven else context.value(node).claimed, brief(node, context))


def is_tensor_if_taken(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is a tensor where `Variable` takes it: that refuses all else but `None`."""
    known = context.value(node)
    proven = known.may(Kind.TENSOR) and not known.may(Kind.NONE) and not known.claimed
    return IS_TENSOR.decided(None if proven else known.claimed, brief(node, context))


def is_proven(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a tensor, or `None`, by more than a claim."""
    known = context.value(node)
    return known.may(Kind.TENSOR) and known.must(Kind.TENSOR | Kind.NONE) and not known.claimed


def is_detached(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a tensor that does not require grad, by more than a claim."""
    known = context.value(node)
    return known.is_tensor and not known.claimed and (known.grad == Grad.DETACHED or not known.may_require_grad)
