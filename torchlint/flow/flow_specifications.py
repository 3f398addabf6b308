"""What a rule looks for, as data: where a value comes from, what changes it on the way, where it must not arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ValueUse
from torchlint.semantic.function_effects import handed_over
from torchlint.semantic.graph import ATTR, CALL, RECEIVER, Mark, Node
from torchlint.values.abstract import Abstract
from torchlint.values.references import LibraryInstanceRef, LibraryRef

Test = Callable[[Abstract], bool]
Place = int | str | Mark
NOWHERE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class NodePattern:
    """Nodes of one sort. All that is said has to hold; of ``functions`` and ``methods`` one is enough."""

    ops: frozenset[str] = frozenset({CALL})
    functions: tuple[str, ...] = ()
    """Dotted names of library functions and classes, with ``*`` for any word: ``math.*``."""
    methods: frozenset[str] = NOWHERE
    """Words of methods, whatever the object."""
    words: frozenset[str] = NOWHERE
    """The operator, attribute or method that the node holds, where it is no call."""
    given: frozenset[str] = NOWHERE
    """Keywords that the call has."""
    without: frozenset[str] = NOWHERE
    """Keywords that it has not."""
    at: frozenset[Place] | None = None
    """Where the value goes in: positions, keywords, RECEIVER; None for anywhere."""
    value: Test | None = None
    """What the value is: of a source its own, else the one that goes in."""
    owner: Test | None = None
    """What the object of the method is."""
    beside: Test | None = None
    """What another of the operands or arguments is, or of the members of the list that is handed over."""
    in_loop: bool = False
    """Whether it stands in a loop of its function."""

    def is_node(self, knowledge: CallKnowledge, node: Node) -> bool:
        """Whether a node is of this sort, apart from what goes in."""
        if node.op not in self.ops or (self.in_loop and not any(a <= node.index < b for a, b in node.fn.loops)):
            return False
        if node.op != CALL:
            return not self.words or str(node.data) in self.words
        keywords = node.arguments.keywords.keys()
        if not self.given <= keywords or self.without & keywords or not self._is_called(knowledge, node.ins[0]):
            return False
        return self.owner is None or (node.ins[0].op == ATTR and self.owner(knowledge.value(node.ins[0].ins[0])))

    def _is_called(self, knowledge: CallKnowledge, function: Node) -> bool:
        if not self.functions and not self.methods:
            return True
        if function.op == ATTR and function.data in self.methods:
            target = knowledge.value(function)
            return not any(isinstance(each, LibraryRef) for each in target.references)
        if not self.functions:
            return False
        named = (LibraryRef, LibraryInstanceRef)
        names = [each.name for each in knowledge.value(function).references if isinstance(each, named)]
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.functions)

    def is_source(self, knowledge: CallKnowledge, node: Node) -> bool:
        """Whether a flow begins at a node."""
        return self.is_node(knowledge, node) and (self.value is None or self.value(knowledge.value(node)))

    def is_use(self, knowledge: CallKnowledge, use: ValueUse) -> bool:
        """Whether a value goes into a node of this sort."""
        if not self.is_node(knowledge, use.node):
            return False
        places = [place for place, each in _handed(use.node) if each is use.position.node]
        if self.at is not None and self.at.isdisjoint(places):
            return False
        if self.value is not None and not self.value(knowledge.value(use.position.node)):
            return False
        others = [each for _, each in _handed(use.node) if each is not use.position.node]
        if use.position.held and use.position.before is not None:
            others += [each for each in use.position.node.ins if each is not use.position.before.node]
        return self.beside is None or any(self.beside(knowledge.value(each)) for each in others)


def _handed(node: Node) -> Iterator[tuple[Place, Node]]:
    yield from handed_over(node) if node.op == CALL else enumerate(node.ins)


REQUIRED: Final = "required"
EXCLUDED: Final = "excluded"


@dataclass(frozen=True, slots=True)
class FlowSpecification:
    """A source reaches a sink, and something changes it on the way."""

    sources: tuple[NodePattern, ...]
    sinks: tuple[NodePattern, ...] = ()
    ways_out: frozenset[str] = NOWHERE
    """Ways of leaving the function that are sinks, too: the words of ``forward_walk``."""
    changes: tuple[NodePattern, ...] = ()
    """The way has to lead through one of these; where there are none it need not."""
    stops: tuple[NodePattern, ...] = ()
    """What ends the flow: sanitisers."""
    is_computed: bool = False
    """Whether what is computed from the value counts as the value; else only what may share its memory does."""
    is_held: bool = False
    """Whether the source is a container, of whose members the question is."""
    writes: str | None = None
    """Whether the memory of the source has to be written in the meantime (REQUIRED), or must not be (EXCLUDED)."""
    through_objects: bool = False
    """Whether the value is followed from an attribute of an object to where other methods read it."""
    through_callers: bool = False
    """Whether what the function of the source returns is followed in the functions that call it."""


RECEIVES: Final[frozenset[Place]] = frozenset({RECEIVER})
"""The value is the object of the method."""
