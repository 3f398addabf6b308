"""Where a value goes: along copies and views, into containers and callees and out again, and out of its function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from torchlint.facts.flow_specifications import BOUND, CAPTURED, PASSED, RETURNED, STORED, YIELDED
from torchlint.flow import memory_handings
from torchlint.flow.answers import by_operation
from torchlint.flow.call_frames import CallFrame, CallKnowledge
from torchlint.flow.memory_handings import step_of
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE, PARAMETER, SHARED, may_be_same
from torchlint.flow.turned_edges import is_argument, is_spread_out, turned_edges
from torchlint.models.operation_sets import SHARES_MEMORY
from torchlint.semantic import graph as g
from torchlint.semantic.graph import AttributeStore, FormalParameter, Node, Span
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.asking import ANY_ELEMENT, Selector

_DEEPEST: Final = 3
"""Containers in containers that are told apart."""
_MOST_STEPS: Final = 2_000


class Position(NamedTuple):
    """A value on its way."""

    node: Node
    held: int = 0
    """In how many containers it lies there; 0 where the node is the value."""
    frame: CallFrame | None = None
    """The call through which the node's function was entered."""
    doubt: Node | None = None
    """What the way rests on without being known."""
    change: Node | None = None
    """What the query calls a change, where the way led through one."""
    step: Selector = ANY_ELEMENT
    """Under what the outermost container holds it."""
    before: Position | None = None

    def at(
        self,
        node: Node,
        held: int = 0,
        frame: CallFrame | None = None,
        doubt: Node | None = None,
        step: Selector = ANY_ELEMENT,
    ) -> Position:
        """Return the next position."""
        held = min(held, _DEEPEST)
        return Position(node, held, frame, self.doubt or doubt, self.change, step, self)

    def same(self, node: Node, frame: CallFrame | None) -> Position:
        """Return the next position, at which nothing is otherwise than here."""
        return self.at(node, self.held, frame, None, self.step)

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two positions the same."""
        return self.node, self.held, self.frame, self.doubt is not None, self.change is not None, self.step


class Leaving(NamedTuple):
    """A way on which a value leaves what is followed."""

    way: str
    node: Node
    """Where it leaves."""
    position: Position
    place: Span | None = None
    """Where that is written, where the node is not it: the attribute that an object keeps it by."""


class ValueUse(NamedTuple):
    """A node that a value goes into; a method call is a use of its object."""

    position: Position
    node: Node


def _ended(*_: object) -> bool:
    return False


class ForwardWalk:
    """One walk from a value on."""

    def __init__(
        self,
        knowledge: CallKnowledge,
        roots: MemoryRoots,
        follows: Callable[[ValueUse], bool | Position],
        *,
        is_computed: bool = False,
    ) -> None:
        """Prepare; ``follows`` is shown each use, and says whether the walk goes on there, or with which position.

        With ``is_computed`` the walk follows what is computed from the value, else only what may share its memory;
        ``follows`` may set it for the use that it is shown.
        """
        self.knowledge, self.roots = knowledge, roots
        self._follows, self.is_computed = follows, is_computed
        self.on_store: Callable[[Position, AttributeStore], object] = _ended
        """Is told of each attribute that is set to the value, or to what holds it."""
        self._todo: list[Position] = []
        self._seen: set[tuple[object, ...]] = set()

    def run(self, start: Node, held: int = 0) -> Iterator[Leaving]:
        """Follow a value, or what lies in a container; yield the ways on which it leaves. A walk runs once."""
        self.push(Position(start, held))
        try:
            yield from self._run(start)
        finally:  # who asks knows the walk as well
            self._follows, self.on_store = _ended, _ended

    def _run(self, start: Node) -> Iterator[Leaving]:
        while self._todo:
            here = self._todo.pop()
            if len(self._seen) > _MOST_STEPS:
                yield Leaving(PASSED, start, here._replace(doubt=start))
                return
            yield from _leaves(self, here)
            edges = turned_edges(here.node.fn)
            for user in edges.users.get(here.node, ()):
                yield from self._through(here, user)

    def _through(self, here: Position, user: Node) -> Iterator[Leaving]:
        if user.op == g.ATTR:
            for call in turned_edges(user.fn).users.get(user, ()):
                if call.op == g.CALL and call.ins[0] is user and (position := self._shown(here, call)) is not None:
                    yield from _handed(self, position, call)
        if (position := self._shown(here, user)) is not None:
            yield from _ROWS[user.op](self, position, user)

    def _shown(self, here: Position, user: Node) -> Position | None:
        following = self._follows(ValueUse(here, user))
        return following if isinstance(following, Position) else here if following else None

    @property
    def nodes(self) -> frozenset[Node]:
        """All nodes that the walk came to."""
        return frozenset(each for key in self._seen for each in key[:1] if isinstance(each, Node))

    def push(self, position: Position) -> None:
        """Go on at a position, once."""
        if position.key not in self._seen:
            self._seen.add(position.key)
            self._todo.append(position)


# ---------------------------------------------------------------------- out of the function
def _leaves(walk: ForwardWalk, here: Position) -> Iterator[Leaving]:
    node, frame = here.node, here.frame
    edges = turned_edges(node.fn)
    for way, given, deeper in ((RETURNED, edges.returned, 0), (YIELDED, edges.yielded, 1)):
        if node not in given:
            continue
        if frame is None or frame.function is not node.fn or frame.callee is None:
            yield Leaving(way, node, here, next((each.place for each in node.fn.returns if each.value is node), None))
        elif not frame.callee.is_constructor:
            walk.push(here.at(frame.call, here.held + deeper, frame.outer))
            if frame.callee.call is not frame.call:  # a callable that was handed over may give members of the result
                walk.push(here.at(frame.call, here.held + deeper + 1, frame.outer))
    for store in edges.stored_in.get(node, ()):
        walk.on_store(here, store)
        yield from _kept(walk, here, store.owner, frame, f".{store.word}")
    if node in edges.global_stores:
        yield Leaving(BOUND, node, here)
    for reader in edges.captured.get(node, ()):
        if not node.fn.is_module:
            yield Leaving(CAPTURED, reader, here)
        walk.push(here.same(reader, None))


def _kept(
    walk: ForwardWalk, here: Position, owner: Node, frame: CallFrame | None, step: Selector = ANY_ELEMENT
) -> Iterator[Leaving]:
    """Go on where the object or container is made that a value is put into, or say that others have it."""
    for root in walk.roots.roots(owner):
        if root.sort == MADE:
            inside = ANY_ELEMENT if root.path else step
            walk.push(here.at(root.via or root.node, here.held + 1, frame, None, inside))
        elif root.sort == PARAMETER and frame is not None and frame.function is root.node.fn:
            assert isinstance(root.node.data, FormalParameter)
            argument = frame.argument(root.node.data)
            if argument is not None and argument is frame.call:
                walk.push(here.at(argument, here.held + 1, frame.outer, None, step))
            elif argument is not None:
                yield from _kept(walk, here, argument, frame.outer, step)
            else:
                yield Leaving(STORED, owner, here._replace(doubt=here.doubt or root.node))
        else:
            doubt = None if root.sort in (PARAMETER, SHARED) else root.node
            yield Leaving(STORED, owner, here._replace(doubt=here.doubt or doubt))


# ---------------------------------------------------------------------- rows: what a user makes of it
def _same(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    if any(each is here.node for each in user.ins):
        walk.push(here.same(user, here.frame))
    yield from ()


def _entered(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    """Go on with what ``with`` binds: the manager itself, or what a generator yields."""
    for held in {here.held, max(here.held - 1, 0)}:
        walk.push(here.at(user, held, here.frame))
    yield from ()


def _version(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    """Go on with the next version of an object that was changed."""
    if user.ins[0] is here.node:
        walk.push(here.same(user, here.frame))
    elif user.op == g.INPLACE and walk.is_computed:
        walk.push(here.at(user, 0, here.frame))
    yield from ()


def _nothing(*_: object) -> Iterator[Leaving]:
    yield from ()


def _attribute(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    word = str(user.data)
    users = turned_edges(user.fn).users.get(user)
    if users and all(each.op == g.CALL and each.ins[0] is user for each in users):
        return  # a method: its calls were followed
    if here.held:
        if may_be_same(here.step, f".{word}"):
            walk.push(here.at(user, here.held - 1, here.frame))
    elif word in SHARES_MEMORY or word in memory_handings.ARRAY_VIEWS or walk.is_computed:
        walk.push(here.at(user, 0, here.frame))
    yield from ()


def _member(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    """Take it out of a container, or a row of a tensor."""
    if user.ins[0] is not here.node:
        return
    is_slice = user.op == g.INDEX and user.data is g.SLICE
    by = walk.knowledge.value(user.ins[1]) if user.op == g.INDEX and len(user.ins) > 1 and not is_slice else None
    selects = by is not None and by.must(a.TENSOR | a.ARRAY | a.SEQUENCE)
    if here.held:
        if not is_slice and user.op != g.ELEMENT and not may_be_same(here.step, step_of(user.data)):
            return
        walk.push(here.at(user, here.held - (not is_slice), here.frame))
        if here.held > 1 and not walk.knowledge.value(here.node).must(a.SEQUENCE):
            walk.push(here.at(user, 0, here.frame))  # an object may give what its own containers hold
    elif not selects or walk.is_computed:
        walk.push(here.at(user, 0, here.frame))
    yield from ()


def _operand(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    is_target = str(user.data).endswith("=") and user.ins[0] is here.node
    if user.op == g.OPERATION and (is_target or here.held):
        walk.push(here.same(user, here.frame))
    elif walk.is_computed:
        walk.push(here.at(user, 0, here.frame))
    yield from ()


def _contained(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    keys: Iterable[object] = user.data if user.op == g.DICT and isinstance(user.data, tuple) else range(len(user.ins))
    for key, each in zip(keys, user.ins, strict=False):
        if each is here.node and (user.op != g.COMPREHENSION or each is user.ins[0]):
            step = ANY_ELEMENT if user.op == g.COMPREHENSION else step_of(key)
            walk.push(here.at(user, here.held + 1, here.frame, None, step))
    yield from ()


def _grown(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    """Go on with the container; what is put into a tensor is copied."""
    before, member = user.ins[0], user.ins[1]
    if before is here.node:
        walk.push(here.same(user, here.frame))
    if member is here.node:
        if not walk.knowledge.value(before).must(a.TENSOR | a.ARRAY):
            is_member = user.op != g.SPREAD and user.data is not g.SLICE
            step = step_of(user.data) if is_member else ANY_ELEMENT
            walk.push(here.at(user, here.held + is_member, here.frame, None, step))
            yield from _kept(walk, here, before, here.frame, step)
        elif walk.is_computed:
            walk.push(here.at(user, 0, here.frame))


def _set(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    walk.push(here.at(user, here.held + (user.ins[0] is not here.node), here.frame))
    yield from ()


def _call(walk: ForwardWalk, here: Position, user: Node) -> Iterator[Leaving]:
    if is_argument(here.node, user):
        yield from _handed(walk, here, user)


def _handed(walk: ForwardWalk, here: Position, call: Node) -> Iterator[Leaving]:
    """Go into what a call runs, or on with what it gives back; ``here`` is an argument or the object of the method."""
    callees = walk.knowledge.callees(call)
    for callee in callees:
        frame = walk.knowledge.enter(callee, call, here.frame)
        into = list(_parameters(here, frame)) if frame is not None else []
        for position in into:
            walk.push(position)
        if not into:
            yield Leaving(PASSED, call, here._replace(doubt=here.doubt or call))
    if callees:
        return
    users = turned_edges(call.fn).users.get(here.node, ())
    grows = any(each.op in (g.GROW, g.SPREAD) and each.at is call.at for each in users)
    handings = list(memory_handings.handings(walk.knowledge, call))
    for handing in handings:
        if handing.sort == memory_handings.UNFAMILIAR:
            if not grows:
                walk.push(here.at(call, here.held, here.frame, call))
                yield Leaving(PASSED, call, here._replace(doubt=here.doubt or call))
            continue
        depth = memory_handings.depth_forward(handing.sort, here.held) if here.node in handing.sources else None
        if depth is not None:
            doubt = call if len(handings) > 1 and not walk.is_computed else None
            walk.push(here.at(call, depth, here.frame, doubt, _step_given(handing.sort, here, call)))
        elif walk.is_computed:
            walk.push(here.at(call, 0, here.frame))


def _step_given(sort: str, here: Position, call: Node) -> Selector:
    """Return under what the result of a call holds what its argument is or holds."""
    if sort in (memory_handings.VIEW, memory_handings.ALIKE):
        return here.step
    words = [word for word, each in call.arguments.keywords.items() if each is here.node]
    return f"={words[0]}" if words and sort == memory_handings.HOLDER else ANY_ELEMENT


def _parameters(here: Position, frame: CallFrame) -> Iterator[Position]:
    """Yield the parameters of a callee that a value is handed over for."""
    for parameter in lower(frame.function).params.values():
        formal = parameter.data
        assert isinstance(formal, FormalParameter)
        argument = frame.argument(formal)
        if argument is here.node:
            yield here.same(parameter, frame)
        elif argument is not None and argument.op == g.ELEMENT and argument.ins[0] is here.node:
            yield here.at(parameter, max(here.held - 1, 0), frame)
        elif argument is None and any(each is here.node for each in frame.collected(formal)):
            is_spread = here.held > 0 and is_spread_out(here.node, frame.call)
            yield here.at(parameter, here.held - is_spread + bool(formal.sort), frame)


_ROWS: Final = by_operation(
    "follow",
    {
        (g.PHI, g.GAMMA, g.PI, g.EITHER): _same,
        (g.ENTER,): _entered,
        (g.INPLACE, g.EFFECT): _version,
        (g.CONST, g.PARAM, g.GLOBAL, g.EXPORT, g.FREE, g.FUNCTION, g.DECORATED, g.CLASS, g.IMPORT): _nothing,
        (g.WITHIN, g.AFTER, g.ENTRY, g.UNDEFINED, g.OPAQUE): _nothing,
        (g.ATTR,): _attribute,
        (g.INDEX, g.ELEMENT, g.ITEM): _member,
        (g.CALL,): _call,
        (g.OPERATION, g.TRUTH): _operand,
        (g.SEQUENCE, g.DICT, g.COMPREHENSION): _contained,
        (g.GROW, g.SPREAD): _grown,
        (g.SETTER,): _set,
    },
)
