"""Whether a node is of the sort that a specification describes, and whether a value goes into one."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from torchlint.facts.flow_specifications import NodePattern
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.forward_walk import ValueUse
from torchlint.flow.memory_handings import handed_over
from torchlint.semantic.graph import (
    ATTR,
    CALL,
    CONST,
    EFFECT,
    ELEMENT,
    GLOBAL,
    INDEX,
    INPLACE,
    ITEM,
    OPERATION,
    PI,
    SETTER,
    Mark,
    Node,
)
from torchlint.values.abstract import FLOAT32, Abstract
from torchlint.values.references import LibraryInstanceRef, LibraryRef

_PURE: Final = frozenset({ATTR, CONST, ELEMENT, GLOBAL, INDEX, ITEM, OPERATION})


def is_node(pattern: NodePattern, knowledge: CallKnowledge, node: Node) -> bool:
    """Whether a node is of a sort, apart from what goes in."""
    if node.op not in pattern.ops:
        return False
    if node.op != CALL:
        return not pattern.words or str(node.data) in pattern.words
    return _is_called(pattern, knowledge, node.ins[0])


def _is_called(pattern: NodePattern, knowledge: CallKnowledge, function: Node) -> bool:
    if not pattern.functions and not pattern.methods:
        return True
    if function.op == ATTR and function.data in pattern.methods:
        target = knowledge.value(function)
        return not any(isinstance(each, LibraryRef) for each in target.references)
    if not pattern.functions:
        return False
    named = (LibraryRef, LibraryInstanceRef)
    names = [each.name for each in knowledge.value(function).references if isinstance(each, named)]
    return any(fnmatchcase(name, each) for name in names for each in pattern.functions)


def is_source(pattern: NodePattern, knowledge: CallKnowledge, node: Node) -> bool:
    """Whether a flow begins at a node."""
    return is_node(pattern, knowledge, node) and (pattern.value is None or pattern.value(knowledge.value(node)))


def is_use(pattern: NodePattern, knowledge: CallKnowledge, use: ValueUse) -> bool:
    """Whether a value goes into a node of a sort."""
    if not is_node(pattern, knowledge, use.node):
        return False
    places = [place for place, each in _handed(use.node) if each is use.position.node]
    if pattern.at is not None and pattern.at.isdisjoint(places):
        return False
    if pattern.value is not None and not pattern.value(knowledge.value(use.position.node)):
        return False
    if pattern.is_conversion and not _is_converted(knowledge.value(use.position.node), knowledge.value(use.node)):
        return False
    others = [each for _, each in _handed(use.node) if each is not use.position.node]
    if use.position.held and use.position.before is not None:
        others += [each for each in use.position.node.ins if each is not use.position.before.node]
    return pattern.beside is None or any(pattern.beside(knowledge.value(each)) for each in others)


def before_changes(node: Node) -> Node:
    """Return an object as it was before what was done to it."""
    while node.op in (EFFECT, INPLACE, SETTER, PI):
        node = node.ins[0]
    return node


def is_same_code(one: Node, two: Node) -> bool:
    """Whether two nodes compute the same of the same; calls do so where they run nothing of the project."""
    one, two = before_changes(one), before_changes(two)
    if one is two:
        return True
    if one.op != two.op or len(one.ins) != len(two.ins) or not all(map(is_same_code, one.ins, two.ins)):
        return False
    if one.op != CALL:
        return one.op in _PURE and one.data == two.data
    given = list(one.arguments.all()), list(two.arguments.all())
    return one.ins[0].op == GLOBAL and len(given[0]) == len(given[1]) and all(map(is_same_code, *given))


def _is_converted(before: Abstract, after: Abstract) -> bool:
    one, two = _chosen(before.device_from), _chosen(after.device_from)
    is_other = one is not two if one is None or two is None else not is_same_code(one, two)
    is_moved = before.device != after.device or is_other
    is_of_default = before.dtype & after.dtype & FLOAT32  # what may be of the default dtype is presumed to be
    return is_moved or (before.dtype != after.dtype and not is_of_default)


def _chosen(origin: Node | None) -> Node | None:
    """Return the device that a tensor was made on or moved to, where one is given."""
    if origin is None or origin.op != CALL:
        return None
    given = origin.arguments
    return given.keywords.get("device") or next(iter(given.positional), None)


def _handed(node: Node) -> Iterator[tuple[int | str, Node]]:
    for place, each in handed_over(node) if node.op == CALL else enumerate(node.ins):
        yield (str(place) if isinstance(place, Mark) else place), each
