"""The paths that a specification describes: from a source through a change to a sink, each with how sure it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from torchlint.evaluation.class_families import is_own_object
from torchlint.facts.flow_specifications import (
    EXCLUDED,
    RETURNED,
    SEEN,
    STORED,
    FlowSpecification,
    NodePattern,
)
from torchlint.flow.answers import NO, PERHAPS, YES, FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, Leaving, Position, ValueUse
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites, Window
from torchlint.flow.node_patterns import is_source, is_use
from torchlint.semantic import graph as g
from torchlint.semantic.graph import AttributeStore, FunctionGraph, Node, Span
from torchlint.semantic.lowering import lower

_COPYING: Final = frozenset({g.PHI, g.GAMMA, g.PI, g.EITHER, g.GROW, g.SPREAD, g.INPLACE, g.EFFECT, g.SETTER})


@dataclass(frozen=True, slots=True)
class FlowPath:
    """One way from a source to a sink."""

    answer: FlowAnswer
    """Yes, or perhaps with the node that is not known."""
    source: Node
    sink: Node
    way: tuple[Node, ...]
    """The nodes between, the first one first."""
    change: Node | None = None
    """Where the value became what the specification calls changed."""
    written: Node | None = None
    """Where the memory of the source is written in the meantime, if that was required."""
    leaving: Leaving | None = None
    """How it leaves the function, where that is the sink."""

    @property
    def place(self) -> Span | None:
        """Where the sink is written."""
        found = self.leaving.place if self.leaving is not None else self.sink.at
        return found or next((each.at for each in reversed(self.way) if each.at is not None), None)


class FlowPaths:
    """The search for what specifications describe."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots, writes: MemoryWrites) -> None:
        """Begin."""
        self._knowledge, self._roots, self._writes = knowledge, roots, writes

    def in_function(self, specification: FlowSpecification, function: FunctionGraph) -> Iterator[FlowPath]:
        """Yield the paths that begin in a function."""
        for node in lower(function).nodes:
            if any(is_source(each, self._knowledge, node) for each in specification.sources):
                yield from self.from_source(specification, node)

    def from_source(self, specification: FlowSpecification, source: Node) -> Iterator[FlowPath]:
        """Yield the paths that begin at a node, one for each sink, the surest."""
        found: dict[tuple[Node, Node | None], FlowPath] = {}
        knowledge = self._knowledge

        def arrive(position: Position, sink: Node, leaving: Leaving | None = None) -> None:
            key = sink, position.node if leaving is not None else None
            if specification.changes and position.change is None:
                return
            path = self._path(specification, source, position, sink, leaving)
            if path is not None and (key not in found or path.answer.answer == YES):
                found[key] = path

        def matches(patterns: tuple[NodePattern, ...], use: ValueUse) -> bool:
            return any(is_use(each, knowledge, use) for each in patterns)

        def look(use: ValueUse) -> bool | Position:
            if matches(specification.stops, use):
                return False
            if matches(specification.sinks, use):
                arrive(use.position, use.node)
            if specification.computed_by is not None:
                walk.is_computed = matches(specification.computed_by, use)
            if use.position.change is None and matches(specification.changes, use):
                return use.position._replace(change=use.node)
            return True

        def keep(position: Position, store: AttributeStore) -> None:
            keeper = specification.keeper
            if keeper is not None and not position.held and keeper(knowledge.value(store.owner)):
                arrive(position, store.owner, Leaving(STORED, store.owner, position, store.place))

        walk = ForwardWalk(knowledge, self._roots, look, is_computed=specification.is_computed)
        walk.on_store = keep
        for leaving in walk.run(source, int(specification.is_held)):
            if leaving.way in specification.ways_out:
                arrive(leaving.position, leaving.node, leaving)
            if leaving.way == STORED and specification.through_objects:
                for reader in _readers(knowledge, leaving):
                    walk.push(leaving.position.at(reader, leaving.position.held))
            if leaving.way == RETURNED and specification.through_callers:
                for call in knowledge.callers(leaving.node.fn):
                    walk.push(leaving.position.at(call, leaving.position.held))
        yield from found.values()

    def _path(
        self, specification: FlowSpecification, source: Node, position: Position, sink: Node, leaving: Leaving | None
    ) -> FlowPath | None:
        doubt, written, way = position.doubt, None, _way(position)
        if specification.writes is not None:
            answer = self._written(way, position, sink, leaving, is_seen=specification.writes == SEEN)
            if answer.answer == (YES if specification.writes == EXCLUDED else NO):
                return None
            if answer.answer == PERHAPS:
                doubt = doubt or answer.node
            written = answer.node if specification.writes != EXCLUDED else None
        answer = FlowAnswer(PERHAPS, doubt, "not known") if doubt is not None else FlowAnswer(YES, sink)
        return FlowPath(answer, source, sink, tuple(way), position.change, written, leaving)

    def _written(
        self, way: list[Node], position: Position, sink: Node, leaving: Leaving | None, *, is_seen: bool
    ) -> FlowAnswer:
        """Whether the source is written before the sink; in another method of its object that may be at any time."""
        entered = position.frame.first_call if position.frame is not None else None
        last = entered or sink
        here = [each for each in way if each.fn is last.fn]
        if not here or (here[0] is not way[0] and here[0].op != g.CALL):
            found = self._writes.written_by_methods(way[0], is_seen=is_seen)
            return FlowAnswer(PERHAPS, found.node or position.node) if not (is_seen and found.is_no) else found
        is_exit = leaving is not None and entered is None
        end = (_exit(last.fn, here[-1]) if is_exit else None) or last.index
        return self._writes.written_within(here[0], _windows(here, end), last, is_seen=is_seen)


def _windows(way: list[Node], end: int) -> Iterator[Window]:
    """Yield the times between the nodes of a way through one function, with the rounds of loops that it stays in."""
    clock, loops = way[0].index, way[0].fn.loops
    for each in way[1:]:
        around = [(first, last) for first, last in loops if first <= each.index < last]
        if each.op == g.PHI and each.index < clock:
            yield from (Window(clock, last) for first, last in around[-1:] if clock < last)
            clock = each.index
        yield Window(clock, each.index)
        clock = max(clock, each.index)
        if each.op == g.PHI and _stays(each):
            yield from (Window(first, last, is_round=True) for first, last in around)
    yield Window(clock, end)
    yield from (
        Window(first, last, is_round=True) for first, last in loops if first <= end < last and way[0].index < first
    )


def _stays(phi: Node) -> bool:
    """Whether a name may keep its value for a round of a loop."""
    todo, seen = list(phi.ins), set[Node]()
    while todo:
        node = todo.pop()
        if node is phi:
            return True
        if node not in seen and node.op in _COPYING:
            seen.add(node)
            todo += node.ins if node.op in (g.PHI, g.GAMMA, g.EITHER) else node.ins[:1]
    return False


def _exit(fn: FunctionGraph, node: Node) -> int | None:
    """Return when a function last returns a value, or keeps it in an attribute."""
    returned = [each.at for each in fn.returns if each.value is node]
    return max((*returned, *(each.at for each in fn.stores if each.value is node)), default=None)


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
