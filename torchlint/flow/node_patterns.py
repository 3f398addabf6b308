"""Whether a node is of the sort that a specification describes, and whether a value goes into one."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from torchlint.facts.flow_specifications import NodePattern
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import Position, ValueUse
from torchlint.flow.memory_handings import handed_over
from torchlint.semantic import graph as g
from torchlint.semantic.graph import Mark, Node
from torchlint.syntax.places import leaf
from torchlint.values.abstract import FLOAT32, MODULE, Abstract
from torchlint.values.references import LibraryInstanceRef, LibraryRef

_JOINS: Final = frozenset({g.EITHER, g.GAMMA, g.PHI, g.PI})
_PURE: Final = frozenset({g.ATTR, g.CONST, g.ELEMENT, g.GLOBAL, g.INDEX, g.ITEM, g.OPERATION})


def is_node(pattern: NodePattern, knowledge: CallKnowledge, node: Node) -> bool:
    """Whether a node is of a sort, apart from what goes in."""
    if node.op not in pattern.ops:
        return False
    if node.op != g.CALL:
        return not pattern.words or str(node.data) in pattern.words
    return _is_called(pattern, knowledge, node.ins[0])


def _is_called(pattern: NodePattern, knowledge: CallKnowledge, function: Node) -> bool:
    if not pattern.functions and not pattern.methods:
        return True
    if function.op == g.ATTR and function.data in pattern.methods:
        target = knowledge.value(function)
        if not any(isinstance(each, LibraryRef) for each in target.references):
            return True
    if not pattern.functions:
        return False
    named = (LibraryRef, LibraryInstanceRef)
    names = [each.name for each in knowledge.value(function).references if isinstance(each, named)]
    names = [each for each in names if not pattern.words or leaf(each) in pattern.words]
    return any(fnmatchcase(name, each) for name in names for each in pattern.functions)


def is_source(pattern: NodePattern, knowledge: CallKnowledge, node: Node) -> bool:
    """Whether a flow begins at a node."""
    return is_node(pattern, knowledge, node) and (pattern.value is None or pattern.value(knowledge.value(node)))


def is_use(pattern: NodePattern, knowledge: CallKnowledge, use: ValueUse) -> bool:
    """Whether a value goes into a node of a sort."""
    frame = use.position.frame
    if not is_node(pattern, knowledge, use.node):
        return False
    if use.position.held and use.node.op != g.CALL and (pattern.value or pattern.beside):
        return False  # it is the container that takes part
    places = [place for place, each in _handed(use.node) if each is use.position.node]
    if pattern.at is not None and pattern.at.isdisjoint(places):
        return False
    if pattern.gives is not None and not pattern.gives(knowledge.value(use.node, (), frame)):
        return False
    alone = _alone(use.position) if pattern.value is not None else use.position
    if pattern.value is not None and not pattern.value(knowledge.value(alone.node, (), alone.frame)):
        return False
    if pattern.is_conversion and not _is_converted(knowledge.value(use.position.node), knowledge.value(use.node)):
        return False
    return pattern.beside is None or next(beside(pattern, knowledge, use), None) is not None


def beside(pattern: NodePattern, knowledge: CallKnowledge, use: ValueUse) -> Iterator[Node]:
    """Yield what a value meets at a node that is of the sort which was asked for."""
    is_layer = use.node.op == g.CALL and knowledge.value(use.node.ins[0]).must(MODULE)
    others = list(use.node.ins[:1] if is_layer else ())
    others += [each for _, each in _handed(use.node) if each is not use.position.node]
    if use.node.op in _JOINS:  # what an argument or a later round of a loop brings does not stand in for the value
        now = use.node.index
        others = [e for e in others if before_changes(e).op != g.PARAM and (e.index < now or e.op == g.GAMMA)]
    if use.position.held and use.position.before is not None:
        others += [each for each in use.position.node.ins if each is not use.position.before.node]
    for each in others:
        if pattern.beside is not None and pattern.beside(knowledge.value(each, (), use.position.frame)):
            yield each


def _alone(position: Position) -> Position:
    """Return where a value stood by itself: before the container that holds it, and before ways joined behind it."""
    while position.held and position.before is not None:
        position = position.before
    found = position
    while (before := position.before) is not None and not before.held:
        if position.node.op == g.ATTR and before.node not in position.node.ins:
            break  # what others stored there counts, too
        if position.node.op in _JOINS:
            found = before
        position = before
    return found


def before_changes(node: Node) -> Node:
    """Return an object as it was before what was done to it."""
    while node.op in (g.EFFECT, g.INPLACE, g.SETTER, g.PI):
        node = node.ins[0]
    return node


def is_same_code(one: Node, two: Node) -> bool:
    """Whether two nodes compute the same of the same; calls do so where they run nothing of the project."""
    one, two = before_changes(one), before_changes(two)
    if one is two:
        return True
    if one.op != two.op or len(one.ins) != len(two.ins) or not all(map(is_same_code, one.ins, two.ins)):
        return False
    if one.op != g.CALL:
        return one.op in _PURE and one.data == two.data
    given = list(one.arguments.all()), list(two.arguments.all())
    return one.ins[0].op == g.GLOBAL and len(given[0]) == len(given[1]) and all(map(is_same_code, *given))


def _is_converted(before: Abstract, after: Abstract) -> bool:
    is_of_default = before.dtype & after.dtype & FLOAT32  # what may be of the default dtype is presumed to be
    return before.device != after.device or (before.dtype != after.dtype and not is_of_default)


def _handed(node: Node) -> Iterator[tuple[int | str, Node]]:
    for place, each in handed_over(node) if node.op == g.CALL else enumerate(node.ins):
        yield (str(place) if isinstance(place, Mark) else place), each
