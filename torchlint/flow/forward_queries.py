"""The one door to the forward queries: what becomes of a value, as one oracle sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchlint.evaluation.evaluator import Evaluator, Question
from torchlint.facts.flow_specifications import FlowSpecification
from torchlint.flow.answers import PERHAPS, FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.escapes import Escapes
from torchlint.flow.first_values import FirstValues
from torchlint.flow.flow_paths import FlowPath, FlowPaths
from torchlint.flow.forward_walk import Leaving
from torchlint.flow.learning import learned_from
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites
from torchlint.flow.root_meetings import MemoryRoot
from torchlint.flow.traces import Traces
from torchlint.semantic.graph import FunctionGraph, Node


class ForwardQueries:
    """The queries over one evaluator, with their answers kept.

    Each answer is yes, no, or perhaps with the node that decides; what is not known is never a no.
    """

    def __init__(self, evaluator: Evaluator, claims: Evaluator | None = None) -> None:
        """Begin with nothing known; ``claims`` says what annotations take the things beside a value for."""
        self._asked = (evaluator, claims or evaluator)
        self._knowledge = CallKnowledge(evaluator)
        self._roots = MemoryRoots(self._knowledge)
        self._escapes = Escapes(self._knowledge, self._roots)
        self._writes = MemoryWrites(self._knowledge, self._roots)
        self._paths = FlowPaths(self._knowledge, self._roots, self._writes)
        self._traces = Traces(self._knowledge, self._roots, claims or evaluator)
        self._first_values = FirstValues(self._knowledge, self._roots, claims or evaluator)
        self._learned: dict[Node, FlowAnswer] = {}

    def _question(self) -> Question:
        """Have all that is asked in a block share the budget of one question, and end with it."""
        return Question(*self._asked)

    def roots(self, node: Node) -> tuple[MemoryRoot, ...]:
        """Return where the memory of a value may come from."""
        return self._roots.roots(node)

    def is_fresh(self, node: Node) -> FlowAnswer:
        """Whether the memory of a value is made in its function, or by what that calls."""
        return self._roots.is_fresh(node)

    def may_share(self, one: Node, two: Node) -> FlowAnswer:
        """Whether two values may lie in the same memory."""
        return self._roots.may_share(one, two)

    def ways_out(self, node: Node) -> dict[str, Leaving]:
        """Return the ways on which a value leaves its function, by their word."""
        return self._escapes.ways_out(node)

    def escapes(self, node: Node) -> FlowAnswer:
        """Whether others have a value, or what shares its memory, when its function ends."""
        with self._question():
            return self._escapes.escapes(node)
        return FlowAnswer(PERHAPS, node)

    def written_after(self, node: Node, until: Node | None = None) -> FlowAnswer:
        """Whether the memory of a value may be written after it was made, and before another node if one is given."""
        with self._question():
            return self._writes.written_after(node, until)
        return FlowAnswer(PERHAPS, node)

    def is_only_read(self, node: Node) -> FlowAnswer:
        """Whether nothing is written through a value, by its function or by who gets it."""
        with self._question():
            return self._writes.is_only_read(node)
        return FlowAnswer(PERHAPS, node)

    def leaves_trace(self, node: Node, takes: Callable[[str], bool]) -> FlowAnswer:
        """Whether a detached value is written through, kept by others, or saved by a graph."""
        with self._question():
            return self._traces.leaves_trace(node, takes)
        return FlowAnswer(PERHAPS, node)

    def has_first_value(self, node: Node, place: Node, takes: Callable[[str], bool]) -> bool:
        """Whether no graph can hold the memory of a value at a place, since it is new; False where not proven."""
        with self._question():
            return self._first_values.has_first_value(node, place, takes)
        return False

    def learned_from(self, node: Node) -> FlowAnswer:
        """Whether a gradient is asked through a value."""
        if node not in self._learned:
            self._learned[node] = learned_from(self._knowledge, self._roots, node)
        return self._learned[node]

    def paths(self, specification: FlowSpecification, function: FunctionGraph) -> Iterator[FlowPath]:
        """Yield the paths of a specification that begin in a function."""
        with self._question():
            yield from self._paths.in_function(specification, function)

    def paths_from(self, specification: FlowSpecification, source: Node) -> Iterator[FlowPath]:
        """Yield the paths of a specification that begin at a node."""
        with self._question():
            yield from self._paths.from_source(specification, source)
