"""A loop over the parameters of a module that asks them for gradients, or not to have any: the module is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantic import bound_names
from torchlint.semantic.graph import (
    ATTR,
    CALL,
    EACH,
    EFFECT,
    ELEMENT,
    GROW,
    INPLACE,
    ITEM,
    OPERATION,
    PHI,
    PI,
    SETTER,
    CallArguments,
    Node,
)
from torchlint.semantic.lower_targets import change, current, is_changeable
from torchlint.semantic.lowering_state import Lowering

_GIVING_PARAMETERS = frozenset(("parameters", "named_parameters"))
_ASKING = "requires_grad_"
_CHANGES = (SETTER, INPLACE, EFFECT)


def tell_parameters(st: Lowering, loop: ast.For | ast.AsyncFor, first: int) -> None:
    """Give the module whose parameters a loop went over the state that the loop leaves; ``first`` is its first node.

    What asks all of them is the module's own ``requires_grad_``; what asks some of them may leave it as it was.
    """
    iterated = loop.iter
    if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Attribute):
        return
    owner = iterated.func.value
    if iterated.func.attr not in _GIVING_PARAMETERS or not is_changeable(owner) or not st.live:
        return
    may_leave = any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in ast.walk(loop))
    for flag, is_sure in list(_asked(st, st.by_syntax[iterated], first)):
        before = current(st, owner)
        method = st.node(ATTR, (before,), _ASKING, loop.target)
        call = st.node(CALL, (method,), CallArguments((flag,) if flag is not None else ()), loop.target)
        after = st.node(INPLACE, (before, call), _ASKING, loop.target)
        change(st, owner, after if is_sure and not may_leave else st.node(PHI, (before, after), None, loop.target))


def tell_members(st: Lowering, loop: ast.For | ast.AsyncFor, first: int) -> None:
    """Give what a loop went over the state in which the loop leaves each member; ``first`` is its first node.

    Members that are written out, ``for net in (one, other)``, are changed as the loop's own variable was.
    """
    iterated = st.by_syntax.get(loop.iter)
    changes = [
        each for each in st.nodes[first:] if iterated is not None and _is_change(each) and _is_of(each, iterated)
    ]
    if not changes or not st.live:
        return
    holder = _holder(loop.iter)
    may_leave = any(isinstance(each, ast.Break | ast.Continue | ast.Return) for each in ast.walk(loop))
    if is_changeable(holder):
        before = current(st, holder)
        after = st.node(GROW, (before, changes[-1]), EACH, loop.target)
        bound_names.tell_members(st, before, changes[-1])
        change(st, holder, st.node(PHI, (before, after), None, loop.target) if may_leave else after)
    elif isinstance(holder, ast.Tuple | ast.List):
        for member in filter(is_changeable, holder.elts):
            before = after = current(st, member)
            for each in changes:
                after = st.node(each.op, (after, *each.ins[1:]), each.data, loop.target)
            if before.index >= first:  # the loop changed it by its own name, too
                after = st.node(PHI, (before, after), None, loop.target)
            change(st, member, after)


def _is_change(node: Node) -> bool:
    return node.op in _CHANGES or (node.op == OPERATION and str(node.data).endswith("="))


def _holder(iterated: ast.expr) -> ast.expr:
    """Return what holds the members that a loop goes over: ``d`` of ``d.items()``, ``x`` of ``enumerate(x)``."""
    while isinstance(iterated, ast.Call):
        if isinstance(iterated.func, ast.Attribute) and iterated.func.attr in ("items", "values"):
            iterated = iterated.func.value
        elif isinstance(iterated.func, ast.Name) and iterated.func.id in ("enumerate", "reversed") and iterated.args:
            iterated = iterated.args[0]
        else:
            break
    return iterated


def _asked(st: Lowering, parameters: Node, first: int) -> Iterator[tuple[Node | None, bool]]:
    """Yield the flags that a loop gives its parameters, and whether each of them gets it."""
    for store in st.fn.stores:
        if store.word == "requires_grad" and store.at >= first and _is_of(store.owner, parameters):
            yield store.value, store.guards == st.guards
    for node in st.nodes[first:]:
        if node.op == INPLACE and node.data == _ASKING and _is_of(node.ins[0], parameters):
            given = node.ins[1].arguments
            yield next(given.all(), None), st.fn.guards.get(node.ins[1], ()) == st.guards


def _is_of(node: Node, parameters: Node) -> bool:
    seen: set[Node] = set()
    while node not in seen and node.ins and (node.op in (PI, ITEM, PHI, *_CHANGES) or _is_change(node)):
        seen.add(node)  # a loop inside may lead a join back to itself
        node = node.ins[0]
    return node.op == ELEMENT and node.ins[0] is parameters
