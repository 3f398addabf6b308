"""What each sort of expression is in the graph, calls aside."""

from __future__ import annotations

import ast

from torchlint.semantic import graph as g
from torchlint.semantic.bound_names import Bindings, bind, dotted, join, lookup, rebind, resume, unnarrowed
from torchlint.semantic.branch_tests import narrow
from torchlint.semantic.formal_parameters import annotation_text, declare
from torchlint.semantic.graph import FunctionExit, Node
from torchlint.semantic.lower_targets import assign, key_of
from torchlint.semantic.lowering_state import EXPRESSIONS, Lowering

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
"""Operators as they are written."""


def _constant(st: Lowering, node: ast.Constant) -> Node:
    if st.annotation in ("annotation", "text") and isinstance(node.value, str):
        return annotation_text(st, node, node.value)
    return st.node(g.CONST, (), node.value, node)


def _name(st: Lowering, node: ast.Name) -> Node:
    if st.annotation == "text":
        return st.node(g.GLOBAL, (), node.id, node)
    return lookup(st, node.id, node)


def _attribute(st: Lowering, node: ast.Attribute) -> Node:
    if st.env.attributes:
        spelled = dotted(node)
        found = st.env.attributes.get(spelled) if spelled is not None else None
        if found is not None:
            st.expr(node.value)
            return found
    return st.node(g.ATTR, (st.expr(node.value),), node.attr, node)


def _binary(st: Lowering, node: ast.BinOp) -> Node:
    return st.node(g.OPERATION, (st.expr(node.left), st.expr(node.right)), OPERATORS[type(node.op)], node)


def _unary(st: Lowering, node: ast.UnaryOp) -> Node:
    op = g.TRUTH if isinstance(node.op, ast.Not) else g.OPERATION
    if op == g.OPERATION and isinstance(node.op, ast.USub) and (key := key_of(node)) is not g.ANYKEY:
        st.expr(node.operand)
        return st.node(g.CONST, (), key, node)
    return st.node(op, (st.expr(node.operand),), OPERATORS[type(node.op)], node)


def _compare(st: Lowering, node: ast.Compare) -> Node:
    ins = (st.expr(node.left), *[st.expr(each) for each in node.comparators])
    return st.node(g.TRUTH, ins, OPERATORS[type(node.ops[0])] if len(node.ops) == 1 else "chain", node)


def _either(st: Lowering, node: ast.BoolOp) -> Node:
    """Lower ``and`` and ``or``: each operand is reached only as those before came out."""
    guards, found, positive = st.guards, [], isinstance(node.op, ast.And)
    ways = []
    before, writes = st.env, st.writes
    for at, each in enumerate(node.values):
        found.append(st.expr(each))
        if at == len(node.values) - 1:
            break
        ways.append(st.env)
        st.env = st.env.fork()
        st.guards = (*st.guards, (found[-1], positive))
        narrow(st, each, positive)
    if st.writes == writes:
        st.env = before
    else:
        join(st, [*ways, st.env])
    st.guards = guards
    return st.node(g.EITHER, tuple(found), "and" if positive else "or", node)


def _conditional(st: Lowering, node: ast.IfExp) -> Node:
    test = st.expr(node.test)
    before, guards, writes = st.env, st.guards, st.writes
    st.env, st.guards = before.fork(), (*guards, (test, True))
    narrow(st, node.test, True)
    then = st.expr(node.body)
    left = st.env
    st.env, st.guards = before.fork(), (*guards, (test, False))
    narrow(st, node.test, False)
    other = st.expr(node.orelse)
    st.guards = guards
    if st.writes == writes:
        st.env = before
    else:
        join(st, [left, st.env], test)
    return st.node(g.GAMMA, (then, other), test, node)


def _sequence(st: Lowering, node: ast.Tuple | ast.List | ast.Set) -> Node:
    sort = "tuple" if isinstance(node, ast.Tuple) else "list" if isinstance(node, ast.List) else "set"
    first = next((at for at, each in enumerate(node.elts) if isinstance(each, ast.Starred)), len(node.elts))
    made = st.node(g.SEQUENCE, tuple([st.expr(each) for each in node.elts[:first]]), sort, node)
    for each in node.elts[first:]:
        value = st.expr(each)
        if isinstance(each, ast.Starred):
            made = st.node(g.SPREAD, (made, value), None, node)
        else:
            made = st.node(g.GROW, (made, value), g.APPEND, node)
    return made


def _dictionary(st: Lowering, node: ast.Dict) -> Node:
    spread = next((at for at, key in enumerate(node.keys) if key is None), len(node.keys))
    keys, values = [], []
    for key, value in zip(node.keys[:spread], node.values[:spread], strict=True):
        assert key is not None
        st.expr(key)
        keys.append(key_of(key) if not isinstance(key, ast.Tuple) else g.ANYKEY)
        values.append(st.expr(value))
    made = st.node(g.DICT, tuple(values), tuple(keys), node)
    for rest, value in zip(node.keys[spread:], node.values[spread:], strict=True):
        if rest is None:
            made = st.node(g.SPREAD, (made, st.expr(value)), None, node)
            continue
        index, word = st.expr(rest), key_of(rest)
        member = st.expr(value)
        made = st.node(g.GROW, (made, member, index) if word is g.ANYKEY else (made, member), word, node)
    return made


def _subscript(st: Lowering, node: ast.Subscript) -> Node:
    owner = st.expr(node.value)
    key = key_of(node.slice)
    reading = st.annotation
    if reading and _last_word(node.value) in ("Literal", "Annotated"):
        st.annotation = "literal"
    index = st.expr(node.slice)
    st.annotation = reading
    return st.node(g.INDEX, (owner, index) if key is g.ANYKEY else (owner,), key, node)


def _last_word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _slice(st: Lowering, node: ast.Slice) -> Node:
    bounds = [each for each in (node.lower, node.upper, node.step) if each is not None]
    return st.node(g.SEQUENCE, tuple([st.expr(each) for each in bounds]), "tuple", node)


def _named(st: Lowering, node: ast.NamedExpr) -> Node:
    value = st.expr(node.value)
    st.by_syntax[node.target] = value
    bind(st, node.target.id, value)
    return value


def _copied(st: Lowering, node: ast.Await | ast.Starred) -> Node:
    value = st.expr(node.value)
    if isinstance(node, ast.Await):
        resume(st, st.node(g.OPAQUE, (), "sent", node))
    return value


def _yielded(st: Lowering, node: ast.Yield | ast.YieldFrom) -> Node:
    value = st.expr(node.value) if node.value is not None else st.node(g.CONST, (), None, node)
    if isinstance(node, ast.YieldFrom):
        value = st.node(g.ELEMENT, (value,), None, node)
    st.fn.yields.append(FunctionExit(value, st.guards, st.env.state))
    made = st.node(g.OPAQUE, (), "sent", node)
    resume(st, made)
    return made


def _lambda(st: Lowering, node: ast.Lambda) -> Node:
    if st.annotation:  # nobody runs what an annotation makes
        return st.node(g.OPAQUE, (), None, node)
    return st.node(g.FUNCTION, (), declare(st, node, None), node)


def _text(st: Lowering, node: ast.JoinedStr) -> Node:
    for each in node.values:
        st.expr(each)
    return st.node(g.CONST, (), g.TEXT_OF_PARTS, node)


def _formatted(st: Lowering, node: ast.FormattedValue) -> Node:
    st.expr(node.value)
    if node.format_spec is not None:
        st.expr(node.format_spec)
    return st.node(g.CONST, (), g.TEXT_OF_PARTS, node)


# ---------------------------------------------------------------------- comprehensions
def _comprehension(st: Lowering, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Node:
    """Lower a comprehension: its own names are seen nowhere else; what it changes or binds by ``:=`` is."""
    outer, guards, cls, hidden, shared, writes = st.env, st.guards, st.cls, st.hidden, st.shared, st.writes
    is_put_off = isinstance(node, ast.GeneratorExp) and node is not st.used_up
    is_outermost = st.fn.parent is None and st.outer_names is None
    if is_outermost:
        st.outer_names = outer.names
    st.env, st.cls = outer.fork(), None
    bodies = len(st.fn.bodies)
    names: list[tuple[str, Node]] = []
    for each in node.generators:
        iterated = st.expr(each.iter)
        if cls is not None and st.around is not None and not names:  # only this sees what the class around binds
            st.env = Bindings(st.around, st.env.attributes, st.env.state)
        count, targets = st.writes, st.targets
        st.targets = names
        assign(st, each.target, st.node(g.ELEMENT, (iterated,), None, each.target))
        st.targets, st.writes = targets, count
        st.hidden = st.hidden | {word for word, _ in names}
        if is_put_off:  # the first iterable aside, names are looked up when somebody goes through it
            st.shared, st.env.attributes, st.env.owns_attributes = st.fn.definitions.keys(), {}, True
        for test in each.ifs:
            st.guards = (*st.guards, (st.expr(test), True))
            narrow(st, test, True)
    if isinstance(node, ast.DictComp):
        key = st.expr(node.key)
        ins: tuple[Node, ...] = (st.expr(node.value), key)
    else:
        ins = (st.expr(node.elt),)
    inner = st.env
    st.env, st.guards, st.cls, st.hidden, st.shared = outer, guards, cls, hidden, shared
    if is_outermost:
        st.outer_names = None
    if len(st.fn.bodies) != bodies:  # a function that is written inside reads the names
        for word, value in names:
            st.fn.definitions.setdefault(word, []).append(value)
    if st.writes != writes:
        seen = st.around if cls is not None and st.around is not None else {}
        changed = {word: value for word, value in inner.names.items() if seen.get(word) is not value}
        _carry_out(st, changed, {word for word, _ in names})
        for spelled, value in list(outer.attributes.items()):
            if inner.attributes.get(spelled) is not value:
                st.env.drop(spelled)
    return st.node(g.COMPREHENSION, ins, _COMPREHENSIONS[type(node)], node)


_COMPREHENSIONS: dict[type[ast.expr], str] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
}


def _carry_out(st: Lowering, names: dict[str, Node], own: set[str]) -> None:
    """Bind outside what a comprehension, which may have run or not, bound or changed of the names outside."""
    for word, inner in names.items():
        before, value = st.env.names.get(word), unnarrowed(inner)
        if word in own or value.op in (g.GLOBAL, g.FREE):
            continue
        if before is None or unnarrowed(before) is not value:
            rebind(st, word, value if before is None else st.node(g.PHI, (before, value), None, value.at))


EXPRESSIONS.update({
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.BoolOp: _either, ast.IfExp: _conditional, ast.Tuple: _sequence, ast.List: _sequence,
    ast.Set: _sequence, ast.Dict: _dictionary, ast.ListComp: _comprehension, ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.NamedExpr: _named, ast.Await: _copied, ast.Starred: _copied, ast.Yield: _yielded, ast.YieldFrom: _yielded,
    ast.Lambda: _lambda, ast.JoinedStr: _text, ast.FormattedValue: _formatted,
})  # fmt: skip
for _word, _lower in (("TemplateStr", _text), ("Interpolation", _formatted)):
    if hasattr(ast, _word):  # from Python 3.14 on
        EXPRESSIONS[getattr(ast, _word)] = _lower
