"""Roots: where memory is made, and when two of them may be the same memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from torchlint.facts.flow import PERHAPS, YES
from torchlint.flow.answers import NEVER, FlowAnswer
from torchlint.flow.call_frames import CallFrame
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.semantic.graph import Node
from torchlint.values.asking import ANY_ELEMENT, Path, Selector

MADE: Final = "made"
"""The node makes it; ``via`` is the call in whose callee the node stands."""
PARAMETER: Final = "parameter"
"""Who calls the function of the node, a PARAM, hands it over."""
SHARED: Final = "global"
"""The node, an EXPORT, is a variable of a module."""
UNKNOWN: Final = "unknown"
"""The node may give any memory."""


class MemoryRoot(NamedTuple):
    """Where memory comes from, and what leads from there to it."""

    sort: str
    node: Node
    path: Path = ()
    via: Node | None = None

    def meets(self, other: MemoryRoot) -> bool:
        """Whether the two may be the same memory, or one a part of the other."""
        if self.sort != other.sort or self.node is not other.node or self.via is not other.via:
            return False
        return all(may_be_same(mine, theirs) for mine, theirs in zip(self.path, other.path, strict=False))


def may_be_same(one: Selector, two: Selector) -> bool:
    """Whether two steps from one place may lead to one part.

    A number from the end may be any from the beginning, an item of an object anything under its attributes.
    """
    if one == two or ANY_ELEMENT in (one, two):
        return True
    if isinstance(one, int) and isinstance(two, int):
        return (one < 0) != (two < 0)
    return (str(one)[:1] == ".") != (str(two)[:1] == ".")


def meeting(mine: Iterable[MemoryRoot], theirs: Iterable[MemoryRoot]) -> FlowAnswer:
    """Whether two values, by their roots, may lie in the same memory."""
    mine, theirs = list(mine), list(theirs)
    for one in mine:
        for two in theirs:
            if one.sort != UNKNOWN and one.meets(two):
                is_sure = len(mine) == len(theirs) == 1 and ANY_ELEMENT not in (*one.path, *two.path)
                return FlowAnswer(YES if is_sure else PERHAPS, one.node, one.sort)
    open_ones = [each for each in (*mine, *theirs) if each.sort == UNKNOWN]
    return FlowAnswer(PERHAPS, open_ones[0].node, UNKNOWN) if mine and theirs and open_ones else NEVER


def made_at(node: Node, path: Path, frame: CallFrame | None, sort: str = MADE) -> MemoryRoot:
    """Return the root of what a node makes, as the function sees it in which the way began."""
    shown = tuple(each for each in path if each != ANY_DEPTH)
    return MemoryRoot(sort, node, shown, frame.first_call if frame is not None else None)
