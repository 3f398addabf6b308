"""Who keeps a value: on which ways it, or what shares its memory, leaves its function."""

from __future__ import annotations

from torchlint.facts.flow_specifications import CAPTURED, PASSED
from torchlint.flow.answers import PERHAPS, YES, FlowAnswer, strongest
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, Leaving, Position
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE
from torchlint.semantic.graph import Node


class Escapes:
    """The queries, with their answers kept."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots) -> None:
        """Begin with nothing known."""
        self._knowledge, self._roots = knowledge, roots
        self._known: dict[Node, dict[str, Leaving]] = {}

    def ways_out(self, node: Node) -> dict[str, Leaving]:
        """Return the ways on which a value leaves its function, by their word, each with the first place."""
        if node not in self._known:
            found: dict[str, Leaving] = {}
            walk = ForwardWalk(self._knowledge, self._roots, lambda _: True)
            for root in self._roots.roots(node):  # who has what it is a part or a view of has it, too
                if root.sort == MADE and (root.via or root.node).fn is node.fn:
                    walk.push(Position(root.via or root.node, int(bool(root.path))))
            for leaving in walk.run(node):
                found.setdefault(leaving.way, leaving)
            self._known[node] = found
        return self._known[node]

    def escapes(self, node: Node) -> FlowAnswer:
        """Whether a value, or what shares its memory, is had by others when its function ends.

        Reasons: ``returned``, ``yielded``, ``stored``, ``global``; perhaps where it is ``captured`` or ``passed``.
        """
        return strongest(map(_answer, self.ways_out(node).values()))


def _answer(leaving: Leaving) -> FlowAnswer:
    is_open = leaving.way in (CAPTURED, PASSED) or leaving.position.doubt is not None
    return FlowAnswer(PERHAPS if is_open else YES, leaving.position.doubt or leaving.node, leaving.way)
