"""The paths that a specification describes: from a source through a change to a sink, each with how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from torchlint.evaluation.class_families import is_own_object
from torchlint.facts.flow import PERHAPS, YES
from torchlint.facts.flow_specifications import RETURNED, STORED, FlowSpecification, NodePattern
from torchlint.flow.answers import FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, Leaving, Position, ValueUse
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites, SoughtWrites, Window, excludes
from torchlint.flow.node_patterns import before_changes, beside, is_same_code, is_source, is_use
from torchlint.flow.root_meetings import MADE, PARAMETER, MemoryRoot, meeting
from torchlint.semantic import graph as g
from torchlint.semantic.graph import AttributeStore, FunctionGraph, Node, Span
from torchlint.semantic.lowering import lower
from torchlint.values.contexts import Context

KEPT_IF_BETTER: Final = "kept only where it is better"
_COPYING: Final = frozenset({g.PHI, g.GAMMA, g.PI, g.EITHER, g.GROW, g.SPREAD, g.INPLACE, g.EFFECT, g.SETTER})


@dataclass(frozen=True, slots=True)
class FlowPath:
    """One way from a source to a sink."""

    is_sure: bool
    """Whether all on the way is known."""
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
    beside: tuple[tuple[Node, Context | None], ...] = ()
    """What it meets at the sink, with the context of that."""

    @property
    def place(self) -> Span | None:
        """Where the sink is written."""
        found = self.leaving.place if self.leaving is not None else self.sink.at
        return found or next((each.at for each in reversed(self.way) if each.at is not None), None)


class _Search(NamedTuple):
    """What is sought, from where, and all nodes that the value was followed to."""

    specification: FlowSpecification
    source: Node
    own: frozenset[Node]


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
        arrived: list[tuple[Position, Node, Leaving | None, tuple[Node, ...]]] = []
        knowledge = self._knowledge

        def arrive(position: Position, sink: Node, leaving: Leaving | None = None, met: tuple[Node, ...] = ()) -> None:
            if position.change is not None or not specification.changes:
                arrived.append((position, sink, leaving, met))

        def matches(patterns: tuple[NodePattern, ...], use: ValueUse) -> bool:
            return any(is_use(each, knowledge, use) for each in patterns)

        def is_sink(pattern: NodePattern, use: ValueUse) -> bool:
            if not is_use(pattern, knowledge, use):
                return False
            return not pattern.of_source_object or _is_same_object(self._roots, source, use.node)

        vetoed: list[Node] = []

        def look(use: ValueUse) -> bool | Position:
            if use.position.held <= specification.is_held and matches(specification.vetoes, use):
                vetoed.append(use.node)
            position = use.position
            if position.change is None and matches(specification.changes, use):
                position = position._replace(change=use.node)
            for each in specification.sinks:
                if is_sink(each, use):
                    arrive(position, use.node, None, tuple(beside(each, knowledge, use)))
                    break
            if matches(specification.stops, use):
                return False
            if specification.computed_by is not None:
                walk.is_computed = matches(specification.computed_by, use)
            is_handed = use.node.op == g.CALL and not specification.is_followed_into_calls
            return position if not (is_handed and knowledge.callees(use.node)) else False

        def keep(position: Position, store: AttributeStore) -> None:
            keeper = specification.keeper
            if (
                keeper is not None
                and position.held == int(specification.is_held)
                and keeper(knowledge.value(store.owner))
            ):
                arrive(position, store.owner, Leaving(STORED, store.owner, position, store.place))

        walk = ForwardWalk(knowledge, self._roots, look, is_computed=specification.is_computed)
        walk.on_store = keep
        for leaving in walk.run(source, int(specification.is_held)):
            if leaving.way in specification.ways_out:
                arrive(leaving.position, leaving.node, leaving)
            self._go_on(specification, walk, leaving)
        found: dict[tuple[Node, Node | None], FlowPath] = {}
        for position, sink, way_out, met in arrived if not vetoed else ():
            path = self._path(_Search(specification, source, walk.nodes), position, sink, way_out, met)
            key = sink, position.node if way_out is not None else None
            if path is not None and (key not in found or path.is_sure):
                found[key] = path
        yield from found.values()

    def _go_on(self, specification: FlowSpecification, walk: ForwardWalk, leaving: Leaving) -> None:
        """Go on where a value that left its function is read by other methods, or given to its callers."""
        readers: Iterable[Node] = ()
        if leaving.way == STORED and specification.through_objects:
            readers = _readers(self._knowledge, leaving)
        elif leaving.way == RETURNED and specification.through_callers:
            readers = self._knowledge.callers(leaving.node.fn)
        for each in readers:
            walk.push(leaving.position.same(each, None))

    def _path(
        self, search: _Search, position: Position, sink: Node, leaving: Leaving | None, met: tuple[Node, ...]
    ) -> FlowPath | None:
        is_sure, written, way = position.doubt is None, None, _way(position)
        if search.specification.is_written:
            answer = self._written(search, position, sink, leaving)
            if answer.is_no:
                return None
            is_sure &= answer.answer == YES
            written = answer.node if answer.reason != KEPT_IF_BETTER else None
        context = self._knowledge.context(position.frame)
        beside = tuple((each, context) for each in met)
        return FlowPath(is_sure, search.source, sink, tuple(way), position.change, written, leaving, beside)

    def _written(self, search: _Search, position: Position, sink: Node, leaving: Leaving | None) -> FlowAnswer:
        """Whether the source is written before the sink; in another method of its object that may be at any time."""
        way, specification = _way(position), search.specification
        sought = SoughtWrites((ANY_DEPTH,) if specification.is_held else (), search.own | {sink})
        entered = position.frame.first_call if position.frame is not None else None
        last = entered or sink
        here = [each for each in way if each.fn is last.fn]
        is_elsewhere = not here or (here[0] is not way[0] and here[0].op != g.CALL)
        is_later = is_elsewhere or any(each.op == g.ATTR and before not in each.ins for before, each in pairwise(way))
        if is_later:
            found = self._writes.written_by_methods(way[0], sought)
        else:
            is_exit = leaving is not None and entered is None
            end = (_exit(last.fn, here[-1]) if is_exit else None) or last.index
            found = self._writes.written_within(here[0], _windows(here, end), sought)
            is_later = leaving is not None and leaving.way == STORED
        if found.is_no and specification.is_kept_if_better and is_later:
            is_better = excludes(way[0], sink) or _is_kept_if_better(self._knowledge, way[0])
            return FlowAnswer(PERHAPS, way[0], KEPT_IF_BETTER) if is_better else found
        return FlowAnswer(PERHAPS, found.node or position.node) if is_elsewhere and not found.is_no else found


def _is_same_object(roots: MemoryRoots, source: Node, sink: Node) -> bool:
    """Whether two methods are of one object, as far as that can be told; of those of other calls, one may be it."""
    one, two = before_changes(source.ins[0].ins[0]), before_changes(sink.ins[0].ins[0])
    mine, theirs = roots.roots(one), roots.roots(two)
    if one.fn is two.fn:
        return is_same_code(one, two) if g.INDEX in (one.op, two.op) else _sources(mine) == _sources(theirs)
    paths = {each.path for each in mine}
    is_given = any(each.sort == PARAMETER and each.node.fn is two.fn and each.path in paths for each in theirs)
    return is_given or not meeting(mine, theirs).is_no


def _sources(roots: Iterable[MemoryRoot]) -> set[MemoryRoot]:
    """Return the roots of a value without the containers that only hold it on the way."""
    return {each for each in roots if each.sort != MADE or not each.path} or set(roots)


def _is_kept_if_better(knowledge: CallKnowledge, source: Node) -> bool:
    """Whether a method makes a value only where a comparison tells the better from the worse."""
    fn = source.fn
    calls = [each for each in knowledge.callers(fn) if each.fn.cls is fn.cls]
    tests = [test for each in (source, *calls) for test, _ in each.fn.guards.get(each, ())]
    for test in tests:
        if test.op == g.TRUTH and test.data in ("<", ">", "<=", ">="):
            return True
        tests += test.ins if test.op in (g.EITHER, g.TRUTH) else ()
    return False


def _windows(way: list[Node], end: int) -> Iterator[Window]:
    """Yield the times between the nodes of a way through one function, with the rounds of loops that it stays in."""
    clock, loops = way[0].index, way[0].fn.loops
    for each, following in zip(way[1:], [*(one.index for one in way[2:]), end], strict=False):
        around = [(first, last) for first, last in loops if first <= each.index < last]
        own = max(around, default=None)
        if each.op == g.PHI and own is not None:
            if each.index < clock < own[1]:
                yield Window(clock, own[1])
                clock = each.index
            if each.index >= clock:
                yield Window(clock, each.index)
            if _stays(each):
                yield from (Window(first, last, is_round=True) for first, last in around)
            clock = own[1] if following >= own[1] else each.index
        else:
            yield Window(clock, each.index)
            clock = max(clock, each.index)
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
