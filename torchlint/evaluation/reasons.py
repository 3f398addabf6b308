"""Why a value may be dangerous: the chain from where evidence begins to the place where it is met.

Values carry one origin for each axis. For a finding that is shown, the way back leads along the inputs whose value has the
same origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchlint.semantic.graph import CALL, GAMMA, PARAM, PHI, PI, FormalParameter, Node

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator
    from torchlint.values.contexts import Context

GRAD: Final = "grad_from"
DEVICE: Final = "device_from"
_SILENT: Final = frozenset({PHI, GAMMA, PI})
"""Joins and narrowings are no step of a reason."""
_MOST_STEPS: Final = 20


def chain(ev: Evaluator, node: Node, axis: str, context: Context | None = None) -> tuple[Node, ...]:
    """Return the nodes from where the evidence of an axis begins to a node, first cause first."""
    origin: Node | None = getattr(ev.value(node, (), context), axis)
    if origin is None:
        return ()
    steps = [each for each in _back(ev, node, origin, axis, context) if each.op not in _SILENT]
    if not steps or steps[-1] is not origin:
        steps.append(origin)
    return tuple(reversed(list(dict.fromkeys(steps))))


def _back(ev: Evaluator, node: Node, origin: Node, axis: str, context: Context | None) -> Iterator[Node]:
    here: Node | None = node
    for _ in range(_MOST_STEPS):
        if here is None:
            return
        yield here
        if here is origin:
            return
        here = next((each for each in here.sources() if getattr(ev.value(each, (), context), axis) is origin), None)


def spelled(node: Node) -> str:
    """Spell a step: its code, or the name of a parameter."""
    if node.op == PARAM and isinstance(node.data, FormalParameter):
        return node.data.word
    if node.at is None:
        return ""
    return node.fn.file.code(node.at)


def told(node: Node) -> str:
    """Say in words what a node brings at which an origin lies."""
    if node.op == PARAM:
        return f"`{spelled(node)}` is an argument of `{node.fn.qualified}`"
    if node.op == CALL:
        return f"`{spelled(node)}`"
    return f"`{spelled(node)}`"
