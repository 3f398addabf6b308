"""What is written into: by a function and its callees, after a value was made, or through a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from torchlint.evaluation.network_names import is_named_network
from torchlint.facts.flow import NO, PERHAPS, WRITTEN_HERE, WRITTEN_THERE, YES
from torchlint.flow import memory_handings
from torchlint.flow.answers import NEVER, FlowAnswer, strongest
from torchlint.flow.call_frames import CallFrame, CallKnowledge
from torchlint.flow.forward_walk import ForwardWalk, ValueUse
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE, PARAMETER, UNKNOWN, MemoryRoot, meeting
from torchlint.flow.turned_edges import node_of_write, turned_edges
from torchlint.models.operation_sets import TAKES_INPLACE, WRITES
from torchlint.semantic.graph import ATTR, CALL, CONST, FormalParameter, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.values.abstract import MODULE, NONE, NUMBER, SIZE, STRING
from torchlint.values.asking import Path
from torchlint.values.references import LibraryInstanceRef, LibraryRef, Reference

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
    is_presumed: bool = False
    """Whether a write is seen, and that it goes there is likely only."""


class Window(NamedTuple):
    """A time of a function, between two of its nodes."""

    first: int
    last: int
    is_round: bool = False
    """Whether it is a whole round of a loop, in which memory may be made anew."""


class SoughtWrites(NamedTuple):
    """Which writes into the memory of a value are asked for: of those that are seen, not into unknown memory."""

    path: Path
    """What of the value: nothing, or all that lies in it."""
    but: frozenset[Node]
    """What the value itself went to: it is not written behind its back there."""

    def counts(self, written: WrittenMemory) -> bool:
        """Whether a write is one of these."""
        is_own = written.node in self.but or any(each in self.but for each in written.node.ins[:1])
        return not is_own and written.is_sure

    def answer(self, written: WrittenMemory, met: FlowAnswer) -> FlowAnswer:
        """Return what a write says where the memories meet so."""
        return NEVER if met.reason == UNKNOWN else _answer(written, met)


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
            sure = dict.fromkeys((self._from_outside(e.roots, frame), e.is_presumed) for e in inner if e.is_sure)
            unsure = self._from_outside([root for each in inner if not each.is_sure for root in each.roots], frame)
            yield from (WrittenMemory(roots, call, call.index, True, each) for roots, each in sure if roots)
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
        word, owner = (call.ins[0].data, call.ins[0].ins[0]) if call.ins[0].op == ATTR else ("", None)
        if owner is not None and word == "load_state_dict" and self._knowledge.value(owner).may(MODULE):
            is_module = self._knowledge.value(owner).must(MODULE)
            yield WrittenMemory(self._roots.roots(owner), call, call.index, is_presumed=not is_module)
            if is_module:
                return
        if owner is not None and word == "step":
            given = call.arguments.positional[:1] or (owner,)  # a scaler is handed the optimizer
            yield from self._by_optimizer(call, given[0])
        if any(each.sort == memory_handings.UNFAMILIAR for each in memory_handings.handings(self._knowledge, call)):
            yield from self._handed(call)
        arguments = call.arguments
        for reference in self._knowledge.value(call.ins[0]).references:
            for place in _places_written(reference, call):
                node = arguments.keywords.get(place)
                if node is None and place.isdigit() and int(place) < len(arguments.positional):
                    node = arguments.positional[int(place)]
                if node is not None:
                    yield WrittenMemory(self._roots.roots(node), call, call.index)

    def _by_optimizer(self, call: Node, optimizer: Node) -> Iterator[WrittenMemory]:
        """Yield what an optimizer was made with, where it takes a step.

        Of one of which that is not known, and whose gradients the function clears, the networks that the function
        calls are presumed.
        """
        made = [
            each.made
            for each in self._knowledge.value(optimizer).references
            if isinstance(each, LibraryInstanceRef) and each.name.startswith("torch.optim.")
        ]
        for each in made:
            for given in each.arguments.all() if each is not None and each.op == CALL else ():
                yield WrittenMemory(self._roots.roots(given, (ANY_DEPTH,)), call, call.index)
        is_made_here = any(each is not None and each.fn is call.fn for each in made)
        if not is_made_here and self._clears_gradients(optimizer):
            for called in call.fn.calls:
                network = called.ins[0]
                is_method = network.op == ATTR and not is_named_network(str(network.data))
                if not is_method and self._knowledge.value(network).may(MODULE):
                    yield WrittenMemory(self._roots.roots(network), call, call.index, is_presumed=True)

    def _clears_gradients(self, optimizer: Node) -> bool:
        mine = self._roots.roots(optimizer)
        cleared = (each.ins[0] for each in optimizer.fn.calls if each.ins[0].data == "zero_grad" and each.ins[0].ins)
        return any(not meeting(mine, self._roots.roots(each.ins[0])).is_no for each in cleared)

    # ------------------------------------------------------------------ questions
    def written_within(self, node: Node, windows: Iterable[Window], sought: SoughtWrites) -> FlowAnswer:
        """Whether the memory of a value is written at a time of its function."""
        mine, times = self._sought_memory(node, sought), list(windows)
        found: list[FlowAnswer] = []
        for each in self.written_by(node.fn) or ():
            inside = [time for time in times if time.first < each.place < time.last]
            if not inside or not sought.counts(each):
                continue
            if not any(time.is_round for time in inside) and excludes(node, each.node):
                continue
            met = meeting(mine, each.roots)
            made = met.node if met.reason == MADE and met.node is not None and met.node.fn is node.fn else None
            if made is None or not all(time.is_round and time.first <= made.index < time.last for time in inside):
                found.append(sought.answer(each, met))
        return strongest(found)

    def written_by_methods(self, node: Node, sought: SoughtWrites) -> FlowAnswer:
        """Whether another method of the object whose method made a value writes into its memory."""
        cls, mine = node.fn.cls, self._sought_memory(node, sought)
        family = self._knowledge.evaluator.family(cls).lineage if cls is not None else ()
        found = []
        for method in (method for one in family for method in one.methods.values()):
            for each in self.written_by(method) or ():
                is_own = any(callee.function.cls in family for callee in self._knowledge.callees(each.node))
                if not is_own and sought.counts(each):  # what methods of the object do is seen where they are written
                    found.append(sought.answer(each, meeting(mine, each.roots)))
        return strongest(found)

    def _sought_memory(self, node: Node, sought: SoughtWrites) -> tuple[MemoryRoot, ...]:
        return tuple(each for each in self._roots.roots(node, sought.path) if not sought.path or each.node is not node)

    def is_only_read(self, node: Node) -> FlowAnswer:
        """Whether nothing is written through a value, or may be by others who get it.

        Reasons of a no: WRITTEN_HERE, WRITTEN_THERE; of perhaps these, HANDED, and the ways out of its function.
        """
        found: list[FlowAnswer] = []

        def look(use: ValueUse) -> bool:
            position = use.position
            if not position.held:
                writes = turned_edges(position.node.fn).writes.get(position.node, ())
                found.extend(
                    FlowAnswer(PERHAPS if position.doubt else NO, node_of_write(each), WRITTEN_HERE) for each in writes
                )
            called = use.node.ins[0] if use.node.op == CALL else None
            if called is not None and called.op == ATTR and called.ins[0] is position.node and called.data in _FILLING:
                found.append(FlowAnswer(PERHAPS if position.held else NO, use.node, WRITTEN_HERE))
            if use.node.op == CALL and not self._knowledge.callees(use.node):
                mine = self._roots.roots(position.node)
                for each in self.written_by_call(use.node):
                    met = _answer(each, meeting(mine, each.roots))
                    if not met.is_no:
                        found.append(FlowAnswer(_OPPOSITE[met.answer], met.node, met.reason))
            return True

        ways = list(ForwardWalk(self._knowledge, self._roots, look).run(node))
        found.extend(FlowAnswer(PERHAPS, each.node, each.way) for each in ways)
        found.sort(key=lambda each: (each.answer != NO, each.reason not in (WRITTEN_HERE, WRITTEN_THERE)))
        return found[0] if found else FlowAnswer(YES, node)


def excludes(one: Node, two: Node) -> bool:
    """Whether a test leads to one of two nodes and not to the other."""
    guards = dict(one.fn.guards.get(one, ()))
    call = two if two.op == CALL else next((each for each in two.ins if each.op == CALL), two)
    return any(guards.get(test, holds) is not holds for test, holds in two.fn.guards.get(call, ()))


_OPPOSITE: Final = {YES: NO, PERHAPS: PERHAPS}


def _answer(written: WrittenMemory, met: FlowAnswer) -> FlowAnswer:
    if met.is_no:
        return met
    if not written.is_sure:
        return FlowAnswer(PERHAPS, written.node, HANDED)
    reason = OF_UNKNOWN if met.reason == UNKNOWN else WRITTEN_THERE if written.node.op == CALL else WRITTEN_HERE
    is_certain = met.answer == YES and not written.is_presumed
    return FlowAnswer(YES if is_certain else PERHAPS, written.node, reason)


def _places_written(reference: Reference, call: Node) -> tuple[str, ...]:
    """Return the positions and keywords of the arguments that a function or a layer of a library writes into."""
    if isinstance(reference, LibraryRef):
        name = reference.name
        if name in WRITES:
            return WRITES[name]
        is_inplace = name.endswith("_") or (name in TAKES_INPLACE and "inplace" in call.arguments.keywords)
        is_written = is_inplace and name.startswith("torch.") and not name.startswith("torch.nn.utils.clip_")
        is_told = name in _INTO_THE_FIRST or name.startswith("mpi4py.")
        return ("0", "input", "tensor") if is_written or is_told else ()
    if not isinstance(reference, LibraryInstanceRef) or not memory_handings.may_be_inplace(reference.name):
        return ()
    made = reference.made
    if made is None or made.op != CALL:
        return ()
    return ("0", "input") if any(each.op == CONST and each.data is True for each in made.arguments.all()) else ()
