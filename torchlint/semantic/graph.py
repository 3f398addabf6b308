"""The value-flow graph: nodes are occurrences of expressions, edges are what a value is made of.

A name has no node of its own: it *is* the node that it is bound to. So a node stands for each expression that is no
plain name, for each join of ways, for each narrowing by a test and for each change of an object. The nodes of a
function stand in one list in the order of evaluation: the index of a node is its serial form, and the clock for
"after".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from torchlint.semantic.module_graph import ModuleGraph

# ---------------------------------------------------------------------- operations: what `ins` and `data` of each hold
CONST: Final = "const"
"""data: the constant; :data:`TEXT_OF_PARTS` for an f-string."""
PARAM: Final = "param"
"""data: :class:`FormalParameter`."""
PHI: Final = "phi"
"""ins: what may arrive."""
GAMMA: Final = "gamma"
"""ins: (if true, if false); data: the node of the test."""
PI: Final = "pi"
"""ins: (what is narrowed,); data: :class:`Narrowing`."""
ATTR: Final = "attr"
"""ins: (owner,); data: the word."""
INDEX: Final = "index"
"""ins: (container, index) or (container,); data: a constant key, SLICE or ANYKEY."""
CALL: Final = "call"
"""ins: (function,); data: :class:`CallArguments`."""
OPERATION: Final = "operation"
"""ins: operands; data: the operator as it is written (``+``, ``@``, ``~``), with ``=`` behind it if it is augmented."""
TRUTH: Final = "truth"
"""ins: operands of a comparison or of ``not``; data: ``not``, the comparison (``is not``, ``==``), or ``chain``."""
EITHER: Final = "either"
"""ins: operands; data: ``and`` or ``or``."""
SEQUENCE: Final = "sequence"
"""ins: members; data: ``tuple``, ``list`` or ``set``."""
DICT: Final = "dict"
"""ins: values; data: the constant keys by position, ANYKEY for an unknown one."""
COMPREHENSION: Final = "comprehension"
"""ins: (element,) or (value, key); data: ``list``, ``set``, ``dict`` or ``generator``."""
ELEMENT: Final = "element"
"""ins: (what is iterated over,)."""
ITEM: Final = "item"
"""ins: (what is unpacked,); data: the position, from the end where it is negative; None for a starred rest."""
GLOBAL: Final = "global"
"""data: a word of the module, or of the builtins."""
EXPORT: Final = "export"
"""data: a word; what the module of ``fn`` binds it to, seen from outside."""
FREE: Final = "free"
"""data: (function that binds it, word)."""
FUNCTION: Final = "function"
"""data: :class:`FunctionGraph`."""
DECORATED: Final = "decorated"
"""ins: (decorator, function or class)."""
CLASS: Final = "class"
"""data: :class:`ClassGraph`."""
IMPORT: Final = "import"
"""data: (level, module, word or None)."""
ENTER: Final = "enter"
"""ins: (context manager,): what ``as`` binds."""
GROW: Final = "grow"
"""ins: (container before, member) or (before, member, key); data: a constant key, ANYKEY, SLICE or APPEND."""
SPREAD: Final = "spread"
"""ins: (container before, iterable): ``extend``, ``update``, ``*`` and ``**`` in a display."""
INPLACE: Final = "inplace"
"""ins: (before, call): an object after a method that changes it; data: the word of the method."""
EFFECT: Final = "effect"
"""ins: (before, call): an object after a call that was handed it, or after a method of it; data: its position among the
arguments, its keyword, or RECEIVER."""
SETTER: Final = "setter"
"""ins: (before, value): an object after one of its attributes was set; data: the word."""
WITHIN: Final = "within"
"""ins: (process variable before, context manager): a process variable inside of a ``with``; data: the variable."""
AFTER: Final = "after"
"""ins: (process variable before, call): a process variable after a call; data: the variable."""
ENTRY: Final = "entry"
"""data: the process variable, as it is when the function begins."""
UNDEFINED: Final = "undefined"
"""A name after ``del``."""
OPAQUE: Final = "opaque"
"""Nothing is known; data: ``exception`` for what a handler binds, ``sent`` for what ``yield`` gives, or None."""

OPS: Final = (
    CONST, PARAM, PHI, GAMMA, PI, ATTR, INDEX, CALL, OPERATION, TRUTH, EITHER, SEQUENCE, DICT, COMPREHENSION, ELEMENT,
    ITEM, GLOBAL, EXPORT, FREE, FUNCTION, DECORATED, CLASS, IMPORT, ENTER, GROW, SPREAD, INPLACE, EFFECT, SETTER,
    WITHIN, AFTER, ENTRY, UNDEFINED, OPAQUE,
)  # fmt: skip
"""All operations; each has a row in evaluate, roots, follow and serialise, which is checked when these are imported."""


class Mark:
    """A key that is no constant of the program."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """Name it for messages."""
        self.name = name

    def __repr__(self) -> str:
        """Spell it."""
        return self.name


ANYKEY: Final = Mark("any key")
SLICE: Final = Mark("a slice")
APPEND: Final = Mark("behind the last")
EACH: Final = Mark("each member")
"""Of GROW: all members became the new one, each by itself."""
OF_PART: Final = Mark("its part")
"""Of GROW: a part of a module was asked for gradients by another name; the member is the part afterwards."""
OF_WHOLE: Final = Mark("its whole")
"""Of GROW: the member is what the container is a view of, after its memory was written."""
RECEIVER: Final = Mark("the object of the method")
TEXT_OF_PARTS: Final = Mark("a text made of parts")

GRAD: Final = "grad"
DEVICE: Final = "device"
DTYPE: Final = "dtype"
PROCESS_VARIABLES: Final = (GRAD, DEVICE, DTYPE)
"""Variables of the process: grad mode, default device, default dtype."""


class Span(Protocol):
    """Where something stands: rows from 1, columns in bytes of UTF-8 from 0, as Python's parser counts.

    An expression or statement of ``ast`` is one.
    """

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ProcessState:
    """The nodes that the process variables are bound to; shared by all nodes until one of them changes."""

    grad: Node
    device: Node
    dtype: Node


class Node:
    """One occurrence of an expression, a join, a narrowing, or a change; nobody changes one after lowering."""

    __slots__ = ("at", "data", "fn", "index", "ins", "op", "state")

    def __init__(
        self,
        op: str,
        ins: tuple[Node, ...],
        data: object,
        at: Span | None,
        fn: FunctionGraph,
        state: ProcessState | None,
    ) -> None:
        """Make a node, which does not yet stand in the list of a function."""
        self.op, self.ins, self.data, self.at, self.fn, self.state = op, ins, data, at, fn, state
        self.index = -1

    def __repr__(self) -> str:
        """Spell it for messages of tests."""
        data = "" if isinstance(self.data, CallArguments) else self.data
        return f"<{self.op} {data} {getattr(self.at, 'lineno', '')}>"

    @property
    def arguments(self) -> CallArguments:
        """What a call hands over."""
        assert isinstance(self.data, CallArguments)
        return self.data

    def sources(self) -> Iterator[Node]:
        """Yield all nodes that this one is made of, arguments and tests included."""
        yield from self.ins
        if isinstance(self.data, CallArguments):
            yield from self.data.all()
        elif self.op == GAMMA:
            assert isinstance(self.data, Node)
            yield self.data


@dataclass(frozen=True, slots=True, eq=False)
class CallArguments:
    """What a call hands over."""

    positional: tuple[Node, ...] = ()
    keywords: dict[str, Node] = field(default_factory=dict)
    starred: frozenset[int] = frozenset()
    """Positions at which an iterable is spread."""
    spread: tuple[Node, ...] = ()
    """What is handed over with two stars."""
    spelled: str = ""
    """How the function is written where it is a dotted name: ``self.net``; a name that is bound says no more of it."""

    def all(self) -> Iterator[Node]:
        """Yield all arguments."""
        yield from self.positional
        yield from self.keywords.values()
        yield from self.spread


@dataclass(frozen=True, slots=True, eq=False)
class FormalParameter:
    """One parameter of a function."""

    word: str
    position: int | None
    """Where it stands among those that are given by position; None for one that is given by keyword alone."""
    sort: str = ""
    """``*`` or ``**`` for one that collects, else empty."""
    default: Node | None = None
    """A node of the function around, where defaults are evaluated."""
    annotation: Node | None = None
    """A node of the function around; a name in an annotation that is a text is looked up in the module."""


@dataclass(frozen=True, slots=True, eq=False)
class Narrowing:
    """What a branch says of a value."""

    sort: str
    """What was asked: ``none``, ``truth``, ``isinstance``, ``type``, ``tensor``, ``elements``, ``requires_grad``,
    ``is_cuda``, ``host``, ``equals``, or ``hasattr WORD``."""
    positive: bool
    """Whether the answer was yes."""
    node: Node | None = None
    """The class, or the constant, that was asked for."""


Guards = tuple[tuple[Node, bool], ...]
"""The tests on the way to a place, each with the answer that leads there."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionExit:
    """A ``return`` or ``yield``."""

    value: Node
    guards: Guards
    state: ProcessState
    """The process variables when it leaves."""
    attributes: dict[str, Node] = field(default_factory=dict)
    """The dotted names bound at a ``return``, by spelling: what ``self.x`` is afterwards."""
    names: dict[str, Node] = field(default_factory=dict)
    """The names bound at a ``return``: what became of an argument."""
    at: int = 0
    """How many nodes the function had before: the clock."""
    place: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AttributeStore:
    """An attribute that is set, by assignment, ``setattr`` or ``register_buffer``."""

    owner: Node
    word: str
    value: Node
    guards: Guards
    at: int
    """How many nodes the function had before: the clock."""
    is_part: bool = False
    """Whether it is a buffer, which moves with its module."""
    place: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MemoryWrite:
    """A write into what an object holds: ``x[i] = v``, ``x += v``, ``x.add_(v)``, ``out=x``."""

    target: Node
    """The object before."""
    value: Node | None
    place: Span | None
    at: int
    """How many nodes the function had before: the clock."""


class FunctionGraph:
    """A function, a lambda, or the body of a module; lowered when somebody asks for what is in it."""

    __slots__ = (
        "bodies", "by_syntax", "calls", "cls", "decorated", "decorators", "definitions", "end", "file", "global_stores",
        "guards", "handlers", "identity", "is_async", "is_lowered", "loops", "name", "nodes", "parameters", "params",
        "parent", "returns", "returns_annotation", "signs", "snapshots", "stores", "tree", "turned", "writes", "yields",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        tree: ast.AST | None,
        file: ModuleGraph,
        cls: ClassGraph | None,
        parent: FunctionGraph | None,
        identity: int,
    ) -> None:
        """Begin; ``tree`` is the syntax to lower, ``parent`` the function around, None for a module's body.

        ``identity`` is the number of the function in its file, the same as long as the text is.
        """
        self.name, self.tree, self.file, self.cls, self.parent, self.identity = name, tree, file, cls, parent, identity
        self.is_lowered = False
        self.is_async = isinstance(tree, ast.AsyncFunctionDef)
        self.signs: frozenset[str] = frozenset()
        """Last words of its decorators: ``property``, ``no_grad``."""
        self.decorators: tuple[Node, ...] = ()
        """Nodes of the function around, first one outermost."""
        self.decorated: Node | None = None
        """What the decorators make of it, where some are more than signs."""
        self.parameters: list[FormalParameter] = []
        self.returns_annotation: Node | None = None
        self.params: dict[str, Node] = {}
        self.nodes: list[Node] = []
        self.returns: list[FunctionExit] = []
        self.yields: list[FunctionExit] = []
        self.end: FunctionExit | None = None
        """Where the last statement leaves, if it is ever reached; its value is None."""
        self.calls: list[Node] = []
        self.stores: list[AttributeStore] = []
        self.writes: list[MemoryWrite] = []
        self.global_stores: list[Node] = []
        """What the function binds names of its module to."""
        self.definitions: dict[str, list[Node]] = {}
        """All that a name is bound to, joins included, for readers from outside of the function."""
        self.guards: dict[Node, Guards] = {}
        """The tests on the way to a call, where there are any."""
        self.handlers: dict[Node, tuple[Node | None, ...]] = {}
        """The exceptions that are caught around a call, innermost first; None for a bare ``except``."""
        self.loops: list[tuple[int, int]] = []
        """The loops, as ranges of nodes."""
        self.snapshots: dict[Node, dict[str, Node]] = {}
        """Of a module's body: what its names are bound to when a call is reached."""
        self.bodies: list[FunctionGraph] = []
        """The functions and lambdas that are written directly inside."""
        self.by_syntax: dict[ast.AST, Node] = {}
        """The node of each expression of the syntax, names included, where the function was lowered from syntax."""
        self.turned: object = None
        """The edges turned around, once a forward query asked for them."""

    def __repr__(self) -> str:
        """Spell it for messages of tests."""
        return f"<function {self.qualified}>"

    @property
    def qualified(self) -> str:
        """Its name, with that of its class before it."""
        return f"{self.cls.name}.{self.name}" if self.cls else self.name

    @property
    def is_module(self) -> bool:
        """Whether this is a module's body."""
        return self.parent is None

    @property
    def is_lambda(self) -> bool:
        """Whether it is written as ``lambda``."""
        return self.name == "<lambda>"

    @property
    def is_static(self) -> bool:
        """Whether a method takes no object."""
        return "staticmethod" in self.signs or (self.cls is not None and self.name == "__new__")

    @property
    def is_class_method(self) -> bool:
        """Whether a method takes its class."""
        return "classmethod" in self.signs or self.name in ("__init_subclass__", "__class_getitem__")

    @property
    def takes_object(self) -> bool:
        """Whether the first parameter is the object or the class."""
        return self.cls is not None and not self.is_static and not self.is_lambda


class ClassGraph:
    """A class: its bases, methods, and what its body binds."""

    __slots__ = (
        "annotations",
        "at",
        "attributes",
        "bases",
        "decorators",
        "file",
        "identity",
        "keywords",
        "methods",
        "name",
        "parent",
    )

    def __init__(self, name: str, file: ModuleGraph, parent: FunctionGraph, identity: int, at: Span | None) -> None:
        """Begin; ``parent`` is the function whose statement it is."""
        self.name, self.file, self.parent, self.identity, self.at = name, file, parent, identity, at
        self.methods: dict[str, FunctionGraph] = {}
        """By name; of two with one name the last."""
        self.attributes: dict[str, list[Node]] = {}
        """What the body binds, methods included, joins included."""
        self.bases: tuple[Node, ...] = ()
        self.keywords: dict[str, Node] = {}
        """``metaclass=`` and others."""
        self.annotations: dict[str, Node] = {}
        """Annotated names of the body in order: the fields of a dataclass or a named tuple."""
        self.decorators: tuple[Node, ...] = ()

    def __repr__(self) -> str:
        """Spell it for messages of tests."""
        return f"<class {self.name}>"
