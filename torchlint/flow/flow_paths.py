"""The paths that a specification describes: from a source through a change to a sink, each with how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from torchlint.evaluation.class_families import is_own_object
from torchlint.flow.answers import NO, PERHAPS, YES, FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.flow_specifications import EXCLUDED, REQUIRED, FlowSpecification
from torchlint.flow.forward_walk import RETURNED, STORED, ForwardWalk, Leaving, Position, ValueUse
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites
from torchlint.semantic import graph as g
from torchlint.semantic.graph import FunctionGraph, Node
from torchlint.semantic.lowering import lower


@dataclass(frozen=True, slots=True)
class FlowPath:
    """One way from a source to a sink."""

    answer: FlowAnswer
    """Yes, or perhaps with the node that is not known."""
    source: Node
    sink: Node
    way: tuple[Node, ...]
    """The nodes between, the first one first."""
    written: Node | None = None
    """Where the memory of the source is written in the meantime, if that was required."""


class FlowPaths:
    """The search for what specifications describe."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots, writes: MemoryWrites) -> None:
        """Begin."""
        self._knowledge, self._roots, self._writes = knowledge, roots, writes

    def in_function(self, specification: FlowSpecification, function: FunctionGraph) -> Iterator[FlowPath]:
        """Yield the paths that begin in a function."""
        for node in lower(function).nodes:
            if any(each.is_source(self._knowledge, node) for each in specification.sources):
                yield from self.from_source(specification, node)

    def from_source(self, specification: FlowSpecification, source: Node) -> Iterator[FlowPath]:
        """Yield the paths that begin at a node, one for each sink, the surest."""
        found: dict[Node, FlowPath] = {}
        knowledge, needs = self._knowledge, bool(specification.changes)

        def arrive(position: Position, sink: Node) -> None:
            path = self._path(specification, source, position, sink) if position.is_changed or not needs else None
            if path is not None and (sink not in found or path.answer.answer == YES):
                found[sink] = path

        def look(use: ValueUse) -> bool | Position:
            if any(each.is_use(knowledge, use) for each in specification.stops):
                return False
            if any(each.is_use(knowledge, use) for each in specification.sinks):
                arrive(use.position, use.node)
            if needs and any(each.is_use(knowledge, use) for each in specification.changes):
                return use.position._replace(is_changed=True)
            return True

        walk = ForwardWalk(knowledge, self._roots, look, is_computed=specification.is_computed)
        for leaving in walk.run(source, int(specification.is_held)):
            if leaving.way in specification.ways_out:
                arrive(leaving.position, leaving.node)
            if leaving.way == STORED and specification.through_objects:
                for reader in _readers(knowledge, leaving):
                    walk.push(leaving.position.at(reader, leaving.position.held))
            if leaving.way == RETURNED and specification.through_callers:
                for call in knowledge.callers(leaving.node.fn):
                    walk.push(leaving.position.at(call, leaving.position.held))
        yield from found.values()

    def _path(self, specification: FlowSpecification, source: Node, position: Position, sink: Node) -> FlowPath | None:
        doubt, written, way = position.doubt, None, _way(position)
        if specification.writes is not None:
            answer = self._written(way, position, sink)
            if answer.answer == (NO if specification.writes == REQUIRED else YES):
                return None
            if answer.answer == PERHAPS:
                doubt = doubt or answer.node
            written = answer.node if specification.writes != EXCLUDED else None
        answer = FlowAnswer(PERHAPS, doubt, "not known") if doubt is not None else FlowAnswer(YES, sink)
        return FlowPath(answer, source, sink, tuple(way), written)

    def _written(self, way: list[Node], position: Position, sink: Node) -> FlowAnswer:
        """Whether the source is written before the sink; perhaps where they stand in functions without order."""
        entered = position.frame.first_call if position.frame is not None else None
        last = entered or sink
        here = [each for each in way if each.fn is last.fn]
        if not here or (here[0] is not way[0] and here[0].op != g.CALL):
            return FlowAnswer(PERHAPS, position.node, "another function")
        is_straight = all(one.index <= two.index for one, two in pairwise([*here, last]))
        return self._writes.written_after(here[0], last, is_straight=is_straight)


def _readers(knowledge: CallKnowledge, leaving: Leaving) -> Iterator[Node]:
    """Yield where methods of a class read the attribute under which a method stores a value."""
    fn = leaving.position.node.fn
    if fn.cls is None:
        return
    words = {each.word for each in fn.stores if each.value is leaving.position.node and is_own_object(each.owner, fn)}
    for cls in knowledge.evaluator.family(fn.cls).lineage if words else ():
        for method in cls.methods.values():
            for node in lower(method).nodes:
                if node.op == g.ATTR and node.data in words and is_own_object(node.ins[0], method):
                    yield node


def _way(position: Position) -> list[Node]:
    before: Position | None = position
    nodes: list[Node] = []
    while before is not None:
        nodes.append(before.node)
        before = before.before
    return nodes[::-1]
