"""The one door to the forward queries: what becomes of a value, as one oracle sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchlint.evaluation.evaluator import Evaluator, Question
from torchlint.facts.flow import PERHAPS
from torchlint.facts.flow_specifications import FlowSpecification
from torchlint.flow.answers import FlowAnswer
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.first_values import FirstValues
from torchlint.flow.flow_paths import FlowPath, FlowPaths
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.memory_writes import MemoryWrites
from torchlint.flow.refused_writes import is_refused
from torchlint.flow.traces import Traces
from torchlint.semantic.graph import FunctionGraph, MemoryWrite, Node


class ForwardQueries:
    """The queries over one evaluator, with their answers kept.

    Each answer is yes, no, or perhaps with the node that decides; what is not known is never a no.
    """

    def __init__(self, evaluator: Evaluator, claims: Evaluator | None = None) -> None:
        """Begin with nothing known; ``claims`` says what annotations take the things beside a value for."""
        self._asked = (evaluator, claims or evaluator)
        self._knowledge = CallKnowledge(evaluator)
        self._roots = MemoryRoots(self._knowledge)
        self._writes = MemoryWrites(self._knowledge, self._roots)
        self._paths = FlowPaths(self._knowledge, self._roots, self._writes)
        self._traces = Traces(self._knowledge, self._roots, claims or evaluator)
        self._first_values = FirstValues(self._knowledge, self._roots, claims or evaluator)

    def _question(self) -> Question:
        """Have all that is asked in a block share the budget of one question, and end with it."""
        return Question(*self._asked)

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

    def has_first_value(self, node: Node, place: Node, row: int, takes: Callable[[str], bool]) -> bool:
        """Whether no graph can hold the memory of a value at a place, since it is new; False where not proven."""
        with self._question():
            return self._first_values.has_first_value(node, place, row, takes)
        return False

    def is_refused(self, write: MemoryWrite, function: FunctionGraph) -> bool:
        """Whether torch refuses a write of a function whenever it is reached; False where not proven."""
        with self._question():
            return is_refused(write, function, self._knowledge, self._roots, self._asked[1])
        return False

    def paths(self, specification: FlowSpecification, function: FunctionGraph) -> Iterator[FlowPath]:
        """Yield the paths of a specification that begin in a function."""
        with self._question():
            yield from self._paths.in_function(specification, function)

    def paths_from(self, specification: FlowSpecification, source: Node) -> Iterator[FlowPath]:
        """Yield the paths of a specification that begin at a node."""
        with self._question():
            yield from self._paths.from_source(specification, source)
