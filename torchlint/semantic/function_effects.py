"""What a function does to its parameters and to the process, as far as its own graph tells without any value.

What it does through the functions that it calls is told as a parameter that is passed on: whoever knows the callees
follows it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from torchlint.semantic.graph import (
    ATTR,
    CALL,
    EFFECT,
    EITHER,
    ELEMENT,
    ENTER,
    ENTRY,
    GAMMA,
    GROW,
    INDEX,
    INPLACE,
    ITEM,
    OPERATION,
    PARAM,
    PHI,
    PI,
    PROCESS_VARIABLES,
    RECEIVER,
    SETTER,
    SPREAD,
    FormalParameter,
    FunctionGraph,
    Guards,
    Mark,
    Node,
)
from torchlint.semantic.lowering import lower

Step = str | int
"""``.word`` is an attribute, ``word()`` what a method gives, ``=key`` an item, a number a position, ``*`` any item."""
ParameterPath = tuple[Step, ...]
"""What leads from a parameter to what is changed, the first step first; longer ones are cut."""
_ANY: Final = "*"
_LONGEST: Final = 5

SET: Final = "set"
"""An attribute is bound anew; the last step of the path is its word, the node its new value."""
GROWN: Final = "grown"
"""A member is put into it; the node is the GROW or SPREAD."""
INVOKED: Final = "invoked"
"""A method that changes it is called; the node is the INPLACE."""
WRITTEN: Final = "written"
"""Its memory is written: ``x += v``, ``x[i] = v``, ``out=x``; the node is the new value, or what is written into."""
PASSED: Final = "passed"
"""It is handed to a call, or a method of it is called; the node is the CALL."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Something that a function does, or may have done, to what a parameter leads to."""

    sort: str
    path: ParameterPath
    node: Node
    guards: Guards = ()
    """The tests on the way to it."""
    position: int | str | Mark | None = None
    """Of PASSED: its position among the arguments, its keyword, or RECEIVER; ``**`` where two stars hand it over."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionEffects:
    """What a function does to what it is given, and to the process."""

    parameters: dict[str, tuple[Change, ...]]
    """By the parameter's word, in the order of the text; parameters to which nothing happens are left out."""
    process: frozenset[str]
    """The process variables that may be bound to something else when it leaves than when it began."""


def effects_of(function: FunctionGraph) -> FunctionEffects:
    """Collect the effects of a function; whoever asks often keeps the answer."""
    found: dict[str, list[Change]] = {}
    for change, owner in _changes(lower(function)):
        for word, path in parameter_paths(owner):
            whole = (*path, *change.path)[:_LONGEST]
            found.setdefault(word, []).append(Change(change.sort, whole, change.node, change.guards, change.position))
    return FunctionEffects({word: tuple(each) for word, each in found.items()}, _process(function))


def _changes(fn: FunctionGraph) -> Iterator[tuple[Change, Node]]:
    """Yield each change with the node that is changed; the path of the change leads from there."""
    for store in fn.stores:
        yield Change(SET, (f".{store.word}",), store.value, store.guards), store.owner
    for node in fn.nodes:
        if node.op in (GROW, SPREAD):
            yield Change(GROWN, (), node, _guards(fn, node)), node.ins[0]
        elif node.op == INPLACE:
            yield Change(INVOKED, (), node, _guards(fn, node)), node.ins[0]
        elif node.op == CALL:
            for position, argument in handed_over(node):
                yield Change(PASSED, (), node, _guards(fn, node), position), argument
    for write in fn.writes:
        yield Change(WRITTEN, (), write.value or write.target), write.target


def _guards(fn: FunctionGraph, node: Node) -> Guards:
    return next((fn.guards[each] for each in (node, *node.ins) if each in fn.guards), ())


def handed_over(call: Node) -> Iterator[tuple[int | str | Mark, Node]]:
    """Yield what a call is given, each with its position, its keyword, RECEIVER, or ``**``."""
    given = call.arguments
    if call.ins[0].op == ATTR:
        yield RECEIVER, call.ins[0].ins[0]
    yield from enumerate(given.positional)
    yield from given.keywords.items()
    for each in given.spread:
        yield "**", each


# ---------------------------------------------------------------------- from a node back to a parameter
def parameter_paths(node: Node) -> frozenset[tuple[str, ParameterPath]]:
    """Return the parameters of its function that a node may be a part of, each with what leads from there to it."""
    found: set[tuple[str, ParameterPath]] = set()
    todo: list[tuple[Node, ParameterPath]] = [(node, ())]
    seen = set(todo)
    while todo:
        here, path = todo.pop()
        if here.op == PARAM:
            assert isinstance(here.data, FormalParameter)
            found.add((here.data.word, path))
            continue
        for source, longer in _back(here, path):
            each = (source, longer[:_LONGEST])
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return frozenset(found)


def _back(node: Node, path: ParameterPath) -> Iterator[tuple[Node, ParameterPath]]:
    """Yield what a path that starts at a node leads through, one step nearer to a parameter."""
    op = node.op
    if op in (PHI, GAMMA, EITHER):
        for each in node.ins:
            yield each, path
    elif op == SETTER and path and path[0] == f".{node.data}":
        yield node.ins[1], path[1:]
    elif op in (PI, ENTER, SETTER, INPLACE, EFFECT, SPREAD):
        yield node.ins[0], path
    elif op == GROW:
        yield node.ins[0], path
        if path and path[0] in (step_of(node.data), _ANY):
            yield node.ins[1], path[1:]
    elif op == OPERATION and str(node.data).endswith("="):
        yield node.ins[0], path
    elif op == ATTR:
        yield node.ins[0], (f".{node.data}", *path)
    elif op == INDEX:
        yield node.ins[0], (step_of(node.data), *path)
    elif op == ELEMENT:
        yield node.ins[0], (_ANY, *path)
    elif op == ITEM:
        yield node.ins[0], (step_of(node.data), *path)
    elif op == CALL:
        yield from _through_call(node, path)


def _through_call(node: Node, path: ParameterPath) -> Iterator[tuple[Node, ParameterPath]]:
    """Yield the object of a method, and what Python's own functions hand on the members of."""
    given, function = node.arguments, node.ins[0]
    if function.op == ATTR:
        yield function.ins[0], (f"{function.data}()", *path)
    elif given.spelled in ("list", "tuple", "iter", "reversed", "sorted", "set"):
        for each in given.positional[:1]:
            yield each, path
    elif given.spelled == "enumerate" and path[1:2] in ((1,), (_ANY,)):
        for each in given.positional[:1]:
            yield each, (_ANY, *path[2:])
    elif given.spelled == "zip" and len(path) > 1:
        for position, each in enumerate(given.positional):
            if path[1] in (position, _ANY):
                yield each, (_ANY, *path[2:])


def step_of(key: object) -> Step:
    """Return the step that a key of INDEX, GROW or ITEM stands for: any item where it is no number or text."""
    if type(key) is int:
        return key
    return f"={key}" if isinstance(key, str) else _ANY


# ---------------------------------------------------------------------- the process
def _process(fn: FunctionGraph) -> frozenset[str]:
    exits = [*fn.returns, *([fn.end] if fn.end is not None else [])]
    return frozenset(
        variable for variable in PROCESS_VARIABLES if any(getattr(each.state, variable).op != ENTRY for each in exits)
    )
