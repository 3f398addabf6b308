"""What a text says of where `None` may get to: a graph of places, what functions are given, and what they give.

Its nodes are a place that can be given something, with how deep is looked: whether it may *be* `None`, whether it may
*hold* it, as a list does that has it for an element, or hold what holds it. An edge leads from a node to those that it
is given. Attributes and functions are known by their words alone; what a name is, by the function that binds it.
Nothing is proven here: a node that does not lead to `None` is one of which the text shows no such way.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

ATTRIBUTE, RESULT, MODULE = "attribute", "result", "module"
Place = tuple[str, str]
"""Whose a place is, one of the words above or what tells a function from others, and its word."""
Node = tuple[Place, int]
"""A place, and how deep in it: 0 for what it is, 1 for its elements, 2 for what these hold."""
NONE: Node = (("constant", "None"), 0)
ANY_ATTRIBUTE = "*"
"""An attribute that is set without being named."""
_BUILT_IN = frozenset(dir(builtins))


class Sources(NamedTuple):
    """Where an expression comes from: the nodes that it may be, that it may hold, and that its elements may hold."""

    is_: frozenset[Node] = frozenset()
    holds: frozenset[Node] = frozenset()
    deep: frozenset[Node] = frozenset()

    @property
    def held(self) -> frozenset[Node]:
        """Return the nodes that it may hold, however deep."""
        return self.holds | self.deep

    @property
    def element(self) -> Sources:
        """Return where its elements come from."""
        return Sources(self.holds, self.deep, self.deep)

    @property
    def contents(self) -> Sources:
        """Return where another container of the same elements comes from."""
        return Sources(frozenset(), self.holds, self.deep)

    @property
    def anyhow(self) -> Sources:
        """Return where something comes from that was made of it in a way that is not known."""
        return everywhere(self.is_ | self.held)


NOTHING = Sources()


def everywhere(nodes: frozenset[Node]) -> Sources:
    """Return where something comes from that may be some nodes, or hold them."""
    return Sources(nodes, nodes, nodes)


def joined(several: Iterable[Sources]) -> Sources:
    """Return where what is one of several expressions comes from."""
    found = list(several)
    return Sources(*(frozenset[Node]().union(*(each[depth] for each in found)) for depth in range(3)))


def holding(several: Iterable[Sources]) -> Sources:
    """Return where a container of several expressions comes from."""
    found = joined(several)
    return Sources(frozenset(), found.is_, found.held)


@dataclass(frozen=True)
class Handed:
    """What a call gives to a function of some name at some place: a position, a keyword, or any of them."""

    key: str | None
    sources: Sources


Entry = tuple[str, str, str, str]
"""What another text may give something to: the word of a function, the position and the word of its parameter.

``Net()`` stands for an object of a class that is called, ``.word`` for an attribute, and ``word=`` for the result of a
function that another text defines. The last text says how deep it is looked, as in a :data:`Node`.
"""


@dataclass
class NoneGraph:
    """What is known of one text once its tree is gone."""

    edges: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    given: dict[str, list[Handed]] = field(default_factory=lambda: defaultdict(list))
    """What functions are given, by their words."""
    parameters: dict[Place, list[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(list))
    """The words by which parameters, and fields of records, are given something, as in an :data:`Entry`."""
    aliases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Other names that the text gives to a function or class."""
    defined: set[str] = field(default_factory=set)
    """The words of its functions and classes."""

    def leads_to(self, nodes: Iterable[Node]) -> set[Node]:
        """Return all nodes that some nodes lead to, themselves among them."""
        found = set(nodes)
        waiting = list(found)
        while waiting:
            fresh = self.edges.get(waiting.pop(), set()) - found
            found |= fresh
            waiting += fresh
        return found

    def entries(self, nodes: Iterable[Node]) -> set[Entry]:
        """Return where other texts may give something to the places that some nodes stand for."""
        found: set[Entry] = set()
        for place, depth in nodes:
            owner, word = place
            if owner == ATTRIBUTE:
                found.add((f".{word}", "-1", word, str(depth)))
            elif owner == RESULT and word not in self.defined and word.removesuffix("()") not in _BUILT_IN:
                found.add((f"{word}=", "-1", word, str(depth)))
            found.update((*each, str(depth)) for each in self.parameters.get(place, ()))
        return found

    def gives(self, entry: Entry) -> Iterator[frozenset[Node]]:
        """Yield what the text gives to an entry of another one."""
        function, position, keyword, depth = entry
        if function.startswith("."):
            yield frozenset(self.edges.get(((ATTRIBUTE, function[1:]), int(depth)), ()))
        elif function.endswith("="):
            if function[:-1].removesuffix("()") in self.defined:
                yield frozenset({((RESULT, function[:-1]), int(depth))})
        else:
            word = function.removesuffix("()")
            for each in (word, *self.aliases.get(word, ())):
                for handed in self.given.get(each + function[len(word) :], ()):
                    if handed.key in (position, keyword, None):
                        yield handed.sources[int(depth)]
