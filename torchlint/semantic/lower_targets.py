"""What an assignment does: to names, attributes and elements, and to the objects that hold them."""

from __future__ import annotations

import ast

from torchlint.semantic import graph as g
from torchlint.semantic.bound_names import bind, bind_attribute, bound, dotted, rebind, tell_members, written
from torchlint.semantic.effect_words import SETTERS
from torchlint.semantic.graph import AttributeStore, MemoryWrite, Node, Span
from torchlint.semantic.lowering_state import Lowering

UNCHANGING = frozenset((g.CONST, g.FUNCTION, g.CLASS, g.IMPORT))
"""What a name is bound to that no call changes, as far as values are asked for."""


def assign(st: Lowering, target: ast.expr, value: Node) -> None:
    """Bind what stands left of ``=``, in a ``for``, or behind ``as``."""
    st.by_syntax[target] = value
    if isinstance(target, ast.Name):
        bind(st, target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(st, target.elts, value)
    elif isinstance(target, ast.Starred):
        assign(st, target.value, value)
    elif isinstance(target, ast.Attribute):
        store_attribute(st, target.value, target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        store_item(st, target, value, is_written=True)


def _unpack(st: Lowering, targets: list[ast.expr], value: Node) -> None:
    starred = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if value.op == g.SEQUENCE and value.data != "set" and starred is None and len(value.ins) == len(targets):
        for each, member in zip(targets, value.ins, strict=True):
            assign(st, each, member)
        return
    for position, each in enumerate(targets):
        place = position if starred is None or position < starred else position - len(targets)
        assign(st, each, st.node(g.ITEM, (value,), None if position == starred else place, each))


def current(st: Lowering, node: ast.expr) -> Node:
    """Return what an expression is now, where it is a variable; else what it was when it was lowered."""
    spelled = dotted(node) if isinstance(node, ast.Name | ast.Attribute) else None
    before, found = st.expr(node), bound(st, spelled) if spelled is not None else None
    return before if found is None else found


def store_attribute(st: Lowering, owner: ast.expr, word: str, value: Node, at: Span, *, is_part: bool = False) -> None:
    """Set an attribute of what an expression gives."""
    before = current(st, owner)
    st.fn.stores.append(AttributeStore(before, word, value, st.guards, len(st.nodes), is_part, at))
    if word in SETTERS:
        change(st, owner, st.node(g.SETTER, (before, value), word, at))
    spelled = dotted(owner)
    if spelled is not None and word not in SETTERS:
        _tell_wholes(st, owner, value, at)
    if spelled is not None and word != "grad" and word not in st.fn.file.properties_set:  # backward fills `.grad`
        bind_attribute(st, f"{spelled}.{word}", value)


_CHANGED = (g.INPLACE, g.EFFECT, g.GROW, g.PARAM, g.CALL)


def _tell_wholes(st: Lowering, owner: ast.expr, part: Node, at: Span) -> None:
    """Tell an object, and what it is a part of, of a new part, which is not frozen with it."""
    spelled = dotted(owner) or ""
    root = spelled.partition(".")[0]
    found = bound(st, root)
    if found is None or found.op not in _CHANGED or root == "self":
        return
    while True:
        part = st.node(g.GROW, (current(st, owner), part), g.APPEND, at)
        written(st, spelled, part)
        if not isinstance(owner, ast.Attribute):
            st.env.set_name(root, part)
            return
        st.env.set_attribute(spelled, part)
        owner = owner.value
        spelled = dotted(owner) or root


def store_item(st: Lowering, target: ast.Subscript, value: Node, *, is_written: bool) -> None:
    """Put a value under a key of what an expression gives; ``is_written`` if the object writes its memory by that."""
    before = current(st, target.value)
    key = key_of(target.slice)
    index = st.expr(target.slice)
    if is_written:
        st.fn.writes.append(MemoryWrite(before, value, target, len(st.nodes)))
    ins = (before, value, index) if key is g.ANYKEY else (before, value)
    if not is_written:
        tell_members(st, before, value)
    change(st, target.value, st.node(g.GROW, ins, key, target))


def change(st: Lowering, owner: ast.expr, after: Node) -> None:
    """Give the variable, attribute or element that an expression names the next state of its object."""
    if isinstance(owner, ast.Name):
        if not is_fixed(st, owner.id):
            rebind(st, owner.id, after)
    elif isinstance(owner, ast.Attribute):
        store_attribute(st, owner.value, owner.attr, after, owner)
    elif isinstance(owner, ast.Subscript):
        store_item(st, owner, after, is_written=False)
    elif isinstance(owner, ast.NamedExpr):
        rebind(st, owner.target.id, after)
    elif (kept := container_of(owner)) is not None:
        container, index = kept
        before, key = current(st, container), key_of(index)
        ins = (before, after, st.expr(index)) if key is g.ANYKEY else (before, after)
        change(st, container, st.node(g.GROW, ins, key, owner))


def container_of(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return ``d`` and ``k`` of ``d.setdefault(k, v)``, which gives an element that stays in its container."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    if node.func.attr != "setdefault" or not is_changeable(node.func.value):
        return None
    return node.func.value, node.args[0]


def is_changeable(node: ast.expr) -> bool:
    """Whether a change of what an expression gives can be told to a variable."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.NamedExpr) or container_of(node) is not None


def is_fixed(st: Lowering, word: str) -> bool:
    """Whether a name is bound to what no call changes: a function, class, module or constant."""
    found = bound(st, word)
    if found is not None:
        return found.op in UNCHANGING
    definitions = st.fn.file.body.definitions.get(word)
    return definitions is not None and all(each.op in UNCHANGING for each in definitions)


def key_of(index: ast.expr) -> object:
    """Return the constant key of a subscript, SLICE or ANYKEY."""
    if isinstance(index, ast.Constant):
        return index.value
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant):
        value = index.operand.value
        return -value if isinstance(value, int | float) else g.ANYKEY
    if isinstance(index, ast.Slice) or (
        isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in index.elts)
    ):
        return g.SLICE
    return g.ANYKEY
