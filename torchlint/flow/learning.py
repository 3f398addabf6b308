"""Whether a gradient is asked through a value: what is computed from it reaches ``backward`` with its graph."""

from __future__ import annotations

from typing import Final

from torchlint.flow.answers import PERHAPS, YES, FlowAnswer, strongest
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, ValueUse
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.models.operation_sets import NEVER
from torchlint.semantic.graph import ATTR, CALL, OPERATION, TRUTH, Node
from torchlint.values.abstract import MODULE, OTHER, SEQUENCE, TENSOR
from torchlint.values.asking import ON
from torchlint.values.references import LibraryRef

ASKED: Final = "a gradient is asked"

_CUTS: Final = frozenset({"detach", "detach_", "data", "item", "tolist", "numpy", "requires_grad", "grad", "shape"})
"""Methods and attributes of a tensor whose result has no graph."""
_ASKING: Final = frozenset({"torch.autograd.grad", "torch.autograd.backward"})
_ASKING_METHODS: Final = frozenset({"backward", "manual_backward"})
"""Of the tensor itself, of an engine or an accelerator that is handed the loss."""


def learned_from(knowledge: CallKnowledge, roots: MemoryRoots, node: Node) -> FlowAnswer:
    """Whether a gradient is asked through a value; perhaps where what is computed from it leaves the function.

    Reasons: ASKED, or the way out.
    """
    found: list[FlowAnswer] = []

    def look(use: ValueUse) -> bool:
        if use.node.op == CALL and asks_gradient(knowledge, use.node):
            doubt = use.position.doubt
            found.append(FlowAnswer(PERHAPS if doubt else YES, use.node, ASKED))
            return False
        return keeps_graph(knowledge, use)

    ways = ForwardWalk(knowledge, roots, look, is_computed=True).run(node)
    outside = [FlowAnswer(PERHAPS, each.node, each.way) for each in ways]
    return strongest([*found, *outside])


def asks_gradient(knowledge: CallKnowledge, call: Node) -> bool:
    """Whether a call asks a gradient of what it is handed or is a method of."""
    function = call.ins[0]
    if function.op == ATTR and function.data in _ASKING_METHODS:
        return True
    return any(isinstance(each, LibraryRef) and each.name in _ASKING for each in knowledge.value(function).references)


def keeps_graph(knowledge: CallKnowledge, use: ValueUse) -> bool:
    """Whether what a node makes of a value may still have its graph."""
    user, word = use.node, str(use.node.data)
    if user.op == TRUTH or (user.op == ATTR and word in _CUTS):
        return False
    if user.op == CALL:
        function = user.ins[0]
        called = str(function.data) if function.op == ATTR else ""
        names = [each.name for each in knowledge.value(function).references if isinstance(each, LibraryRef)]
        if called in _CUTS or (called in NEVER and not names) or (names and all(name in NEVER for name in names)):
            return False
    if user.op in (CALL, OPERATION) and not use.position.held and not knowledge.callees(user):
        made = knowledge.value(user)
        return knowledge.mode(user) & ON != 0 and (not made.kind or made.may(TENSOR | MODULE | SEQUENCE | OTHER))
    return True
