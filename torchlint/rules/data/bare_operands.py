"""Whether a value that is read needs no `.detach()`: grad mode is off, and it goes into a write and nowhere else."""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import FileContext
from torchlint.rules.data.write_repair import grad_is_off, is_unused, moves_into_block
from torchlint.rules.evidence.tensor_uses import ALIKE


def needs_no_detach(node: cst.Attribute, context: FileContext) -> bool:
    """Whether a value with its graph does the same where ``.data`` is read: ``w.copy_(v)``, ``w.add_(v * 2)``.

    Nothing is recorded there, now or when the write of the same statement has moved under ``no_grad``; and what an
    in-place method is given, it does not keep.
    """
    call = _write_given(node, context)
    return call is not None and (grad_is_off(node, context) or moves_into_block(call, context))


def _write_given(node: cst.Attribute, context: FileContext) -> cst.Call | None:
    """Return the in-place method of a tensor that is given a value, alone or reckoned with."""
    given: cst.CSTNode = node
    while isinstance(above := context.parent(given), cst.BinaryOperation | cst.UnaryOperation):
        given = above
    call = context.parent(above) if isinstance(above, cst.Arg) and not above.star else None
    match call:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=word))) if word in ALIKE:
            is_write = _is_data(receiver) or context.value(receiver).is_tensor
            return call if is_write and is_unused(call, context) else None
    return None


def _is_data(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "data"
