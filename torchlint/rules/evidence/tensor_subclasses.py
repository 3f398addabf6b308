"""Whether an expression may be of a subclass of `Tensor`: `.detach()` keeps the class, `Variable(x)` drops it."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, Decision
from torchlint.rules.api import TENSOR_MAKERS, FileContext
from torchlint.rules.evidence.local_bindings import values_of
from torchlint.rules.evidence.shown_code import brief

_OF_TORCH = "torch makes it here, and of its own class"
_NONE_ABOUT = "the old call takes nothing else, and no file of the project works with a subclass of `Tensor`"


def of_no_subclass(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether a tensor is of torch's own class: unknown only where the project has a class below it.

    `Variable(x)` and `torch.tensor(x)` make a plain tensor of an object of a subclass (measured on torch 2.13).
    """
    place = context.python(node)
    if isinstance(place, ast.expr) and _is_plain(place, context):
        return IS_TENSOR.proven(_OF_TORCH, brief(node, context))
    found = context.other_texts.subclasses_tensors
    doubt = f"{found}, and the new code keeps its class" if found else None
    return IS_TENSOR.decided(doubt, brief(node, context), _NONE_ABOUT)


def _is_plain(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression, or all that a name is bound to, is what torch makes of no tensor."""
    if isinstance(node, ast.Name):
        values = values_of(node, context)
        return bool(values) and all(_is_made_anew(each, context) for each in values)
    return _is_made_anew(node, context)


def _is_made_anew(node: ast.expr, context: FileContext) -> bool:
    """Whether a call makes a tensor, and is not handed one whose class it takes over, as ``zeros_like`` does."""
    if not isinstance(node, ast.Call):
        return False
    names = context.names(node.func)
    return bool(names) and names <= TENSOR_MAKERS and not any(each.endswith("_like") for each in names)
