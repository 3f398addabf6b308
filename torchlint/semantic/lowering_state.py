"""Where the lowering of one function stands: bindings, the tests on the way, and the blocks around."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set
from typing import Any, Final

from torchlint.semantic.bound_names import Bindings
from torchlint.semantic.graph import OPAQUE, ClassGraph, FunctionGraph, Guards, Node, ProcessState, Span

STATEMENTS: Final[dict[type[ast.stmt], Callable[[Lowering, Any], None]]] = {}
EXPRESSIONS: Final[dict[type[ast.expr], Callable[[Lowering, Any], Node]]] = {}
"""What lowers each type of syntax; the modules that know the types fill these when they are imported."""

_DEEP: Final = 60
"""From this nesting on, chains that lean to the left are lowered by a loop."""
_TOO_DEEP: Final = 400
"""Expressions nested deeper are opaque. It is a count of syntax, so that the graph depends on the text alone."""
_MOST_SNAPSHOT_ENTRIES: Final = 300_000
"""Names in all snapshots of a module's body; calls behind that have none."""


class Frame:
    """A block that is left in other ways than by its end: a loop, a ``with`` or a ``try``."""

    __slots__ = ("breaks", "continues", "is_loop", "leaving")

    def __init__(self, is_loop: bool = False) -> None:
        """Begin with nobody leaving."""
        self.is_loop = is_loop
        self.breaks: list[Bindings] = []
        self.continues: list[Bindings] = []
        self.leaving: list[Bindings] = []
        """The bindings on the ways that leave through a ``with`` or ``finally``, which changes them."""


class Attempt:
    """The body of a ``try``: any state of it may arrive at a handler."""

    __slots__ = ("before", "states", "written")

    def __init__(self, before: Bindings) -> None:
        """Begin with the bindings before the body."""
        self.before = before
        self.written: dict[str, list[Node]] = {}
        self.states: list[ProcessState] = []


class Lowering:
    """The state of one pass over a function; free functions in the modules beside work on it."""

    __slots__ = (
        "annotation", "around", "attempts", "by_syntax", "caught", "changes", "cls", "depth", "env", "exits", "fn",
        "frames", "guards", "hidden", "live", "nodes", "outer_names", "outside", "shared", "snapshot",
        "snapshot_entries", "statement", "targets", "used_up", "writes",
    )  # fmt: skip

    def __init__(self, fn: FunctionGraph, env: Bindings) -> None:
        """Begin at the head of a function."""
        self.fn, self.env = fn, env
        self.nodes, self.by_syntax = fn.nodes, fn.by_syntax
        self.live = True
        """Whether the place that is lowered is ever reached."""
        self.guards: Guards = ()
        self.frames: list[Frame] = []
        self.attempts: list[Attempt] = []
        self.caught: tuple[Node | None, ...] = ()
        self.cls: ClassGraph | None = None
        """The class whose body is being lowered."""
        self.outside: dict[str, FunctionGraph] = {}
        """Names declared ``global`` or ``nonlocal``, with the function that they belong to."""
        self.shared: Set[str] = fn.file.outline.shared.get(fn.tree, set()) if fn.tree is not None else set()
        """The names that functions inside bind or change: at any time they are what any of these made of them."""
        self.used_up: ast.expr | None = None
        """The generator that the call around goes through at once."""
        self.targets: list[tuple[str, Node]] | None = None
        """Where the names of a comprehension go while they are bound."""
        self.hidden: frozenset[str] = frozenset()
        """The names of the comprehensions around."""
        self.exits: list[tuple[Node, Guards, Bindings, int, ast.Return | ast.expr]] = []
        self.statement: ast.expr | None = None
        """The call that is a statement by itself."""
        self.outer_names: dict[str, Node] | None = None
        """The module's names while a class body or comprehension of it is lowered."""
        self.around: dict[str, Node] | None = None
        """The names outside of the class bodies that are being lowered: comprehensions and classes in one see these."""
        self.snapshot: dict[str, Node] | None = None
        self.snapshot_entries = 0
        self.annotation = ""
        """``annotation`` inside of one, ``text`` in one that is a text, ``literal`` in the data of one, else empty."""
        self.changes: dict[ast.AST, object] = {}
        self.depth = 0
        self.writes = 0
        """How many bindings were made: where it is the same, nothing changed."""

    def node(self, op: str, ins: tuple[Node, ...] = (), data: object = None, at: Span | None = None) -> Node:
        """Make a node behind all others."""
        made = Node(op, ins, data, at, self.fn, self.env.state)
        made.index = len(self.nodes)
        self.nodes.append(made)
        return made

    def expr(self, node: ast.expr) -> Node:
        """Lower an expression; one that was lowered before is not lowered again."""
        found = self.by_syntax.get(node)
        if found is not None:
            return found
        self.depth += 1
        if self.depth > _DEEP:
            self._descend(node)
        handler = EXPRESSIONS.get(type(node)) if self.depth <= _TOO_DEEP else None
        made = handler(self, node) if handler is not None else self.node(OPAQUE, (), None, node)
        self.depth -= 1
        self.by_syntax[node] = made
        return made

    def _descend(self, node: ast.expr) -> None:
        """Lower what a long chain of operations, calls or attributes begins with first, so that nothing recurs."""
        chain: list[ast.expr] = []
        inner: ast.expr | None = _left(node)
        while inner is not None and inner not in self.by_syntax:
            chain.append(inner)
            inner = _left(inner)
        while chain:
            self.expr(chain.pop())

    def enter(self, env: Bindings | None) -> None:
        """Go on with bindings; None where nobody arrives."""
        self.live = env is not None
        if env is not None:
            self.env = env

    def taken(self) -> Bindings | None:
        """Return the bindings at the end of a way; None where nobody arrives."""
        return self.env if self.live else None

    def block(self, body: list[ast.stmt]) -> None:
        """Lower statements as far as they are reached."""
        guards = self.guards
        for each in body:
            if not self.live:
                break
            handler = STATEMENTS.get(type(each))
            if handler is not None:
                handler(self, each)
        self.guards = guards

    def taken_snapshot(self) -> dict[str, Node] | None:
        """Return what the module's names are bound to, shared while nothing changes; None late in a huge text."""
        if self.snapshot_entries > _MOST_SNAPSHOT_ENTRIES:
            return None
        names = self.outer_names
        if names is None:
            names = self.env.names
            self.env.owns_names = False
        if names is not self.snapshot:
            self.snapshot = names
            self.snapshot_entries += len(names)
        return names


def _left(node: ast.expr) -> ast.expr | None:
    kind = type(node)
    if kind is ast.BinOp:
        return node.left  # type: ignore[attr-defined, no-any-return]
    if kind is ast.Attribute or kind is ast.Subscript:
        return node.value  # type: ignore[attr-defined, no-any-return]
    if kind is ast.Call:
        inner: ast.expr = node.func  # type: ignore[attr-defined]
        return inner.value if isinstance(inner, ast.Attribute) else inner
    return None
