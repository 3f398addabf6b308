"""What a call changes in what it is handed: objects that are moved, frozen, filled or given other attributes.

Each function of the project has a summary, read from its graph once: which paths of which parameters it changes, by
which nodes. A call of a function of which nothing is known changes nothing, but under PROOF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.evaluation.call_graph import Callee, argument_of
from torchlint.semantic.bound_names import same_object, unnarrowed
from torchlint.semantic.graph import (
    EFFECT,
    GAMMA,
    GROW,
    INPLACE,
    OPERATION,
    PHI,
    PI,
    RECEIVER,
    SETTER,
    FormalParameter,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.abstract import BOTTOM, Abstract, join
from torchlint.values.asking import Path
from torchlint.values.contexts import Context
from torchlint.values.references import LibraryRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_LEAVING: Final = frozenset({INPLACE, GROW, SETTER, EFFECT})
_UNCHANGING: Final = a.NUMBER | a.STRING | a.NONE | a.DEVICE | a.DTYPE | a.SIZE | a.ARRAY
"""What no call can change as far as a tensor's gradient or place are concerned."""


def effect(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return an object after a call that was handed it."""
    before, call = node.ins
    flat = ev.value(before, (), context)
    value = ev.value(before, path, context) if path else flat
    if not flat.kind or flat.must(_UNCHANGING):
        return value
    changed = BOTTOM
    for callee in ev.callees(call, context):
        if node.data is RECEIVER and not _is_of(callee, flat):
            continue
        found = _left_by(ev, callee, node, path, context, kind=flat.kind)
        if found is None:
            return value
        changed = join(changed, found)
    if changed.kind and _may_be_another(ev.value(call.ins[0], (), context)):
        return join(changed, value)
    return changed if changed.kind else value


def _may_be_another(target: Abstract) -> bool:
    """Whether what is called may be a function that is not known, beside those that are."""
    return target.kind == a.ANY or any(isinstance(each, LibraryRef) for each in target.references)


def stored_by_calls(ev: Evaluator, owner: Node, word: str, path: Path, context: Context | None) -> Abstract:
    """Return what functions that were handed an object have put under one of its attributes."""
    value = BOTTOM
    while owner.op in (EFFECT, PI):
        for callee in ev.callees(owner.ins[1], context) if owner.op == EFFECT and owner.data is not RECEIVER else ():
            formal = _parameter(callee, owner)
            own = lower(callee.function).params.get(formal.word) if formal is not None else None
            for each in callee.function.stores if own is not None else ():
                if each.word == word and own is not None and same_object(each.owner, own):
                    inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
                    if ev.feasible(each.guards, inner):
                        value = join(value, ev.value(each.value, path, inner))
        owner = owner.ins[0]
    return value


def _is_of(callee: Callee, owner: Abstract) -> bool:
    """Whether a function is a method of an object, and no attribute of it that can be called."""
    return callee.receiver is not None and not owner.references.isdisjoint(callee.receiver.references)


def _left_by(
    ev: Evaluator, callee: Callee, node: Node, path: Path, context: Context | None, *, kind: int
) -> Abstract | None:
    """Return what a function leaves of a parameter along a path; None where it does not change it."""
    formal = _parameter(callee, node)
    function = lower(callee.function)
    own = function.params.get(formal.word) if formal is not None else None
    if formal is None or own is None:
        return None
    exits = [*function.returns, *([function.end] if function.end is not None else [])]
    left = [(each, at) for each in exits for at in _last_states(function, each.names.get(formal.word, own), own, kind)]
    if all(at is own for _, at in left):
        return None
    inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
    whole: Path = (node.data[1], *path) if isinstance(node.data, tuple) else path
    value = BOTTOM
    for each, at in left:
        if ev.feasible(each.guards, inner):
            value = join(value, ev.value(at, whole, inner))
    return value if value.kind else None


def _last_states(function: FunctionGraph, at: Node, own: Node, kind: int) -> set[Node]:
    """Return the last states of a parameter's object, where the name may be bound to another by then."""
    if same_object(at, own):
        return {at}
    changed = {each for each in function.nodes if each.op in _LEAVING and _may_be(each.ins[0], own)}
    is_sure = kind == a.TENSOR or not kind & a.TENSOR
    if kind & a.TENSOR:  # `x += y` changes its memory
        added = (each for each in function.nodes if each.op == OPERATION and str(each.data).endswith("="))
        changed |= {each for each in added if _may_be(each.ins[0], own)}
    is_sure = is_sure and bool(changed) and all(each.op != EFFECT and same_object(each.ins[0], own) for each in changed)
    last = changed - {unnarrowed(each.ins[0]) for each in changed}
    return last if is_sure else {own, *last}


def _may_be(node: Node, own: Node, depth: int = 4) -> bool:
    """Whether a node may be the object of a parameter at another time."""
    while node.op in (*_LEAVING, PI):
        node = node.ins[0]
    return node is own or (node.op in (PHI, GAMMA) and depth > 0 and any(_may_be(e, own, depth - 1) for e in node.ins))


def _parameter(callee: Callee, node: Node) -> FormalParameter | None:
    parameters = callee.function.parameters or lower(callee.function).parameters
    if node.data is RECEIVER:
        return next((each for each in parameters if each.position == 0 and not each.sort), None)
    handed, place = node.ins[1].arguments, node.data[0] if isinstance(node.data, tuple) else node.data
    for each in parameters:
        argument = argument_of(callee, each)
        if argument is None:
            continue
        if place == each.word and each.word in handed.keywords:
            return each
        if isinstance(place, int) and place < len(handed.positional) and argument is handed.positional[place]:
            return each
    return None
