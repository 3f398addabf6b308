"""Whether torch refuses a write: into a leaf that requires grad, or a view of one, while grad mode is on."""

from __future__ import annotations

from typing import Final

from torchlint.evaluation.evaluator import Evaluator
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import PARAMETER, UNKNOWN, MemoryRoot
from torchlint.semantic.graph import ELEMENT, INDEX, ITEM, FunctionGraph, MemoryWrite, Node
from torchlint.semantic.lowering import lower
from torchlint.values.abstract import OTHER, SAFE, SURE, TENSOR
from torchlint.values.asking import ON

_SWITCHES: Final = ("no_grad", "inference_mode", "set_grad_enabled")


def is_refused(write: MemoryWrite, fn: FunctionGraph, proof: CallKnowledge, roots: MemoryRoots, ev: Evaluator) -> bool:
    """Whether a write of a function is refused whenever it is reached; ``ev`` tells grad mode by the code."""
    value = proof.value(write.target)
    begun = value.grad_from
    if value.kind != TENSOR or not value.grad & SURE or value.grad & SAFE or begun is None:
        return False
    if _comes_of_a_batch(write.target, begun, proof):
        return False
    happens = next((each for each in fn.nodes if each.at is write.place), None)
    if happens is None or ev.mode(happens, None) != ON or not _runs_with_grad(fn, ev, frozenset()):
        return False
    # the gradient begins in the memory that is written, and no operation has computed that
    made = {each.node for path in ((), (ANY_DEPTH,)) for each in roots.roots(begun, path)}
    made -= {each for each in made - {begun} if proof.value(each).kind == TENSOR and proof.value(each).grad != SAFE}
    mine = roots.roots(write.target)
    return bool(mine) and all(each.sort != UNKNOWN and (each.node in made or _holds(each, proof)) for each in mine)


def _comes_of_a_batch(node: Node | None, begun: Node, proof: CallKnowledge) -> bool:
    """Whether a value is a member of what an object of a library gives out, which may have computed it: a batch."""
    seen: set[Node] = set()
    while node is not None and node is not begun and node not in seen:
        seen.add(node)
        if node.op in (ELEMENT, ITEM, INDEX) and proof.value(node.ins[0]).may(OTHER):
            return True
        node = next((each for each in node.sources() if proof.value(each).grad_from is begun), None)
    return False


def _holds(root: MemoryRoot, proof: CallKnowledge) -> bool:
    """Whether a root is an object or a container: what is put there has roots of its own."""
    return (root.sort == PARAMETER and bool(root.path)) or not proof.value(root.node).kind & TENSOR


def _runs_with_grad(fn: FunctionGraph, ev: Evaluator, asked: frozenset[FunctionGraph]) -> bool:
    """Whether all who run a function, as far as the project shows, do so with grad mode on, and nobody unknown does."""
    if fn.is_module or fn in asked:
        return True
    if fn.decorated is not None or fn.is_lambda or fn.is_async or fn.yields or fn.name in fn.file.mentions:
        return False
    if fn.name in ("forward", "__call__"):  # who calls these is not told by their words
        return not ev.program.has_text(_SWITCHES)
    sites, is_all = ev.known_callers(fn)
    return (is_all or fn.name == "__init__") and all(
        ev.mode(each.call, None) == ON and _runs_with_grad(lower(each.call.fn), ev, asked | {fn}) for each in sites
    )
