"""Tests that come out one way in a context: constants, ``None``, comparisons with constants, questions of kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.models import descent, tests_of_values
from torchlint.semantic.graph import (
    CALL,
    CONST,
    EITHER,
    ELEMENT,
    INDEX,
    ITEM,
    OPAQUE,
    OPERATION,
    TEXT_OF_PARTS,
    TRUTH,
    UNDEFINED,
    Node,
)
from torchlint.values.abstract import ANY, NONE, NUMBER, STRING, TENSOR
from torchlint.values.asking import CallSite
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_UNDECIDED: Final = frozenset({OPERATION, INDEX, ELEMENT, ITEM, OPAQUE, UNDEFINED})
_EQUALITY: Final = {"is": True, "==": True, "is not": False, "!=": False}


def truth(ev: Evaluator, node: Node, context: Context | None) -> bool | None:
    """Return how a test comes out; None where both are possible."""
    if node.op == CONST:
        return None if node.data is TEXT_OF_PARTS else bool(node.data)
    if node.op == TRUTH:
        if node.data == "not":
            inner = truth(ev, node.ins[0], context)
            return None if inner is None else not inner
        return _compared(ev, node, context)
    if node.op == EITHER:
        known = [truth(ev, each, context) for each in node.ins]
        decisive = node.data == "or"
        if decisive in known:
            return decisive
        return None if None in known else not decisive
    if node.op == CALL and (asked := _asked(node)):
        return _of_kind(ev, node, asked, context)
    if node.op in _UNDECIDED:
        return None
    return descent.truth_of(ev.value(node, (), context))


def _compared(ev: Evaluator, node: Node, context: Context | None) -> bool | None:
    yes = _EQUALITY.get(str(node.data))
    if yes is None or len(node.ins) != 2 or node.ins[1].op != CONST or node.ins[1].data is TEXT_OF_PARTS:
        return None
    value, wanted = ev.value(node.ins[0], (), context), node.ins[1].data
    if wanted is None:
        if value.kind == NONE:
            return yes
        return not yes if value.kind and not value.kind & NONE else None
    constants = [each.value for each in value.references if isinstance(each, ConstantRef)]
    if not constants or len(constants) != len(value.references) or not value.must(NUMBER | STRING):
        return None
    if all(each == wanted for each in constants):
        return yes
    return not yes if all(each != wanted for each in constants) else None


def _asked(node: Node) -> str:
    word = node.arguments.spelled.rpartition(".")[2]
    return word if word in ("isinstance", "is_tensor") else ""


def _of_kind(ev: Evaluator, node: Node, asked: str, context: Context | None) -> bool | None:
    site = CallSite(ev, node, context)
    value, wanted = site.value(0), site.argument(1)
    if value is None or not value.kind or value.kind == ANY:
        return None
    if asked == "is_tensor":
        return True if value.kind == TENSOR else None if value.kind & TENSOR else False
    if wanted is None:
        return None
    mask, whole = tests_of_values.kinds_of(ev, wanted, context)
    if not mask:
        return None
    if not value.kind & mask:
        return False
    return True if whole and not value.kind & ~mask else None
