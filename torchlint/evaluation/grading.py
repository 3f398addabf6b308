"""How sure a finding is: one table over the evidence that a value carries, by the code and by its callers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.diagnostics.model import Confidence
from torchlint.values import abstract as a
from torchlint.values.asking import ON

if TYPE_CHECKING:
    from torchlint.semantic.graph import FunctionGraph, Node
    from torchlint.values.abstract import Abstract

_STRONG: Final = a.SURE | a.MODULE_OUT
"""A source of danger reaches the place."""
_FAIR: Final = a.OPTION | a.OF_MODE | a.OF_MODEL
"""Something direct brings it: a name, a choice at run time, callers who leave grad mode on."""


class Missing(NamedTuple):
    """Which halves of a conversion a value needs."""

    detach: bool
    cpu: bool


class Levels(NamedTuple):
    """How sure it is that each half is needed; None for one that is not."""

    grad: Confidence | None
    device: Confidence | None


def missing(value: Abstract, mode: int) -> Missing:
    """Return which halves of a conversion a value may need, in some grad modes."""
    may_hold = bool(value.kind & a.CARRIES)
    return Missing(may_hold and value.may_require_grad and bool(mode & ON), may_hold and value.may_be_on_accelerator)


def _known_in_tests(value: Abstract) -> Abstract:
    """Return a value of a file of tests with the evidence alone that is known to be there."""
    return value.but(grad=value.grad & (_STRONG | a.SAFE), device=value.device & (_STRONG | a.OPTION | a.SAFE))


def _is_shown(origin: Node | None, function: FunctionGraph) -> bool:
    """Whether what is known in a file of tests begins there; in other files it does not matter where."""
    return not function.file.is_test or _is_in(origin, function)


def _is_in(origin: Node | None, function: FunctionGraph) -> bool:
    return origin is not None and origin.fn.file is function.file


class _Axis(NamedTuple):
    evidence: int
    origin: Node | None
    is_brought: bool
    """Whether a call of the project brings it, or nobody calls the function."""
    brought: int
    """The evidence that calls bring."""
    is_device: bool = False
    is_switched_off: bool = False
    """Whether all calls of the project arrive where no gradient is kept."""


def grade(
    value: Abstract,
    mode: int,
    by_calls: Abstract,
    mode_of_calls: int,
    function: FunctionGraph,
    *,
    is_called: bool,
    has_written_cpu: bool = False,
) -> Levels:
    """Return how sure it is that each half of a conversion is needed.

    In a file of tests only what is known counts, and what its own text does not show is unproven: it has run on the
    machine of whoever ran it last.
    ``value`` is what the code says, ``by_calls`` what the project's own calls bring; ``is_called``: whether any do.
    ``has_written_cpu`` says that ``.cpu()`` is written and only ``.detach()`` is missing.
    """
    if function.file.is_test:
        value = _known_in_tests(value)
    here, there = missing(value, mode), missing(by_calls, mode_of_calls)
    grad = device = None
    if here.detach:
        is_off = is_called and not mode_of_calls & ON
        is_brought = there.detach or not is_called
        axis = _Axis(value.grad, value.grad_from, is_brought, by_calls.grad, is_switched_off=is_off)
        grad = _level(axis, function)
        is_written = has_written_cpu and not (value.grad | by_calls.grad) & (_STRONG | _FAIR)
        if grad is not None and (is_written or not _is_shown(value.grad_from, function)):
            grad = Confidence.UNPROVEN
    if here.cpu:
        axis = _Axis(value.device, value.device_from, there.cpu or not is_called, by_calls.device, is_device=True)
        device = _level(axis, function)
        if device is not None and not _is_shown(value.device_from, function):
            device = Confidence.UNPROVEN
    most = Confidence.CERTAIN if value.kind == a.TENSOR else Confidence.LIKELY
    return Levels(*(None if each is None else min(each, most) for each in (grad, device)))


def _level(axis: _Axis, function: FunctionGraph) -> Confidence | None:
    evidence = axis.evidence & ~a.SAFE
    if not evidence:
        return None
    if axis.is_switched_off:
        return Confidence.UNPROVEN
    if evidence & _STRONG:
        is_shown = axis.origin is not None and _around(axis.origin.fn) is _around(function)
        return Confidence.CERTAIN if is_shown and not axis.evidence & ~_STRONG else Confidence.LIKELY
    if not axis.is_brought:
        return Confidence.UNPROVEN
    if axis.brought & _STRONG:
        return Confidence.LIKELY
    if axis.is_device and evidence & a.OPTION and _is_in(axis.origin, function):
        return Confidence.LIKELY
    is_of_module = axis.is_device and evidence & a.OF_CLASS  # where a module is, its parts are
    if (evidence | axis.brought) & _FAIR or is_of_module:
        return Confidence.POSSIBLE
    if evidence & a.OF_PARAM and axis.origin is not None and _is_own(axis.origin, function):
        return Confidence.POSSIBLE
    return Confidence.UNPROVEN


def _around(function: FunctionGraph) -> FunctionGraph:
    """Return the function of whose text a lambda is a part."""
    while function.is_lambda and function.parent is not None:
        function = function.parent
    return function


def _is_own(origin: Node, function: FunctionGraph) -> bool:
    """Whether evidence begins at a parameter of the function, or of one around it."""
    here: FunctionGraph | None = function
    while here is not None:
        if origin.fn is here:
            return True
        here = here.parent
    return False
