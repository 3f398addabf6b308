"""A loop over the parameters of a module that asks them for gradients, or not to have any: the module is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantic.graph import ATTR, CALL, ELEMENT, INPLACE, ITEM, PHI, PI, SETTER, CallArguments, Node
from torchlint.semantic.lower_targets import change, current, is_changeable
from torchlint.semantic.lowering_state import Lowering

_GIVING_PARAMETERS = frozenset(("parameters", "named_parameters"))
_ASKING = "requires_grad_"


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
    for flag, is_sure in list(_asked(st, st.by_syntax[iterated], first)):
        before = current(st, owner)
        method = st.node(ATTR, (before,), _ASKING, loop.target)
        call = st.node(CALL, (method,), CallArguments((flag,) if flag is not None else ()), loop.target)
        after = st.node(INPLACE, (before, call), _ASKING, loop.target)
        change(st, owner, after if is_sure else st.node(PHI, (before, after), None, loop.target))


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
    while node.op in (PI, ITEM, SETTER, INPLACE):
        node = node.ins[0]
    return node.op == ELEMENT and node.ins[0] is parameters
