"""Why a value may be dangerous: the chain from where evidence begins to the place where it is met.

Values carry one origin for each axis. For a finding that is shown, the way back leads along the inputs whose value has
the same origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.semantic.graph import (
    ATTR,
    CALL,
    EFFECT,
    ELEMENT,
    EXPORT,
    FREE,
    GAMMA,
    GLOBAL,
    OPAQUE,
    PARAM,
    PHI,
    PI,
    FormalParameter,
    Node,
)
from torchlint.values import abstract as a

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator
    from torchlint.values.asking import Path
    from torchlint.values.contexts import Context

GRAD: Final = "grad_from"
DEVICE: Final = "device_from"
_SILENT: Final = frozenset({PHI, GAMMA, PI, EFFECT, ATTR, ELEMENT, FREE, GLOBAL, EXPORT, OPAQUE})
"""Joins, narrowings and names are no step of a reason, unless it begins there."""
_LONGEST_WAY: Final = 20
_MOST_STEPS: Final = 6
"""Of a longer chain the beginning and the end are told."""


class ReasonStep(NamedTuple):
    """One step of a reason: what it says, and the node that it speaks of."""

    text: str
    node: Node | None


def steps(ev: Evaluator, node: Node, axis: str, path: Path = ()) -> list[ReasonStep]:
    """Return the steps from where the evidence of an axis begins to a node, first cause first, in words.

    ``path`` leads from the node to the part of it that is meant.
    """
    found: list[ReasonStep] = []
    last = ev.value(node, path)
    for each, context in chain(ev, node, axis, path):
        value = ev.value(each, (), context)
        evidence = (value.grad if axis == GRAD else value.device) & ~a.SAFE
        evidence = evidence or (last.grad if axis == GRAD else last.device)  # what it holds brings it
        if not found and axis == DEVICE and value.kind == a.DEVICE:
            verb = "may be" if evidence & (a.OPTION | a.OF_MODE) or value.device & a.SAFE else "is"
            found.append(ReasonStep(f"`{code_of(each)}` {verb} a GPU", each))
        else:
            found.append(ReasonStep(told(each, axis, evidence, is_first=not found), each))
    return found if len(found) <= _MOST_STEPS else [*found[:2], *found[2 - _MOST_STEPS :]]


def chain(ev: Evaluator, node: Node, axis: str, path: Path = ()) -> list[tuple[Node, Context | None]]:
    """Return the nodes from where the evidence of an axis begins to a node, each in its context, first cause first."""
    origin: Node | None = getattr(ev.value(node, path), axis)
    if origin is None:
        return []
    found: list[tuple[Node, Context | None]] = []
    here: tuple[Node, Context | None] | None = (node, None)
    while here is not None and len(found) < _LONGEST_WAY and here not in found:
        found.append(here)
        here = _before(ev, *here, origin, axis) if here[0] is not origin else None
    if found[-1][0] is not origin:
        found.append((origin, None))
    found.reverse()
    return [found[0], *(each for each in found[1:] if each[0].op not in _SILENT)]


def _before(
    ev: Evaluator, node: Node, context: Context | None, origin: Node, axis: str
) -> tuple[Node, Context | None] | None:
    """Return the input of a node, or what a function that it calls gives, which carries the same origin."""
    for each in node.sources():
        if getattr(ev.value(each, (), context), axis) is origin:
            return each, context
    if node.op == CALL:
        for callee in ev.callees(node, context):
            inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
            for exit_ in callee.function.returns:
                if getattr(ev.value(exit_.value, (), inner), axis) is origin:
                    return exit_.value, inner
    return None


def code_of(node: Node) -> str:
    """Return the code of a node, or the name of a parameter."""
    if node.op == PARAM and isinstance(node.data, FormalParameter):
        return node.data.word
    return node.fn.file.code(node.at) if node.at is not None else node.fn.qualified


_FIRST: Final = {
    (GRAD, a.SURE): "`{code}` requires grad",
    (GRAD, a.MODULE_OUT): "`{code}` is the output of a module with parameters",
    (GRAD, a.OPTION): "`{code}` is the output of a network, by its name",
    (GRAD, a.OF_MODE): "`{code}` is the output of a module, and callers decide on grad mode",
    (GRAD, a.OF_MODEL): "`{code}` is the output of a model that is an argument",
    (GRAD, a.OF_CALL): "`{code}` may give a tensor that requires grad",
    (DEVICE, a.SURE): "`{code}` is on a GPU",
    (DEVICE, a.MODULE_OUT): "`{code}` is where its module is, which may have been moved",
    (DEVICE, a.OPTION): "`{code}` is on a device that is chosen at run time",
    (DEVICE, a.OF_MODE): "`{code}` is on a device that bears the host's name",
    (DEVICE, a.OF_MODEL): "`{code}` is where its network is, which may be a GPU",
    (DEVICE, a.OF_CLASS): "`{code}` may have been moved with its object",
    (DEVICE, a.OF_CALL): "`{code}` may give a tensor on a GPU",
}
"""What the node brings at which evidence of a kind begins."""
_ARGUMENT: Final = {
    GRAD: "`{code}` is an argument of `{function}`, so it may require grad",
    DEVICE: "`{code}` is an argument of `{function}`, so it may be on a GPU",
}


def told(node: Node, axis: str, evidence: int, *, is_first: bool) -> str:
    """Say in words what a step of a reason does: what it brings where it is the first, else that it passes it on."""
    if node.op == PARAM:
        return _ARGUMENT[axis].format(code=code_of(node), function=node.fn.qualified)
    if not is_first:
        return f"`{code_of(node)}` {'returns it' if node.op == CALL else 'passes it on'}"
    row = _FIRST.get((axis, a.strongest(evidence)), "nothing is known of `{code}`")
    return row.format(code=code_of(node))
