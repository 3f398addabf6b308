"""Where memory is made: from a value back along copies and views, into callees and out again, to what it may lie in.

Two values may share memory if their roots meet. Parameters of one function are taken for memories of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.flow.call_frames import CallFrame, CallKnowledge
from torchlint.flow.memory_handings import inside
from torchlint.flow.root_meetings import UNKNOWN, MemoryRoot
from torchlint.flow.steps_back import STEPS_BACK, Place
from torchlint.flow.turned_edges import turned_edges
from torchlint.semantic.effect_words import GROWING, SPREADING
from torchlint.semantic.graph import ATTR, CALL, GROW, SPREAD, Node
from torchlint.values.asking import ANY_ELEMENT, Path

_LONGEST: Final = 5
_SHIFTING: Final = frozenset("insert pop popleft appendleft extendleft remove sort reverse rotate clear".split())
"""Methods after which members stand elsewhere in a list."""
_FILLING: Final = GROWING | SPREADING
_MOST_STEPS: Final = 3_000
"""A walk that takes more ends in the unknown."""


class MemoryRoots:
    """The walk back, with its answers kept."""

    def __init__(self, knowledge: CallKnowledge) -> None:
        """Begin with nothing known."""
        self.knowledge = knowledge
        self._known: dict[Place, tuple[MemoryRoot, ...]] = {}

    def roots(self, node: Node, path: Path = (), frame: CallFrame | None = None) -> tuple[MemoryRoot, ...]:
        """Return where the memory of what a path leads to from a node may come from; ANY_DEPTH asks for all in it."""
        start = (node, path, frame)
        if start not in self._known:
            self._known[start] = tuple(dict.fromkeys(self._walk(start)))
        return self._known[start]

    def _walk(self, start: Place) -> Iterator[MemoryRoot]:
        todo, seen = [start], {start}
        while todo:
            here = _in_any_order(*todo.pop())
            if len(seen) > _MOST_STEPS:
                yield MemoryRoot(UNKNOWN, start[0])
                return
            for step in (*_put_elsewhere(*here), *STEPS_BACK[here[0].op](self.knowledge, *here)):
                if isinstance(step, MemoryRoot):
                    yield step
                elif (place := (step[0], step[1][:_LONGEST], step[2])) not in seen:
                    seen.add(place)
                    todo.append(place)


def _put_elsewhere(node: Node, path: Path, frame: CallFrame | None) -> Iterator[Place | MemoryRoot]:
    """Yield what else is put into a container: by functions written inside, by who is handed its ``append``."""
    edges = turned_edges(node.fn)
    for user in edges.users.get(node, ()) if path else ():
        uses = edges.users.get(user, ()) if user.op == ATTR and user.data in _FILLING else ()
        if any(each.op != CALL or each.ins[0] is not user for each in uses):
            yield MemoryRoot(UNKNOWN, user)
    for reader in edges.captured.get(node, ()) if path and not node.fn.is_module else ():
        for grown in turned_edges(reader.fn).users.get(reader, ()):
            if grown.op in (GROW, SPREAD) and grown.ins[0] is reader:
                yield grown.ins[1], (path if grown.op == SPREAD else inside(path)), frame


def _in_any_order(node: Node, path: Path, frame: CallFrame | None) -> Place:
    """Return a place, without the position in a list whose members change their positions."""
    if path and isinstance(path[0], int):
        users = turned_edges(node.fn).users.get(node, ())
        if any(each.op == ATTR and each.data in _SHIFTING for each in users):
            return node, (ANY_ELEMENT, *path[1:]), frame
    return node, path, frame
