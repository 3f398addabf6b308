"""What names are bound to at a place of a function, and what they are where ways meet."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from torchlint.semantic import graph as g
from torchlint.semantic.effect_words import SETTERS
from torchlint.semantic.graph import AttributeStore, FunctionGraph, Node, ProcessState, Span

if TYPE_CHECKING:
    from torchlint.semantic.lowering_state import Lowering

DEEPEST_SPELLING = 3
"""Dotted names of more dots than this are no variables."""
_MOST_MEMBERS = 12
_KEPT = frozenset((g.INPLACE, g.SETTER, g.GROW, g.SPREAD))
"""Changes that stay in an object, whoever holds it."""
_CHANGES = _KEPT | {g.PI, g.EFFECT}


class Bindings:
    """Names and dotted names with what they are bound to here, and the variables of the process.

    Copies share their dictionaries until one of them is written.
    """

    __slots__ = ("attributes", "names", "owns_attributes", "owns_names", "state")

    def __init__(self, names: dict[str, Node], attributes: dict[str, Node], state: ProcessState) -> None:
        """Take dictionaries that somebody else may hold as well."""
        self.names, self.attributes, self.state = names, attributes, state
        self.owns_names = self.owns_attributes = False

    def fork(self) -> Bindings:
        """Copy for another way."""
        self.owns_names = self.owns_attributes = False
        return Bindings(self.names, self.attributes, self.state)

    def set_name(self, word: str, value: Node) -> None:
        """Bind a name, and leave its dotted names alone."""
        if not self.owns_names:
            self.names, self.owns_names = dict(self.names), True
        self.names[word] = value

    def forget_name(self, word: str) -> None:
        """Take out a name if it is here."""
        if word in self.names:
            if not self.owns_names:
                self.names, self.owns_names = dict(self.names), True
            del self.names[word]

    def set_attribute(self, spelled: str, value: Node) -> None:
        """Bind a dotted name."""
        if not self.owns_attributes:
            self.attributes, self.owns_attributes = dict(self.attributes), True
        self.attributes[spelled] = value

    def drop(self, spelled: str) -> None:
        """Forget a dotted name and those that begin with it."""
        self.drop_under(spelled)
        if spelled in self.attributes:
            self.set_attribute(spelled, self.attributes[spelled])  # now the dictionary is its own
            del self.attributes[spelled]

    def forget_attributes(self) -> None:
        """Forget all dotted names."""
        self.attributes, self.owns_attributes = {}, True

    def drop_under(self, spelled: str) -> None:
        """Forget the dotted names that begin with a name: it is another object now, or has changed."""
        if self.attributes:
            prefix = spelled + "."
            kept = {word: value for word, value in self.attributes.items() if not word.startswith(prefix)}
            if len(kept) != len(self.attributes):
                self.attributes, self.owns_attributes = kept, True


def dotted(node: ast.expr) -> str | None:
    """Spell a name or a chain of attributes on one; None for other expressions."""
    words: list[str] = []
    while type(node) is ast.Attribute:
        words.append(node.attr)
        node = node.value
    if type(node) is not ast.Name:
        return None
    if not words:
        return node.id
    words.append(node.id)
    return ".".join(reversed(words))


def unnarrowed(node: Node) -> Node:
    """Return what was narrowed by tests."""
    while node.op == g.PI:
        node = node.ins[0]
    return node


def same_object(one: Node, two: Node) -> bool:
    """Whether two nodes are one object at two times, as far as the graph alone tells."""
    return one is two or _object(one, 0) is _object(two, 0)


def _object(node: Node, depth: int) -> Node:
    while node.op in _CHANGES:
        node = node.ins[0]
    if node.op in (g.PHI, g.GAMMA) and depth < 4 and 0 < len(node.ins) < 9:
        roots = {_object(each, depth + 1) for each in node.ins}
        if len(roots) == 1:
            return roots.pop()
    return node


# ---------------------------------------------------------------------- names
def lookup(st: Lowering, word: str, at: Span | None) -> Node:
    """Return what a name is bound to here."""
    found = st.env.names.get(word)
    is_shared = word in st.shared and st.cls is None and word not in st.hidden and word not in st.outside
    if found is not None and is_shared and st.fn.parent is not None:
        return st.node(g.FREE, (), (st.fn, word), at)
    if found is not None:
        return st.node(g.GLOBAL, (), word, at) if is_shared else found
    if word in st.outside:
        owner = st.outside[word]
        return st.node(g.GLOBAL, (), word, at) if owner.parent is None else st.node(g.FREE, (), (owner, word), at)
    around = st.fn.parent
    while around is not None and around.parent is not None:
        if word in around.definitions:
            return st.node(g.FREE, (), (around, word), at)
        around = around.parent
    return st.node(g.GLOBAL, (), word, at)


def is_own(st: Lowering, word: str) -> bool:
    """Whether a name is bound by this function, or by the class whose body is being lowered."""
    return word in (st.fn.definitions if st.cls is None else st.cls.attributes)


def _define(st: Lowering, word: str, value: Node) -> None:
    (st.fn.definitions if st.cls is None else st.cls.attributes).setdefault(word, []).append(value)


def bind(st: Lowering, word: str, value: Node) -> None:
    """Bind a name to another object."""
    if st.targets is not None:  # a name of a comprehension: nobody else sees it
        st.targets.append((word, value))
    elif word in st.outside:
        owner = st.outside[word]
        owner.definitions.setdefault(word, []).append(value)
        if owner.parent is None:
            st.fn.global_stores.append(value)
    else:
        _define(st, word, value)
    if st.targets is None:
        written(st, word, value)
    st.env.set_name(word, value)
    st.env.drop_under(word)


def rebind(st: Lowering, word: str, value: Node) -> None:
    """Give a name the next state of its object; of a name that is not bound here, only for this function."""
    if word in st.outside:
        return
    before = st.env.names.get(word)
    if is_own(st, word):
        _define(st, word, value)
    elif value.op in _KEPT:
        _tell_owner(st, word, value)
    written(st, word, value)
    st.env.set_name(word, value)
    st.env.drop_under(word)
    if before is not None and value.op in _TOLD:
        tell_others(st, before, value)


def tell_others(st: Lowering, before: Node, after: Node) -> None:
    """Give the other names of an object its next state, its views too, and what it is a part of the changed part."""
    while True:
        before = unnarrowed(before)
        for other, value in list(st.env.names.items()):
            if value is after:
                continue
            if unnarrowed(value) is before:
                _become(st, other, after)
            elif after.op != g.EFFECT and _is_view(value, before):
                _become(st, other, st.node(g.GROW, (value, after), g.OF_WHOLE, after.at))
            elif after.op == g.INPLACE and after.data == "requires_grad_" and _is_made_of(value, before):
                _become(st, other, st.node(g.GROW, (value, after), g.OF_PART, after.at))
        owner = whole_of(before)
        if owner is None:
            return
        if before.op == g.ATTR and before.data not in _TURNED:
            if after.op != g.EFFECT and before.data not in SETTERS:
                st.fn.stores.append(AttributeStore(owner, str(before.data), after, st.guards, len(st.nodes)))
            return
        key = before.data if before.op in (g.INDEX, g.ITEM) and before.data is not None else g.SLICE
        grown = st.node(g.GROW, (owner, after), key, after.at)
        is_sure = before.op != g.INDEX or key is not g.ANYKEY  # an index that is a tensor makes a copy
        tell_members(st, owner, after)
        before, after = owner, grown if is_sure else st.node(g.PHI, (owner, grown), None, after.at)


def tell_members(st: Lowering, container: Node, after: Node) -> None:
    """Give the names of what a container holds the state in which one of its members, or each, was left."""
    members: set[Node] = set()
    for _ in range(_MOST_MEMBERS):
        if container.op in (g.SEQUENCE, g.DICT):
            members.update(map(unnarrowed, container.ins))
        elif container.op == g.GROW:
            members.add(unnarrowed(container.ins[1]))
        if container.op not in _CHANGES:
            break
        container = container.ins[0]
    for other, value in list(st.env.names.items()) if members else ():
        if unnarrowed(value) in members:
            _become(st, other, st.node(g.PHI, (value, after), None, after.at))


def _become(st: Lowering, word: str, value: Node) -> None:
    written(st, word, value)
    st.env.set_name(word, value)


def _is_made_of(node: Node, part: Node) -> bool:
    """Whether a node is an object whose constructor was handed a part."""
    made, part = _object(node, 0), _object(part, 0)
    while made.op == g.CALL and made.ins[0].op == g.ATTR and made.ins[0].data in _ITSELF:
        made = _object(made.ins[0].ins[0], 0)
    return made.op == g.CALL and any(_object(each, 0) is part for each in made.arguments.all())


def _is_view(node: Node, whole: Node) -> bool:
    part: Node | None = unnarrowed(node)
    while part is not None and (part.op != g.ATTR or part.data in _TURNED):
        part = whole_of(part)
        if part is not None and (part := unnarrowed(part)) is whole:
            return True
    return False


def shared_with(st: Lowering, word: str) -> list[str]:
    """Return the names that share memory with what a name is bound to here."""
    found = st.env.names.get(word)
    if found is None:
        return []
    found, shared = unnarrowed(found), []
    for other, value in st.env.names.items():
        if other != word and (
            unnarrowed(value) is found or _is_view(value, found) or _is_view(found, unnarrowed(value))
        ):
            shared.append(other)
    return shared


def whole_of(part: Node) -> Node | None:
    """Return what a node is a part of, or a view: what a change of it changes; None where there is no such thing."""
    if part.op in (g.INDEX, g.ITEM, g.ATTR):
        return part.ins[0]
    if part.op != g.CALL or part.ins[0].op != g.ATTR or part.ins[0].data not in VIEWING:
        return None
    given = part.arguments
    if given.spelled.startswith("torch."):
        return given.positional[0] if given.positional else None
    return part.ins[0].ins[0]


_ITSELF = frozenset(("requires_grad_", "eval", "train"))
"""Methods of modules that give the module itself."""
_TURNED = frozenset(("T", "mT", "H", "mH"))
_TOLD = _KEPT | {g.EFFECT}
VIEWING = frozenset((
    "view", "t", "reshape", "transpose", "permute", "squeeze", "unsqueeze", "narrow", "flatten", "swapaxes", "movedim",
    "view_as", "unfold", "diagonal", "select", "ravel", "contiguous",
))  # fmt: skip
"""Methods of tensors that give, or may give, another view of the same memory."""


def _tell_owner(st: Lowering, word: str, value: Node) -> None:
    """Add what was put into an object that a function around holds, to what the name is bound to there."""
    root = _object(value, 0)
    owner = st.fn.file.body if root.op == g.GLOBAL else None
    if root.op == g.FREE and isinstance(root.data, tuple):
        owner = root.data[0]
    if owner is not None and owner is not st.fn and word in owner.definitions:
        owner.definitions[word].append(value)
        if owner.parent is None:
            st.fn.global_stores.append(value)


def bind_attribute(st: Lowering, spelled: str, value: Node) -> None:
    """Bind a dotted name."""
    if spelled.count(".") <= DEEPEST_SPELLING:
        written(st, spelled, value)
        st.env.drop_under(spelled)
        st.env.set_attribute(spelled, value)


def written(st: Lowering, word: str, value: Node) -> None:
    """Tell the ``try`` statements around that a name was bound in their body."""
    st.writes += 1
    if st.cls is None:
        for each in st.attempts:
            each.written.setdefault(word, []).append(value)


def narrow_name(st: Lowering, spelled: str, value: Node) -> None:
    """Bind a name or dotted name to itself as a test leaves it."""
    if "." in spelled:
        st.env.set_attribute(spelled, value)
    else:
        st.env.set_name(spelled, value)


def bound(st: Lowering, spelled: str) -> Node | None:
    """Return what a name or dotted name is bound to here; None where that is not known."""
    return (st.env.attributes if "." in spelled else st.env.names).get(spelled)


def read_dotted(st: Lowering, spelled: str, at: Span | None) -> Node:
    """Return what a dotted name leads to here, whether it is bound or not."""
    found = bound(st, spelled)
    if found is not None:
        return found
    owner, _, word = spelled.rpartition(".")
    return st.node(g.ATTR, (read_dotted(st, owner, at),), word, at) if owner else lookup(st, word, at)


# ---------------------------------------------------------------------- joins
def join(st: Lowering, ways: Iterable[Bindings | None], test: Node | None = None) -> None:
    """Go on where ways meet; ``test`` is what chose between two of them."""
    live = [each for each in ways if each is not None]
    if not live:
        st.enter(None)
    elif len(live) == 1:
        st.enter(live[0])
    else:
        names = _join_names(st, [each.names for each in live], test)
        attributes = _join_attributes(st, [each.attributes for each in live], test)
        states = [each.state for each in live]
        st.enter(Bindings(names, attributes, states[0]))
        st.env.state = join_states(st, states, test)


def join_states(st: Lowering, states: Sequence[ProcessState], test: Node | None) -> ProcessState:
    """Return the variables of the process where ways meet."""
    if all(each is states[0] for each in states):
        return states[0]
    return ProcessState(
        merge(st, [each.grad for each in states], test),
        merge(st, [each.device for each in states], test),
        merge(st, [each.dtype for each in states], test),
    )


def resume(st: Lowering, made: Node) -> None:
    """Go on where somebody resumes the function: grad mode may be another one than before."""
    state = st.env.state
    st.env.state = ProcessState(st.node(g.AFTER, (state.grad, made), g.GRAD, made.at), state.device, state.dtype)


def merge(st: Lowering, values: Sequence[Node], test: Node | None = None) -> Node:
    """Return one node for what arrives on several ways."""
    first = values[0]
    distinct = list(dict.fromkeys(values))
    if len(distinct) == 1:
        return first
    base = unnarrowed(first)
    if all(unnarrowed(each) is base for each in distinct):
        return base
    if test is not None and len(values) == 2:
        return st.node(g.GAMMA, tuple(values), test, first.at)
    return st.node(g.PHI, tuple(distinct), None, first.at)


def _join_names(st: Lowering, ways: list[dict[str, Node]], test: Node | None) -> dict[str, Node]:
    first = ways[0]
    if all(each is first for each in ways):
        return first
    own = st.fn.definitions if st.cls is None else st.cls.attributes
    words: Iterable[str] = dict.fromkeys(word for each in ways for word in each)
    joined: dict[str, Node] = {}
    if len(ways) == 2:
        words = []
        for word, value in first.items():
            if ways[1].get(word) is value:
                joined[word] = value
            else:
                words.append(word)
        words += [word for word in ways[1] if word not in first]
    for word in words:
        values = [found for each in ways if (found := each.get(word)) is not None]
        value = values[0]
        if len(values) != len(ways) and word not in own and word not in st.hidden:
            continue  # it was only narrowed or changed on a way: elsewhere it is what it is outside
        if any(each is not value for each in values):
            value = merge(st, values, test if len(values) == len(ways) else None)
            if value.op in (g.PHI, g.GAMMA) and word in own:
                own[word].append(value)
        joined[word] = value
    return joined


def _join_attributes(st: Lowering, ways: list[dict[str, Node]], test: Node | None) -> dict[str, Node]:
    first = ways[0]
    if all(each is first for each in ways):
        return first
    joined: dict[str, Node] = {}
    for spelled, value in first.items():
        values = [found for each in ways if (found := each.get(spelled)) is not None]
        if len(values) == len(ways):
            joined[spelled] = value if all(each is value for each in values) else merge(st, values, test)
    return joined


def owner_of_nonlocal(fn: FunctionGraph, word: str) -> FunctionGraph | None:
    """Return the function around that binds a name which is declared ``nonlocal``."""
    around = fn.parent
    while around is not None and around.parent is not None:
        if word in around.definitions:
            return around
        around = around.parent
    return None
