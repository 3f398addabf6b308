"""What is written into: by a function and its callees, after a value was made, or through a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from torchlint.facts.flow import WRITTEN_HERE, WRITTEN_THERE
from torchlint.flow import memory_handings
from torchlint.flow.answers import NO, PERHAPS, YES, FlowAnswer, strongest
from torchlint.flow.call_frames import CallFrame, CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, ValueUse
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE, PARAMETER, UNKNOWN, MemoryRoot, meeting
from torchlint.flow.turned_edges import is_later, node_of_write, turned_edges
from torchlint.models.operation_sets import TAKES_INPLACE, WRITES
from torchlint.semantic.graph import ATTR, CALL, CONST, FormalParameter, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.values.abstract import NONE, NUMBER, SIZE, STRING
from torchlint.values.references import LibraryInstanceRef, LibraryRef, Reference

HERE: Final = WRITTEN_HERE
THERE: Final = WRITTEN_THERE
HANDED: Final = "handed to an unknown function"
OF_UNKNOWN: Final = "memory of unknown origin is written"


_INTO_THE_FIRST: Final = frozenset(
    "numpy.copyto numpy.put numpy.place numpy.putmask numpy.put_along_axis numpy.fill_diagonal "
    "numpy.random.shuffle".split()
)
"""Functions of NumPy that write into their first argument."""
_FILLING: Final = frozenset("fill sort put partition resize itemset setfield".split())
"""Methods of arrays that write into them."""


class WrittenMemory(NamedTuple):
    """Memory that is written into."""

    roots: tuple[MemoryRoot, ...]
    node: Node
    """Where: the object after the write, or the call that leads to it."""
    place: int
    """The index of that node."""
    is_sure: bool = True
    """Whether a write is seen; else nothing is known of a function that is handed it."""


class MemoryWrites:
    """The queries, with one summary for each function."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots) -> None:
        """Begin with nothing known."""
        self._knowledge, self._roots = knowledge, roots
        self._known: dict[FunctionGraph, tuple[WrittenMemory, ...] | None] = {}

    def written_by(self, function: FunctionGraph) -> tuple[WrittenMemory, ...] | None:
        """Return what a function writes into, as it sees it; None while it is asked for itself, by recursion."""
        if function not in self._known:
            self._known[function] = None
            self._known[function] = tuple(self._written(lower(function)))
        return self._known[function]

    def _written(self, fn: FunctionGraph) -> Iterator[WrittenMemory]:
        for write in fn.writes:
            if self._knowledge.value(write.target).must(NUMBER | STRING | SIZE | NONE):
                continue  # bound anew by ``n += 1``
            node = node_of_write(write)
            place = node.index if node is not write.target else write.at
            yield WrittenMemory(self._roots.roots(write.target), node, place)
        for call in fn.calls:
            yield from self.written_by_call(call)

    def written_by_call(self, call: Node) -> Iterator[WrittenMemory]:
        """Yield what a call writes into, as its function sees it."""
        callees = self._knowledge.callees(call)
        for callee in callees:
            frame = self._knowledge.enter(callee, call, None)
            inner = self.written_by(callee.function) if frame is not None else None
            if inner is None or frame is None:
                yield from self._handed(call)
                continue
            sure = dict.fromkeys(self._from_outside(each.roots, frame) for each in inner if each.is_sure)
            unsure = self._from_outside([root for each in inner if not each.is_sure for root in each.roots], frame)
            yield from (WrittenMemory(each, call, call.index) for each in sure if each)
            yield from [WrittenMemory(unsure, call, call.index, is_sure=False)] if unsure else []
        if not callees:
            yield from self._by_library(call)

    def _from_outside(self, roots: Iterable[MemoryRoot], frame: CallFrame) -> tuple[MemoryRoot, ...]:
        return tuple(
            dict.fromkeys(root for one in dict.fromkeys(roots) for root in self._seen_from_outside(one, frame))
        )

    def _seen_from_outside(self, root: MemoryRoot, frame: CallFrame) -> Iterator[MemoryRoot]:
        if root.sort == UNKNOWN:
            yield MemoryRoot(UNKNOWN, root.node)
        elif root.node.fn is not frame.function:
            if root.via is None or root.via.fn is not frame.function:  # else it was made further down
                yield root
        elif root.sort == PARAMETER:
            assert isinstance(root.node.data, FormalParameter)
            argument = frame.argument(root.node.data)
            if argument is not None:
                yield from self._roots.roots(argument, root.path)
            for each in frame.collected(root.node.data) if argument is None else ():
                yield from self._roots.roots(each, (ANY_DEPTH,))

    def _handed(self, call: Node) -> Iterator[WrittenMemory]:
        for each in memory_handings.everything_handed(call):
            yield WrittenMemory(self._roots.roots(each, (ANY_DEPTH,)), call, call.index, is_sure=False)

    def _by_library(self, call: Node) -> Iterator[WrittenMemory]:
        handings = memory_handings.handings(self._knowledge, call)
        is_open = any(each.sort == memory_handings.UNFAMILIAR for each in handings)
        if is_open:
            yield from self._handed(call)
        given = call.arguments
        for reference in self._knowledge.value(call.ins[0]).references:
            for place in _places_written(reference, call):
                node = given.keywords.get(place)
                if node is None and place.isdigit() and int(place) < len(given.positional):
                    node = given.positional[int(place)]
                if node is not None:
                    yield WrittenMemory(self._roots.roots(node), call, call.index)
        if not is_open:
            yield from self._by_optimizer(call)

    def _by_optimizer(self, call: Node) -> Iterator[WrittenMemory]:
        """Yield what an optimizer of torch was made with, where it takes a step."""
        owner = call.ins[0].ins[0] if call.ins[0].ins else None
        if call.ins[0].data != "step" or owner is None:
            return
        for reference in self._knowledge.value(owner).references:
            if isinstance(reference, LibraryInstanceRef) and reference.name.startswith("torch.optim."):
                made = reference.made
                if made is not None and made.op == CALL:
                    for each in made.arguments.all():
                        yield WrittenMemory(self._roots.roots(each, (ANY_DEPTH,)), call, call.index)

    # ------------------------------------------------------------------ questions
    def written_after(self, node: Node, until: Node | None = None, *, is_straight: bool = False) -> FlowAnswer:
        """Whether the memory of a value may be written after it was made, in its function or by what that calls.

        ``until`` is the node before which it has to happen; the way there ``is_straight`` where it passes no loop's
        head. Reasons: the words of this module.
        """
        return strongest(self._written_after(node, until, is_straight))

    def _written_after(self, node: Node, until: Node | None, is_straight: bool) -> Iterator[FlowAnswer]:
        mine = self._roots.roots(node)
        for each in self.written_by(node.fn) or ():
            if each.node is node or (is_straight and each.place < node.index):
                continue
            is_behind = until is not None and until.index <= each.place
            if until is not None and is_behind and (is_straight or not is_later(node.fn, until.index, each.node)):
                continue
            met = meeting(mine, each.roots)
            made = met.node if met.reason == MADE and met.node is not None and met.node.fn is node.fn else None
            if is_later(node.fn, each.place, node, made):
                yield _answer(each, met)

    def is_only_read(self, node: Node) -> FlowAnswer:
        """Whether nothing is written through a value, or may be by others who get it.

        Reasons of a no: HERE, THERE; of perhaps these, HANDED, and the ways out of its function.
        """
        found: list[FlowAnswer] = []

        def look(use: ValueUse) -> bool:
            position = use.position
            if not position.held:
                writes = turned_edges(position.node.fn).writes.get(position.node, ())
                found.extend(
                    FlowAnswer(PERHAPS if position.doubt else NO, node_of_write(each), HERE) for each in writes
                )
            called = use.node.ins[0] if use.node.op == CALL else None
            if called is not None and called.op == ATTR and called.ins[0] is position.node and called.data in _FILLING:
                found.append(FlowAnswer(PERHAPS if position.held else NO, use.node, HERE))
            if use.node.op == CALL and not self._knowledge.callees(use.node):
                mine = self._roots.roots(position.node)
                for each in self.written_by_call(use.node):
                    met = _answer(each, meeting(mine, each.roots))
                    if not met.is_no:
                        found.append(FlowAnswer(_OPPOSITE[met.answer], met.node, met.reason))
            return True

        ways = list(ForwardWalk(self._knowledge, self._roots, look).run(node))
        found.extend(FlowAnswer(PERHAPS, each.node, each.way) for each in ways)
        found.sort(key=lambda each: (each.answer != NO, each.reason not in (HERE, THERE)))
        return found[0] if found else FlowAnswer(YES, node)


_OPPOSITE: Final = {YES: NO, PERHAPS: PERHAPS}


def _answer(written: WrittenMemory, met: FlowAnswer) -> FlowAnswer:
    if met.is_no:
        return met
    if not written.is_sure:
        return FlowAnswer(PERHAPS, written.node, HANDED)
    reason = OF_UNKNOWN if met.reason == UNKNOWN else THERE if written.node.op == CALL else HERE
    return FlowAnswer(YES if met.answer == YES else PERHAPS, written.node, reason)


def _places_written(reference: Reference, call: Node) -> tuple[str, ...]:
    """Return the positions and keywords of the arguments that a function or a layer of a library writes into."""
    if isinstance(reference, LibraryRef):
        name = reference.name
        if name in WRITES:
            return WRITES[name]
        is_inplace = name.endswith("_") or (name in TAKES_INPLACE and "inplace" in call.arguments.keywords)
        is_written = is_inplace and name.startswith("torch.")
        is_told = name in _INTO_THE_FIRST or name.startswith("mpi4py.")
        return ("0", "input", "tensor") if is_written or is_told else ()
    if not isinstance(reference, LibraryInstanceRef) or not memory_handings.may_be_inplace(reference.name):
        return ()
    made = reference.made
    if made is None or made.op != CALL:
        return ()
    return ("0", "input") if any(each.op == CONST and each.data is True for each in made.arguments.all()) else ()
