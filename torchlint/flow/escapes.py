"""Who keeps a value: on which ways it, or what shares its memory, leaves its function; and whether it is only read."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.flow.answers import NO, PERHAPS, YES, FlowAnswer, strongest
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import CAPTURED, PASSED, ForwardWalk, Leaving, Position, Use
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE
from torchlint.flow.turned_edges import node_of_write, turned_edges
from torchlint.semantic.graph import CALL, Node

WRITTEN = "written"


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

    def is_only_read(self, node: Node, writes_there: Callable[[Node, Node], FlowAnswer]) -> FlowAnswer:
        """Whether nothing is written through a value, or may be by others who get it.

        ``writes_there`` says whether a call writes into the memory of a value that is handed to it. Reasons of a no:
        ``written``; of perhaps: the ways out of :meth:`escapes`, and those of ``writes_there``.
        """
        found: list[FlowAnswer] = []

        def look(use: Use) -> bool:
            position = use.position
            if not position.held:
                writes = turned_edges(position.node.fn).writes.get(position.node, ())
                found.extend(FlowAnswer(PERHAPS if position.doubt else NO, node_of_write(e), WRITTEN) for e in writes)
            if use.node.op == CALL and not self._knowledge.callees(use.node):
                answer = writes_there(use.node, position.node)
                if not answer.is_no:
                    found.append(FlowAnswer(NO if answer.answer == YES else PERHAPS, answer.node, answer.reason))
            return True

        ways = list(ForwardWalk(self._knowledge, self._roots, look).run(node))
        found.extend(FlowAnswer(PERHAPS, each.node, each.way) for each in ways)
        return next((each for each in found if each.answer == NO), found[0] if found else FlowAnswer(YES, node))


def _answer(leaving: Leaving) -> FlowAnswer:
    is_open = leaving.way in (CAPTURED, PASSED) or leaving.position.doubt is not None
    return FlowAnswer(PERHAPS if is_open else YES, leaving.position.doubt or leaving.node, leaving.way)
