"""Who uses a node: a function's edges turned around, and the places at which values leave it, found once a function."""

from __future__ import annotations

from torchlint.semantic.graph import FREE, GLOBAL, AttributeStore, CallArguments, FunctionGraph, MemoryWrite, Node
from torchlint.semantic.lowering import lower


class TurnedEdges:
    """The users of each node of a function, in order, and what happens to nodes outside of the list of nodes."""

    __slots__ = ("captured", "fn", "global_stores", "returned", "stored_in", "users", "writes", "yielded")

    def __init__(self, fn: FunctionGraph) -> None:
        """Turn the edges of a function that is lowered."""
        self.fn = fn
        self.users: dict[Node, list[Node]] = {}
        for node in fn.nodes:
            for source in dict.fromkeys(node.sources()):
                self.users.setdefault(source, []).append(node)
        self.returned = frozenset(each.value for each in fn.returns)
        self.yielded = frozenset(each.value for each in fn.yields)
        self.global_stores = frozenset(fn.global_stores)
        self.stored_in: dict[Node, list[AttributeStore]] = {}
        """By value the attributes that are set to it."""
        for store in fn.stores:
            self.stored_in.setdefault(store.value, []).append(store)
        self.writes: dict[Node, list[MemoryWrite]] = {}
        """By what is written into."""
        for write in fn.writes:
            self.writes.setdefault(write.target, []).append(write)
        self.captured: dict[Node, list[Node]] = {}
        """By value the nodes of inner functions that read it."""
        for word, reader in _readers(fn):
            for value in fn.definitions.get(word, ()):
                self.captured.setdefault(value, []).append(reader)


def _readers(fn: FunctionGraph) -> list[tuple[str, Node]]:
    """Return the nodes that read a variable of the function from inside of another, a module's from its own file."""
    if fn.is_module:
        return [
            (str(each.data), each) for inner in fn.file.functions for each in lower(inner).nodes if each.op == GLOBAL
        ]
    found, inside = [], list(fn.bodies)
    while inside:
        inner = lower(inside.pop())
        inside += inner.bodies
        for node in inner.nodes:
            owner, word = node.data if node.op == FREE and isinstance(node.data, tuple) else (None, "")
            found += [(word, node)] if owner is fn else []
    return found


def turned_edges(fn: FunctionGraph) -> TurnedEdges:
    """Return the turned edges of a function, kept with it."""
    if not isinstance(fn.turned, TurnedEdges):
        fn.turned = TurnedEdges(lower(fn))
    return fn.turned


def is_argument(node: Node, call: Node) -> bool:
    """Whether a node is handed to a call as an argument."""
    return isinstance(call.data, CallArguments) and any(each is node for each in call.data.all())


def is_spread_out(node: Node, call: Node) -> bool:
    """Whether the members of a node are handed to a call, by one star or two."""
    given = call.arguments
    return any(each is node for each in (*given.spread, *(given.positional[at] for at in given.starred)))


def node_of_write(write: MemoryWrite) -> Node:
    """Return the node that stands for the object after a write, or for the call that writes; else what is written into.

    It is the first user of what is written into that the function made at the place of the write.
    """
    users = turned_edges(write.target.fn).users.get(write.target, ())
    near = [each for each in users if abs(each.index - write.at) <= 1]
    return next((each for each in (*near, *users) if each.at is write.place), write.target)
