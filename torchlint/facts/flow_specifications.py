"""What a rule looks for, as data: where a value comes from, what changes it on the way, where it must not arrive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol


class FlowValue(Protocol):
    """What the tests of a specification may ask of a value on its way; the kinds are those of :class:`Kind`."""

    def must(self, kind: int) -> bool:
        """Whether the value is of one of these kinds beyond doubt."""

    def may(self, kind: int) -> bool:
        """Whether the value may be of one of these kinds."""

    @property
    def may_require_grad(self) -> bool:
        """Whether a tensor here may require grad."""

    @property
    def is_attached(self) -> bool:
        """Whether something says that a tensor here requires grad."""

    @property
    def may_be_on_accelerator(self) -> bool:
        """Whether a tensor here may be on an accelerator."""

    @property
    def has_dimensions(self) -> bool:
        """Whether a tensor here has at least one dimension."""


Test = Callable[[FlowValue], bool]
NOWHERE: Final[frozenset[str]] = frozenset()
RECEIVER: Final = "the object of the method"
"""A place of a value in a call beside positions and keywords."""
RECEIVES: Final[frozenset[int | str]] = frozenset({RECEIVER})

RETURNED: Final = "returned"
YIELDED: Final = "yielded"
STORED: Final = "stored"
"""Kept in an object, or in a container, that others have."""
BOUND: Final = "global"
"""A variable of the module is bound to it."""
CAPTURED: Final = "captured"
"""A function that is written inside reads it."""
PASSED: Final = "passed"
"""Handed to a call of which nothing is known."""


@dataclass(frozen=True, slots=True)
class NodePattern:
    """Nodes of one sort. All that is said has to hold; of ``functions`` and ``methods`` one is enough."""

    ops: frozenset[str] = frozenset({"call"})
    """Operations of the graph."""
    functions: tuple[str, ...] = ()
    """Dotted names of library functions and classes, with ``*`` for any word: ``math.*``."""
    methods: frozenset[str] = NOWHERE
    """Words of methods, whatever the object."""
    words: frozenset[str] = NOWHERE
    """The operator, attribute or method that the node holds; of a call the last words of ``functions``."""
    at: frozenset[int | str] | None = None
    """Where the value goes in: positions, keywords, RECEIVER; None for anywhere."""
    value: Test | None = None
    """What the value is: of a source its own, else the one that goes in, before ways joined or a container held it."""
    gives: Test | None = None
    """What the node gives."""
    beside: Test | None = None
    """What another of the operands or arguments is, of the members of a list that is handed over, or a layer."""
    of_source_object: bool = False
    """Whether it is a method of the object of whose method the source is the result."""
    is_conversion: bool = False
    """Whether the result is of another dtype, or on another device, than the value as far as that is known."""


@dataclass(frozen=True, slots=True)
class FlowSpecification:
    """A source reaches a sink, and something changes it on the way."""

    sources: tuple[NodePattern, ...] = ()
    sinks: tuple[NodePattern, ...] = ()
    ways_out: frozenset[str] = NOWHERE
    """Ways of leaving the function that are sinks, too."""
    keeper: Test | None = None
    """What an object is of which an attribute is a sink, too, that is set to the value."""
    changes: tuple[NodePattern, ...] = ()
    """The way has to lead through one of these; where there are none it need not."""
    stops: tuple[NodePattern, ...] = ()
    """What ends the flow: sanitisers. What is a sink, too, is arrived at."""
    vetoes: tuple[NodePattern, ...] = ()
    """What says, when it happens to the value itself, that it is meant so wherever it goes."""
    computed_by: tuple[NodePattern, ...] | None = None
    """What alone may compute something that counts as the value, where not all does."""
    is_computed: bool = False
    """Whether what is computed from the value counts as the value; else only what may share its memory does."""
    is_held: bool = False
    """Whether the source is a container, of whose members the question is."""
    is_written: bool = False
    """Whether the memory of the source has to be written in the meantime; what a function of which nothing is known may
    do does not count."""
    is_kept_if_better: bool = False
    """Whether what a method keeps only where a comparison tells the better from the worse counts as written, too."""
    of_all_versions: bool = False
    """Whether what is done to the value before the place that is asked of counts, too, under its attribute as well."""
    is_followed_into_calls: bool = True
    """Whether the value is followed into functions of the project that it is handed to."""
    through_objects: bool = False
    """Whether the value is followed from an attribute of an object to where other methods read it."""
    through_callers: bool = False
    """Whether what the function of the source returns is followed in the functions that call it."""
