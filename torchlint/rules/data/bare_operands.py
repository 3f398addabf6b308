"""Whether a value that is read needs no `.detach()`: nothing that is done with it there records a graph."""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import FileContext
from torchlint.rules.data.tensor_uses import ALIKE
from torchlint.rules.data.write_repair import grad_is_off, is_unused, moves_into_block


def carries_no_gradient(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the tensor of a ``.data`` does not require grad, and is only read: then it may stand there itself.

    A gradient may carry one, where it was computed with ``create_graph``.
    """
    known = context.value(node.value)
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == "grad":
        return False
    return known.is_tensor and not known.claimed and not known.may_require_grad and context.leaves_trace(node).is_no


def needs_no_detach(node: cst.Attribute, context: FileContext) -> bool:
    """Whether a value with its graph does the same where ``.data`` is read: ``w.copy_(v)``, ``w.add_(v * 2)``.

    Nothing is recorded there, now or when the write of the same statement has moved under ``no_grad``; and what an
    in-place method is given, it does not keep.
    """
    given: cst.CSTNode = node
    while isinstance(above := context.parent(given), cst.BinaryOperation | cst.UnaryOperation):
        given = above
    call = context.parent(above) if isinstance(above, cst.Arg) and not above.star else None
    match call:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=word))) if word in ALIKE:
            is_data = isinstance(receiver, cst.Attribute) and receiver.attr.value == "data"
            is_write = (is_data or context.value(receiver).is_tensor) and is_unused(call, context)
            return is_write and (grad_is_off(node, context) or (is_data and moves_into_block(call, context)))
    return False
