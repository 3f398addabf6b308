"""Whether a value that is read needs no `.detach()`: nothing that is done with it there records a graph."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import FileContext
from torchlint.rules.data.tensor_uses import ALIKE
from torchlint.rules.data.write_repair import grad_is_off, is_unused, moves_into_block
from torchlint.rules.method_calls import call_of

_COMPARING = frozenset("eq ne lt le gt ge".split())
_KEPT = frozenset("cpu long int bool view reshape squeeze unsqueeze flatten".split())
"""Methods between a value and its conversion that give it in another form, and a graph no more than it has."""
_LEAVING = frozenset({"numpy", "tolist", "item"})


def records_nothing(node: cst.Attribute, context: FileContext) -> bool:
    """Whether what is done with a value records no graph: it is compared, or converted and carries no gradient."""
    place = context.python(node)
    if not isinstance(place, ast.Attribute):
        return False
    return _is_compared(place, context) or _is_converted(place, context)


def _is_compared(place: ast.Attribute, context: FileContext) -> bool:
    """Whether a value is compared with what keeps nothing of it: ``pred == y.data``, ``pred.eq(y.data)``."""
    match above := context.parent(place):
        case ast.Compare(ops=ops):
            are_orders = not any(isinstance(each, ast.In | ast.NotIn | ast.Is | ast.IsNot) for each in ops)
            return are_orders and context.leaves_trace(place).is_no
        case ast.Call(func=ast.Attribute(value=receiver, attr=word), args=[_], keywords=[]):
            return word in _COMPARING and above.func is not place and context.value(receiver).is_tensor
    return False


def _is_converted(place: ast.Attribute, context: FileContext) -> bool:
    """Whether a value that carries no gradient becomes an array or Python numbers: ``preds.data.cpu().numpy()``."""
    if context.value(place.value).may_require_grad:
        return False
    inner: ast.expr = place
    while isinstance(method := context.parent(inner), ast.Attribute):
        call = call_of(method, context)
        if call is None or method.attr not in _KEPT | _LEAVING:
            return False
        if method.attr in _LEAVING:
            return True
        inner = call
    return False


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
