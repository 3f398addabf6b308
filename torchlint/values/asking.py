"""What the tables of torch, NumPy and Python may ask of the evaluator, and a call as they see it."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final, Protocol

from torchlint.semantic.graph import ATTR, CallArguments, ClassGraph, Node
from torchlint.semantic.graph import SEQUENCE as DISPLAY
from torchlint.values.abstract import SEQUENCE, TENSOR, Abstract
from torchlint.values.contexts import Context

Selector = str | int
"""One step: ``.word`` an attribute, ``=key`` the item under a constant text, an integer a position, ``*`` any item."""
Path = tuple[Selector, ...]
"""What leads from a value into it, the first step first."""
ANY_ELEMENT: Final = "*"

ON: Final = 1
OFF: Final = 2
"""Grad modes, as bits."""


class Oracle(IntEnum):
    """What a parameter is when no call leads to it, and what is presumed."""

    PROOF = 0
    """Everything is possible, nothing is presumed: only this makes a fix safe."""
    STRICT = 1
    """Annotations hold, names of loaders and networks count, calls change what their functions are seen to change."""
    CALLERS = 2
    """The join of the project's own calls; as STRICT where there are none."""
    CLAIMED = 3
    """What a careful reader knows: annotations hold, methods say what has them, grad mode is on where nothing switches
    it off; no name counts."""


class Presumption(IntEnum):
    """What is taken for true of most code; PROOF refuses each, a reason names it."""

    ANNOTATION = 0
    """A parameter is what its annotation says."""
    DEFAULT = 1
    """A parameter is of the kind of its default, where that is a number or a text."""
    LOADER = 2
    """What is named like a data loader gives tensors without a gradient, on the host."""
    NETWORK = 3
    """What is named like a network, or asked for parameters, is a module."""
    KEPT = 4
    """A call of which nothing is known changes neither its arguments nor the process."""
    EVALUATION = 5
    """Validation and test steps of a trainer run without grad."""
    CONVENTION = 6
    """Methods that a framework calls are given what it is documented to give: ``__getitem__`` an index."""
    GRAD_MODE = 7
    """Grad mode is on where nobody switches it off; whoever calls a module of others may."""
    ONE_ACCELERATOR = 8
    """Without CUDA there is no accelerator, in a file that names no other."""
    USAGE = 9
    """Code is as most is: what ``.to`` is given is a device, what is spread over keywords sets no dtype."""
    METHOD = 10
    """What has a method is what has such a method in most code: ``.detach`` a tensor, ``.values`` a dict."""


class Asker(Protocol):
    """The evaluator under one oracle."""

    oracle: Oracle

    def presumes(self, presumption: Presumption) -> bool:
        """Whether a presumption holds under the oracle; the one gate for all of them."""

    def value(self, node: Node, path: Path = (), context: Context | None = None) -> Abstract:
        """Return what a path leads to from a node, in a context."""

    def elements(self, node: Node, path: Path, context: Context | None) -> Abstract:
        """Return what a path leads to from what iterating over a node gives."""

    def truth(self, node: Node, context: Context | None) -> bool | None:
        """Return how a test comes out; None where both are possible."""

    def mode(self, node: Node, context: Context | None) -> int:
        """Return the grad modes in which a node may be computed, as bits."""

    def under(self, value: Abstract, node: Node, context: Context | None) -> Abstract:
        """Return a computed value as grad mode at a node leaves it."""

    def default_device(self, node: Node, context: Context | None) -> Abstract:
        """Return where a factory at a node makes a tensor that is told nothing: a value of kind DEVICE."""

    def default_dtype(self, node: Node, context: Context | None) -> int:
        """Return the floating dtypes of a factory at a node that is told nothing."""

    def attribute_of(self, owner: Abstract, word: str, path: Path, at: Node, context: Context | None) -> Abstract:
        """Return an attribute of a value, and what a path leads to from there."""

    def along(self, value: Abstract, path: Path, at: Node, context: Context | None) -> Abstract:
        """Follow a path from a value that is no node: into its objects, else by what is known of its kind."""

    def call_of(self, target: Abstract, node: Node, path: Path, context: Context | None) -> Abstract:
        """Return what calling a value with the arguments of a call gives."""

    def returned_by_method(
        self, owner: Abstract, word: str, node: Node, path: Path, context: Context | None
    ) -> Abstract | None:
        """Return what a method of the project's objects among a value gives; None where it has none.

        ``node`` is the call, or a node that calls it without arguments, such as an iteration.
        """

    def derived(self, key: tuple[object, ...], make: Callable[[], Node]) -> Node:
        """Return a node that no text has, such as the call that ``map`` makes: one for each key, a node first."""

    def object_of(self, cls: ClassGraph) -> Abstract:
        """Return any object of a class of the project."""

    def seems_network(self, call: Node) -> bool:
        """Whether what a call calls, or the object of its method, is named or used like a network."""


class CallSite:
    """A call as a transfer function sees it: values are asked for only where they matter."""

    __slots__ = ("asker", "context", "given", "node")

    def __init__(self, asker: Asker, node: Node, context: Context | None) -> None:
        """Look at a node of operation CALL."""
        self.asker, self.node, self.context = asker, node, context
        self.given: CallArguments = node.arguments

    @property
    def word(self) -> str:
        """The last word of what is called, as it is written."""
        function = self.node.ins[0]
        return str(function.data) if function.op == ATTR else self.given.spelled.rpartition(".")[2]

    @property
    def receiver(self) -> Node | None:
        """The object of a method call."""
        function = self.node.ins[0]
        return function.ins[0] if function.op == ATTR else None

    def argument(self, position: int | None, word: str | None = None) -> Node | None:
        """Return the node that is given by keyword or at a position; None where none is, or a spread hides it."""
        if word is not None and word in self.given.keywords:
            return self.given.keywords[word]
        positional = self.given.positional
        if position is None or position >= len(positional) or any(at <= position for at in self.given.starred):
            return None
        return positional[position]

    def value(self, position: int | None, word: str | None = None, path: Path = ()) -> Abstract | None:
        """Return the value of an argument; None where it is not given."""
        found = self.argument(position, word)
        return self.asker.value(found, path, self.context) if found is not None else None

    def is_waiting(self) -> bool:
        """Whether an argument, or a member of one that is written out, has no value: not yet, or never."""
        given = [each for node in self.given.positional for each in (node.ins if node.op == DISPLAY else (node,))]
        return not all(self.asker.value(each, (), self.context).kind for each in given)

    def operands(self, skipped: frozenset[str] = frozenset(), first: int = 0) -> list[Abstract]:
        """Return the values that are handed over, those in lists too; ``skipped`` are positions and keywords left out.

        ``first`` is the number of the first argument: 1 for a method, whose object is operand 0.
        """
        found = [
            self._operand(each, position in self.given.starred)
            for position, each in enumerate(self.given.positional)
            if str(position + first) not in skipped
        ]
        found += [
            self._operand(each, False)
            for word, each in self.given.keywords.items()
            if word not in skipped and word not in ("dtype", "device", "dim", "out", "alpha", "beta")
        ]
        return [each for each in found if each.kind]

    def _operand(self, node: Node, starred: bool) -> Abstract:
        value = self.asker.value(node, (ANY_ELEMENT,) if starred else (), self.context)
        if value.kind & SEQUENCE and not value.kind & TENSOR:
            value = self.asker.value(node, (ANY_ELEMENT,), self.context)
            if value.kind == SEQUENCE:
                value = self.asker.value(node, (ANY_ELEMENT, ANY_ELEMENT), self.context)
        return value
