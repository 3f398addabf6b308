"""Where an expression carries no gradient beyond doubt, so that a `.detach()` of it is left out."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torchlint.rules.api import TENSOR_MAKERS, Dtype, FileContext, Grad, Kind, any_element
from torchlint.rules.data.data_use import is_stored
from torchlint.rules.data.own_data import has_own_data
from torchlint.rules.repairs import method_call

_COPYING = frozenset(
    "cuda cpu to float double half bfloat16 long int short char byte bool type type_as contiguous "
    "pin_memory clone".split()
)
"""Methods behind and before which a `.detach()` does the same: their result is the tensor itself or a copy of it."""

_CONSUMING = (
    cst.Attribute,
    cst.Subscript,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.Arg,
)
"""What stands above an expression that it is computed with."""
_LEGACY = re.compile(r"torch\.(?:cuda\.)?\w*Tensor")
_MAKERS = TENSOR_MAKERS - {"torch.sparse_coo_tensor"}
"""What gives a new tensor without a graph, whatever it is given."""


def carries_no_gradient(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a tensor never requires grad, whatever was written into what shares its memory.

    ``v.t().add_(net(x))`` puts ``v`` on a graph, and its own history does not tell: that counts only where the tensor
    is made on the spot. Integers and bools have no gradient in any case. A ``Variable(..)`` counts as what it is given:
    another fix may take it away.
    """
    known = context.value(node)
    if known.is_tensor and not known.claimed and known.dtype and not known.dtype & Dtype.FLOATING:
        return True
    return is_detaching(node, context) or is_new(node, context)


def is_detached(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is a tensor that by its history does not require grad, by more than a claim."""
    known = context.value(node)
    return known.is_tensor and not known.claimed and (known.grad == Grad.DETACHED or not known.may_require_grad)


def is_new(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression makes a tensor without grad on the spot, of nothing that others may hold."""
    return is_detached(node, context) and _is_made_of_data(context.python(node), context)


def is_detaching(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression ends in `.detach()` or a tensor's `.data`, or in copies of what does.

    What an object of another class keeps as its `data` may well require grad.
    """
    while True:
        match node:
            case cst.Attribute(value=owner, attr=cst.Name(value="data")):
                known = context.value(owner)
                may_be_tensor = known.may(Kind.TENSOR) and not known.instance and not has_own_data(context)
                return may_be_tensor or known.must(Kind.TENSOR | Kind.NONE)
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="detach")), args=[]):
                return True
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in _COPYING:
                node = inner
            case _:
                return False


def is_handed_on(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether the object itself may be kept: it is named, returned, or behind a `.to()` that may move nothing."""
    at: cst.CSTNode = node
    while (called := method_call(at, context)) is not None and called[1] in _COPYING:
        at = called[0]
    above = context.parent(at)
    return not isinstance(above, _CONSUMING) or (isinstance(above, cst.Arg) and at is not node)


def is_detached_behind(node: cst.BaseExpression, context: FileContext, with_data: bool = False) -> bool:
    """Whether `.detach()`, or `.data` where that counts too, comes behind an expression, copies between them or not.

    A `.data` that is assigned to detaches nothing: it gives another memory to the object that stands before it.
    """
    at: cst.CSTNode = node
    while (called := method_call(at, context)) is not None:
        at, word = called
        if word == "detach" and not at.args:
            return True
        if word not in _COPYING:
            return False
    above = context.parent(at)
    is_data = isinstance(above, cst.Attribute) and above.attr.value == "data"
    return with_data and is_data and not is_stored(above, context)


def _is_made_of_data(node: ast.AST | None, context: FileContext) -> bool:
    """Whether an expression holds no tensor, or one that torch makes on the spot, of nothing that others may hold."""
    known = context.value(node)
    if known.must(~(Kind.TENSOR | Kind.OTHER | Kind.MODULE)) and not (
        known.may(Kind.SEQUENCE) and any_element(known).may(Kind.TENSOR)
    ):
        return True
    match node:
        case ast.Call(func=function, args=args, keywords=keywords) if all(e.arg not in (None, "out") for e in keywords):
            if _makes_anew(node, context):
                return True
            operands, names = [*args, *(each.value for each in keywords)], context.names(function)
            if isinstance(function, ast.Attribute) and context.value(function.value).is_tensor:
                operands.append(function.value)
            elif not names or not all(each.startswith("torch.") for each in names):
                return False
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            operands = [left, right]
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
            operands = [inner]
        case ast.List(elts=operands) | ast.Tuple(elts=operands):
            pass
        case _:
            return False
    return all(_is_made_of_data(each, context) for each in operands)


def _makes_anew(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes a tensor of values or sizes, whatever it is given: legacy types may take over a tensor."""
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    names = context.names(call.func)
    if word in _MAKERS or (names and names <= _MAKERS):
        return True
    is_starred = any(isinstance(each, ast.Starred) for each in call.args)
    is_legacy = word == "new" or (bool(names) and all(map(_LEGACY.fullmatch, names)))
    return is_legacy and not is_starred and (len(call.args) > 1 or not context.value(call).dtype & Dtype.FLOATING)
