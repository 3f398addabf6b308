"""Whether the owner of a `.data` came out of a network, or meets tensors where only tensors meet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import libcst as cst

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import ANY, TENSOR_METHODS, FileContext, Kind, last_word_of_name, remembered
from torchlint.rules.data.data_use import FORM_ATTRIBUTES, FORM_METHODS, VIEW_ATTRIBUTES, last_word
from torchlint.rules.data.tensor_uses import PARAMETER, is_used
from torchlint.rules.method_calls import method_call

_NO_OUTPUT = Kind.NONE | Kind.MODULE
"""All that the result of a call is not of which only names say that a network is called."""
_HELD = VIEW_ATTRIBUTES | frozenset({"data", "grad", "is_leaf", "requires_grad"})
"""Attributes that tensors have beside those of their form."""
OTHER_MEANING = re.compile(
    r"(generator|module|learner|policy|actor|detector|segmentor|head|encoder|decoder|embedder|transformer|layer\d*)$",
    re.IGNORECASE,
)
"""How the names end under which programs call other things than networks too."""
_DEEPEST = 4
"""Names are followed to what they are bound to this far."""


def network_output(receiver: ast.expr, context: FileContext) -> Confidence | None:
    """Say how sure it is that an expression comes from calling a network; None where nothing shows that."""
    if _is_asked_for_more(root_of(receiver), context):
        return None
    calls = list(_sources(receiver, context, _DEEPEST))
    judged = [_called(each, context) if isinstance(each, ast.Call) else None for each in calls]
    sure = [each for each in judged if each is not None]
    return min(sure) if sure and len(sure) == len(judged) else None


def _sources(node: ast.expr, context: FileContext, depth: int) -> Iterator[ast.expr | None]:
    """Yield what an expression is made of, by all ways that lead to it; None for a way that is not followed."""
    root = root_of(node)
    if isinstance(root, ast.Call):
        yield root
        return
    scope = context.scope_that_binds(root) if isinstance(root, ast.Name) else None
    if not isinstance(root, ast.Name) or scope is None or depth == 0:
        yield None
        return
    for place in context.reaching(root):
        value = bound_to(place, context) if isinstance(place, ast.Name) else None
        if value is None:
            yield None
        elif value is not place:
            yield from _sources(value, context, depth - 1)


def root_of(node: ast.expr) -> ast.expr:
    """Return the object behind subscripts, views and methods of tensors: ``out`` of ``out[0].view(-1)``.

    Another attribute of an unknown output may be a record with a ``data`` of its own.
    """
    while True:
        match node:
            case ast.Subscript(value=inner, slice=index) if not isinstance(index, ast.Constant) or _is_number(index):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in TENSOR_METHODS:
                node = inner
            case ast.Attribute(value=inner, attr=word) if word in VIEW_ATTRIBUTES:
                node = inner
            case _:
                return node


def _is_number(index: ast.Constant) -> bool:
    return isinstance(index.value, int)


def bound_to(place: ast.Name, context: FileContext) -> ast.expr | None:
    """Return what a name is assigned or unpacked from, and the name itself where it is only changed in place."""
    above = context.parent(place)
    while isinstance(above, ast.Tuple | ast.List):
        above = context.parent(above)
    match above:
        case ast.Assign(value=value) | ast.NamedExpr(value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
        case ast.AugAssign():
            return place
    return None


def _is_asked_for_more(node: ast.expr, context: FileContext) -> bool:
    """Whether the function around asks a name for something that no tensor has: ``world.shutdown()``."""
    if not isinstance(node, ast.Name):
        return False
    around = context.function_around(node) or context.tree
    return node.id in _asked_for_more(around, context)


@remembered
def _asked_for_more(around: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names that a function or module asks for something that no tensor has."""
    objects = (each.value for each in context.inside(around, ast.Attribute) if not is_tensor_word(each.attr))
    return frozenset(each.id for each in objects if isinstance(each, ast.Name))


def is_tensor_word(word: str) -> bool:
    """Whether tensors have an attribute or method, and records and containers hardly do."""
    return word in _tensor_words()


@cache
def _tensor_words() -> frozenset[str]:
    return (TENSOR_METHODS | FORM_ATTRIBUTES | FORM_METHODS | _HELD) - {"values"}


def _called(call: ast.Call, context: FileContext) -> Confidence | None:
    """Say how sure it is that a call is one of a network: by what is called, or by its name.

    A name that means other things too must be given a tensor.
    """
    called, given = context.value(call.func), context.value(call)
    if not given.may(Kind.TENSOR) or given.instance:
        return None
    if called.must(Kind.MODULE):
        return Confidence.LIKELY if called.instance else Confidence.POSSIBLE
    likely = context.presumed_value(call)
    if likely.may(_NO_OUTPUT) or likely.kind | _NO_OUTPUT != ANY:
        return None
    doubtful = OTHER_MEANING.search(last_word_of_name(call.func))
    return None if doubtful and not any(context.value(each).is_tensor for each in call.args) else Confidence.POSSIBLE


_MOST_PARTNERS = 16
"""Of a longer sum only the nearest terms are asked."""


def meets_tensor(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the value meets a tensor: ``weight.data.copy_(x.data)``, ``weight.data = x.data``, ``x.data * t``."""
    return any(_is_tensor(each, context) for each in islice(_partners(node, context), _MOST_PARTNERS))


def behind_methods(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the object on which a chain of tensor methods is called."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in TENSOR_METHODS:
                node = inner
            case _:
                return node


def _partners(node: cst.CSTNode, context: FileContext) -> Iterator[cst.BaseExpression]:
    """Yield the expressions that must be of the same kind as a ``.data``, following what is reckoned with it."""
    current: cst.CSTNode | None = node
    while current is not None:
        yield from _beside(current, context)
        current = _outward(current, context)


def _outward(node: cst.CSTNode, context: FileContext) -> cst.CSTNode | None:
    """Return the expression around that is a tensor if, and only if, this one is."""
    above = context.parent(node)
    if isinstance(above, cst.BinaryOperation | cst.UnaryOperation):
        return above
    called = method_call(node, context)
    return called[0] if called is not None and called[1] in TENSOR_METHODS else None


def _beside(node: cst.CSTNode, context: FileContext) -> Iterator[cst.BaseExpression]:
    """Yield what an expression is reckoned or compared with, assigned to or from, or handed to the method of."""
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
    """Yield an expression if it is a ``.data``: that something is stored in a ``.data`` proves nothing by itself."""
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
