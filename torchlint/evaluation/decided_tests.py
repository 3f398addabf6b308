"""Tests that come out one way in a context: constants, ``None``, comparisons with constants, questions of kind."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Final

from torchlint.models import descent, tests_of_values
from torchlint.semantic.graph import (
    CALL,
    CONST,
    EITHER,
    ELEMENT,
    GLOBAL,
    INDEX,
    ITEM,
    OPAQUE,
    OPERATION,
    TEXT_OF_PARTS,
    TRUTH,
    UNDEFINED,
    Node,
)
from torchlint.values.abstract import ANY, NONE, NUMBER, STRING, TENSOR, Abstract
from torchlint.values.asking import CallSite, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_UNDECIDED: Final = frozenset({OPERATION, INDEX, ELEMENT, ITEM, OPAQUE, UNDEFINED})
_EQUALITY: Final = {"is": True, "==": True, "is not": False, "!=": False}
_ORDER: Final[dict[str, Callable[[float, float], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


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
    if node.op == GLOBAL and not ev.presumes(Presumption.KEPT):  # a switch of the module, which others may set
        return None
    return descent.truth_of(ev.value(node, (), context))


def _compared(ev: Evaluator, node: Node, context: Context | None) -> bool | None:
    operator = str(node.data)
    if len(node.ins) != 2 or (operator not in _EQUALITY and operator not in _ORDER):
        return None
    left, right = node.ins
    if right.op == CONST and right.data is None:
        yes, value = _EQUALITY.get(operator), ev.value(left, (), context)
        if value.kind == NONE or yes is None:
            return yes
        return not yes if value.kind and not value.kind & NONE else None
    known = _constants(ev.value(left, (), context))
    wanted = _constants(ev.value(right, (), context)) if known else ()
    found = {_outcome(operator, one, two) for one in known for two in wanted}
    return found.pop() if len(found) == 1 else None


def _constants(value: Abstract) -> tuple[object, ...]:
    """Return the constants that a value is one of; nothing where it may be something else."""
    if not value.references:
        return ()
    found = tuple(each.value for each in value.references if isinstance(each, ConstantRef))
    return found if len(found) == len(value.references) and value.must(NUMBER | STRING) else ()


def _outcome(operator: str, one: object, two: object) -> bool | None:
    if operator in _EQUALITY:
        return (one == two) is _EQUALITY[operator]
    if isinstance(one, int | float) and isinstance(two, int | float):
        return _ORDER[operator](one, two)
    return None


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
