"""A value that is to be an array or a number of the host: which halves of the way it needs, how sure, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from torchlint.diagnostics.model import Confidence
from torchlint.evaluation import grading, reasons
from torchlint.evaluation.host_sides import on_side
from torchlint.evaluation.process_state import modes_in
from torchlint.evaluation.reasons import ReasonStep
from torchlint.facts.conversions import JudgedConversion
from torchlint.semantic.graph import ATTR, CALL, OPAQUE, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import ANY_ELEMENT, OFF, ON, Path

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator
    from torchlint.evaluation.oracles import Oracles
    from torchlint.values.contexts import Context

_SOURCES: Final = a.SURE | a.MODULE_OUT | a.OPTION | a.OF_MODE | a.OF_MODEL

_PLACES: Final = a.SURE | a.MODULE_OUT | a.OPTION | a.OF_MODE


def judge_value(
    oracles: Oracles,
    converted: Node,
    at: Node,
    spelled: Callable[[ReasonStep], str],
    context: Context | None = None,
    *,
    is_of_host: bool = False,
    is_device_alone: bool = False,
    depth: int = 0,
) -> JudgedConversion | None:
    """Judge a value that is to be a number or an array of the host at a node; None where that is proven to work.

    ``depth``: the value is a member, so many containers below what is converted.
    ``is_of_host``: the file is a whole program that speaks of no device, so what begins in it stays on the host.
    ``is_device_alone``: gradients do not matter. ``spelled`` tells a step of the reasons to the user.
    """
    strict, callers, guards = oracles.strict, oracles.callers, at.fn.guards.get(at, ())
    value, mode, path = a.unknown(a.OF_ATTR, converted), ON | OFF, (ANY_ELEMENT,) * depth
    is_followed = False
    with strict.question():
        if not strict.feasible(guards, context):
            return None
        value = _as_begun(strict, strict.value(converted, path, context), converted, at)
        value, mode = on_side(strict, value, guards, context), strict.mode(at, context)
        is_followed, value = True, value.detached() if is_device_alone else value
    if not any(grading.missing(value, mode)):
        return None
    by_calls, modes, is_called = _brought(callers, at, converted, path, value, mode, context)
    origins = [each.device_from for each in (value, by_calls) if each.device_from is not None]
    if is_of_host and all(each.fn.file is at.fn.file for each in origins):
        value, by_calls = value.but(device=a.SAFE), by_calls.but(device=a.SAFE)
    levels = grading.grade(
        value, mode, by_calls, modes, at.fn, is_called=is_called, has_written_cpu=_has_written_cpu(converted)
    )
    if not any(each is not None for each in levels):
        return None
    there = any(grading.missing(by_calls, modes))
    if not is_followed:
        levels = grading.Levels(*(None if each is None else Confidence.UNPROVEN for each in levels))
    return JudgedConversion(
        levels.grad,
        levels.device,
        bool(value.grad & _SOURCES),
        bool(value.device & _PLACES),
        value.kind == a.TENSOR or (is_called and by_calls.kind & ~a.NONE == a.TENSOR),
        tuple(map(spelled, (*_why(strict, converted, path, levels), *_told_of_calls(is_called, there, is_followed)))),
        is_called and not there,
        _is_placed(value.device | by_calls.device, context),
    )


def _is_placed(device: int, context: Context | None) -> bool:
    """Whether something says where a value may be; a module that was entered by a call is where its arguments are."""
    is_of_module = device & a.OF_CLASS and (context is None or device & a.OF_PARAM)
    return bool(device & _PLACES or is_of_module)


def _as_begun(strict: Evaluator, value: Abstract, converted: Node, at: Node) -> Abstract:
    """Return what a generator converts itself as it is where the generator was begun: it is taken to be run there."""
    grad = at.state.grad if at.state is not None and at.state is converted.state else None
    if grad is None or grad.op != OPAQUE or not grad.ins:
        return value
    return value if modes_in(strict.value(grad.ins[0])) & ON else value.detached()


def _brought(
    callers: Evaluator, at: Node, converted: Node, path: Path, value: Abstract, mode: int, context: Context | None
) -> tuple[Abstract, int, bool]:
    """Return what the project's calls bring, in which grad modes, and whether there are any."""
    with callers.question():
        by_calls, modes = callers.value(converted, path, context), callers.mode(at, context)
        is_called = bool(callers.callers(at.fn))
        if by_calls.kind & a.CARRIES:
            return by_calls, modes, is_called
        return by_calls.but(grad=a.SAFE, device=a.SAFE), modes, True
    return value, mode, False


def _why(strict: Evaluator, converted: Node, path: Path, levels: grading.Levels) -> tuple[ReasonStep, ...]:
    found: dict[str, ReasonStep] = {}
    with strict.question():
        for axis, level in ((reasons.GRAD, levels.grad), (reasons.DEVICE, levels.device)):
            for each in reasons.steps(strict, converted, axis, path) if level is not None else ():
                found.setdefault(each.text, each)
    return tuple(found.values())


def _told_of_calls(is_called: bool, is_brought: bool, is_followed: bool) -> tuple[ReasonStep, ...]:
    if not is_followed:
        return (ReasonStep("not followed further: budget", None),)
    if is_called and not is_brought:
        return (ReasonStep("the project's calls bring nothing of the kind", None),)
    return ()


def _has_written_cpu(receiver: Node) -> bool:
    """Whether the copy to the host is written in the chain before the conversion."""
    while receiver.op == CALL and receiver.ins[0].op == ATTR:
        if receiver.ins[0].data == "cpu":
            return True
        receiver = receiver.ins[0].ins[0]
    return False
