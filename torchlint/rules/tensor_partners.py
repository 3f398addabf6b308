"""Whether a ``.data`` meets a tensor where only tensors meet: copied into one, reckoned or compared with one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import libcst as cst

from torchlint.rule import FileContext, operations, remembered
from torchlint.rules.data_use import last_word, method_call
from torchlint.rules.tensor_uses import PARAMETER, is_used

_MOST_PARTNERS = 16
"""Of a longer sum only the nearest terms are asked."""


def meets_tensor(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the value meets a tensor: ``weight.data.copy_(x.data)``, ``weight.data = x.data``, ``x.data * t``."""
    return any(_is_tensor(each, context) for each in islice(_partners(node, context), _MOST_PARTNERS))


def behind_methods(node: cst.BaseExpression) -> cst.BaseExpression:
    """Give the object on which a chain of tensor methods is called."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in operations().methods:
                node = inner
            case _:
                return node


def _partners(node: cst.CSTNode, context: FileContext) -> Iterator[cst.BaseExpression]:
    """Give the expressions that must be of the same kind as a ``.data``, following what is reckoned with it."""
    current: cst.CSTNode | None = node
    while current is not None:
        yield from _beside(current, context)
        current = _outward(current, context)


def _outward(node: cst.CSTNode, context: FileContext) -> cst.CSTNode | None:
    """Give the expression around that is a tensor if, and only if, this one is."""
    above = context.parent(node)
    if isinstance(above, cst.BinaryOperation | cst.UnaryOperation):
        return above
    called = method_call(node, context)
    return called[0] if called is not None and called[1] in operations().methods else None


def _beside(node: cst.CSTNode, context: FileContext) -> Iterator[cst.BaseExpression]:
    above = context.parent(node)
    match above:
        case cst.BinaryOperation(left=left, right=right):
            yield right if left is node else left
        case cst.ComparisonTarget():
            comparison = context.parent(above)
            if isinstance(comparison, cst.Comparison):
                yield comparison.left
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=other)]):
            if left is node and not isinstance(operator, cst.Is | cst.IsNot | cst.In | cst.NotIn):
                yield other
        case cst.Arg(keyword=None, star=""):
            call = context.parent(above)
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.args[0] is above:
                yield call.func.value
        case cst.Assign(value=value, targets=[cst.AssignTarget(target=target)]) if value is node:
            yield from _data_only(target)
        case cst.AssignTarget(target=target) if target is node:
            statement = context.parent(above)
            if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                yield from _data_only(behind_methods(statement.value))


def _data_only(node: cst.BaseAssignTargetExpression | cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Give an expression if it is a ``.data``: that something is stored in a ``.data`` proves nothing by itself."""
    if isinstance(node, cst.Attribute) and node.attr.value == "data":
        yield node


@remembered
def _is_tensor(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is a tensor, or the ``data`` of something whose name or function says that it is one."""
    if context.value(node).is_tensor:
        return True
    if not isinstance(node, cst.Attribute) or node.attr.value != "data":
        return False
    if context.value(node.value).is_tensor or PARAMETER.search(last_word(node.value)):
        return True
    return is_used(node.value, context, records=True)
