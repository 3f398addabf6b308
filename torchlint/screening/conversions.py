"""``.numpy()`` calls: whether something may be missing on the way to the host."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.inference.facts import Grad, Kind, Mode, Place, Reason, Value
from torchlint.screening.sight import Sight

if TYPE_CHECKING:
    from torchlint.inference.analysis import Analysis

CONVERTS = ~(Kind.OTHER | Kind.MODULE | Kind.ARRAY | Kind.DEVICE | Kind.DTYPE)
"""What a receiver may be so that ``.numpy()`` runs only if it is a tensor of torch: a list has no such method."""


def may_fail(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rules that ask for ``.detach()`` and ``.cpu()``."""
    call = sight.called(node)
    if call is None or not isinstance(node, ast.Attribute) or call.args or any(map(_forces, call.keywords)):
        return False
    value = sight.value(node.value)
    if not may_be_torch(node.value, value, sight.analysis):
        return False
    return sight.settings.strict or any(lacking(node.value, value, sight.analysis))


def is_detour(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rule about arrays that only become numbers."""
    call = sight.called(node)
    above = sight.outline.parents.get(call) if call is not None else None
    match above:
        case ast.Attribute(attr=word):
            return word in ("item", "tolist")
        case ast.Call(args=[ast.expr()], keywords=[], func=ast.Name(id="float" | "int")):
            return True
        case ast.Subscript(slice=ast.Constant(value=0)):
            return True
    return False


def may_be_torch(receiver: ast.expr, value: Value, analysis: Analysis) -> bool:
    """Whether the receiver of ``.numpy()`` may be a torch tensor: an unknown one only in code that works with torch."""
    if not value.may(Kind.TENSOR):
        return False
    if value.must(CONVERTS):
        return True
    parents = analysis.outline.parents
    match parents.get(parents.get(parents.get(receiver, receiver), receiver)):
        case ast.Attribute(attr="decode"):  # the bytes of a TensorFlow string
            return False
    return analysis.may_be_torch(receiver)


def lacking(receiver: ast.expr, value: Value, analysis: Analysis) -> tuple[bool, bool]:
    """Tell whether ``.detach()`` and whether ``.cpu()`` may be missing where code is called as such code mostly is.

    In strict settings: where it is called in any way.
    """
    detach = value.may_require_grad and bool(analysis.mode(receiver) & Mode.ON)
    cpu = value.may_be_on_accelerator
    if analysis.settings.strict or not (detach or cpu):
        return detach, cpu
    presuming = analysis.presuming
    presumed = presuming.value(receiver)
    detach &= presumed.may_require_grad and bool(presuming.mode(receiver) & Mode.ON)
    cpu &= presumed.may_be_on_accelerator
    if detach and analysis.is_test:  # it has run: one that always raises would not be kept
        detach = _shows_grad(value)
    if cpu and not value.place & Place.ACCELERATOR:
        cpu = analysis.speaks_of_accelerators(receiver)
    return detach, cpu


def rests_on_others(reason: Reason) -> bool:
    """Whether a reason has a step outside the function's own text."""
    return any(step.weak for step in reason.chain())


def _shows_grad(value: Value) -> bool:
    """Whether the function's own text shows that the value may require grad."""
    reason = value.why_grad
    return bool(value.grad & Grad.ATTACHED) and reason is not None and not rests_on_others(reason)


def _forces(keyword: ast.keyword) -> bool:
    match keyword:
        case ast.keyword(arg="force", value=ast.Constant(value=False)):
            return False
    return True
