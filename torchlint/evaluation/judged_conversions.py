"""A conversion to the host: which halves of it a value needs, how sure that is, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.diagnostics.model import Confidence
from torchlint.evaluation import grading, reasons
from torchlint.semantic.graph import ATTR, CALL, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import OFF, ON

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator
    from torchlint.evaluation.oracles import Oracles

_SOURCES: Final = a.SURE | a.MODULE_OUT | a.OPTION | a.OF_MODE | a.OF_MODEL


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a reason: what it says, and the node that it speaks of."""

    text: str
    node: Node | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What may be missing before a conversion."""

    detach: bool
    cpu: bool
    has_source_of_grad: bool
    """Whether something is known that brings a gradient: a leaf, a module, what is named like one."""
    has_source_of_device: bool
    is_tensor: bool
    """Whether the value is a tensor beyond doubt, as far as the code says what it is."""
    confidence: Confidence
    why: tuple[Step, ...]
    is_met_by_none: bool
    """Whether the project calls the function, and all calls hand over what converts."""


def judge(oracles: Oracles, call: Node) -> Judgement | None:
    """Judge a call of a method that copies to the host; None where it is never reached, or proven to work."""
    receiver = call.ins[0].ins[0]
    strict, callers = oracles.strict, oracles.callers
    value, mode = a.unknown(a.OF_ATTR, receiver), ON | OFF
    is_followed = False
    with strict.question():
        if not strict.feasible(call.fn.guards.get(call, ()), None):
            return None
        value, mode = strict.value(receiver), strict.mode(call, None)
        is_followed = True
    missing = grading.missing(value, mode)
    if not any(missing):
        return None
    by_calls, modes, is_called = _brought(callers, call, receiver, value, mode)
    level = grading.grade(
        value, mode, by_calls, modes, call.fn, is_called=is_called, has_written_cpu=_has_written_cpu(receiver)
    )
    if level is None:
        return None
    there = grading.missing(by_calls, modes)
    return Judgement(
        missing.detach,
        missing.cpu,
        bool(value.grad & _SOURCES),
        bool(value.device & _SOURCES),
        value.kind == a.TENSOR,
        level if is_followed else Confidence.UNPROVEN,
        (*_why(strict, receiver, missing), *_told_of_calls(is_called, any(there), is_followed)),
        is_called and not any(there),
    )


def _brought(
    callers: Evaluator, call: Node, receiver: Node, value: Abstract, mode: int
) -> tuple[Abstract, int, bool]:
    """Return what the project's calls bring, in which grad modes, and whether there are any."""
    with callers.question():
        by_calls, modes = callers.value(receiver), callers.mode(call, None)
        is_called = bool(callers.callers(call.fn))
        if by_calls.kind & a.TENSOR:
            return by_calls, modes, is_called
        return by_calls.but(grad=a.SAFE, device=a.SAFE), modes, True
    return value, mode, False


def _why(strict: Evaluator, receiver: Node, missing: grading.Missing) -> tuple[Step, ...]:
    found: dict[str, Step] = {}
    with strict.question():
        for axis, is_missing in ((reasons.GRAD, missing.detach), (reasons.DEVICE, missing.cpu)):
            if is_missing:
                for text, node in reasons.steps(strict, receiver, axis):
                    found.setdefault(text, Step(text, node))
    return tuple(found.values())


def _told_of_calls(is_called: bool, is_brought: bool, is_followed: bool) -> tuple[Step, ...]:
    if not is_followed:
        return (Step("not followed further: budget", None),)
    if is_called and not is_brought:
        return (Step("the project's calls bring nothing of the kind", None),)
    return ()


def _has_written_cpu(receiver: Node) -> bool:
    """Whether the copy to the host is written in the chain before the conversion."""
    while receiver.op == CALL and receiver.ins[0].op == ATTR:
        if receiver.ins[0].data == "cpu":
            return True
        receiver = receiver.ins[0].ins[0]
    return False
