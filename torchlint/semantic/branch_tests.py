"""What the outcome of a test says of the variables in it."""

from __future__ import annotations

import ast

from torchlint.semantic.bound_names import DEEPEST_SPELLING, bound, dotted, narrow_name, same_object, unnarrowed
from torchlint.semantic.graph import CALL, CONST, EITHER, PI, SEQUENCE, TRUTH, Narrowing, Node, Span
from torchlint.semantic.lower_targets import key_of
from torchlint.semantic.lowering_state import Lowering

_ATTRIBUTES = {"requires_grad": ("requires_grad", True), "is_cuda": ("is_cuda", True), "is_cpu": ("host", True)}
"""Attributes that are tests of the tensor that has them, as a sort of narrowing, and which answer says yes."""


def narrow(st: Lowering, test: ast.expr, positive: bool) -> None:
    """Bind the variables of a test to what they are where it came out this way."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, positive = test.operand, not positive
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == positive:
            for each in test.values:
                narrow(st, each, positive)
        elif positive:
            _narrow_any(st, test)
    elif isinstance(test, ast.Compare):
        if len(test.ops) == 1:
            _narrow_compare(st, test, positive)
    elif isinstance(test, ast.Call):
        _narrow_call(st, test, positive)
    elif isinstance(test, ast.NamedExpr):
        narrow(st, test.value, positive)
        narrow_place(st, test.target, Narrowing("truth", positive), test)
    elif isinstance(test, ast.Attribute):
        if test.attr in _ATTRIBUTES:
            sort, answer = _ATTRIBUTES[test.attr]
            narrow_place(st, test.value, Narrowing(sort, positive == answer), test)
        narrow_place(st, test, Narrowing("truth", positive), test)
    elif isinstance(test, ast.Name):
        _narrow_flag(st, test, positive)
        narrow_place(st, test, Narrowing("truth", positive), test)


_OF_STATE = frozenset(("requires_grad", "is_cuda", "host"))
"""What may be otherwise once the object was changed."""


def _narrow_flag(st: Lowering, test: ast.Name, positive: bool) -> None:
    """Narrow by the test whose outcome a name holds, where its variables were not bound anew since."""
    flag = bound(st, test.id)
    if flag is None:
        return
    flag, seen = unnarrowed(flag), st.by_syntax.get(test)
    if seen is not None and unnarrowed(seen) is not flag:
        return
    if flag.op in (CALL, TRUTH, EITHER) and flag.fn is st.fn:
        written = flag.at
        if isinstance(written, ast.Call | ast.Compare | ast.UnaryOp | ast.BoolOp):
            narrow(st, written, positive)


def narrow_place(st: Lowering, place: ast.expr, narrowing: Narrowing, at: Span) -> Node | None:
    """Bind a variable to itself as a test leaves it; return the node, or None for what is no variable."""
    if isinstance(place, ast.NamedExpr):
        place = place.target
    spelled = dotted(place)
    if spelled is None or spelled.count(".") > DEEPEST_SPELLING:
        return None
    seen, before = st.by_syntax.get(place), bound(st, spelled)
    if before is None:
        before = st.expr(place)
    elif seen is not None:
        is_changed = unnarrowed(seen) is not unnarrowed(before)
        if not same_object(seen, before) or (is_changed and narrowing.sort in _OF_STATE):
            return None
    made = st.node(PI, (before,), narrowing, at)
    narrow_name(st, spelled, made)
    return made


def _word(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _narrow_call(st: Lowering, test: ast.Call, positive: bool) -> None:
    word, given = _word(test.func), test.args
    if not given:
        if word == "is_floating_point" or not isinstance(test.func, ast.Attribute):
            return
        if word in ("is_cuda", "requires_grad"):  # written as if they were methods
            narrow_place(st, test.func.value, Narrowing(word, positive), test)
    elif word == "isinstance" and len(given) == 2:
        narrow_place(st, given[0], Narrowing("isinstance", positive, st.expr(given[1])), test)
    elif word == "is_tensor":
        narrow_place(st, given[0], Narrowing("tensor", positive), test)
    elif word == "callable":
        narrow_place(st, given[0], Narrowing("hasattr __call__", positive), test)
    elif word == "hasattr" and len(given) == 2 and _is_text(given[1]):
        narrow_place(st, given[0], Narrowing(f"hasattr {key_of(given[1])}", positive), test)
    elif word == "bool" and len(given) == 1:
        narrow(st, given[0], positive)
    elif word == "all" and positive and isinstance(given[0], ast.GeneratorExp | ast.ListComp):
        inner = given[0].elt
        if isinstance(inner, ast.Call) and _word(inner.func) == "isinstance" and len(inner.args) == 2:
            cls = st.expr(inner.args[1])
            narrow_place(st, given[0].generators[0].iter, Narrowing("elements", True, cls), test)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _narrow_any(st: Lowering, test: ast.BoolOp) -> None:
    """Read ``isinstance(x, A) or isinstance(x, B)`` as ``isinstance(x, (A, B))``."""
    places, classes = set(), []
    for each in test.values:
        if not (isinstance(each, ast.Call) and _word(each.func) == "isinstance" and len(each.args) == 2):
            return
        places.add(dotted(each.args[0]))
        classes.append(st.expr(each.args[1]))
        first = each.args[0]
    if len(places) == 1:
        either = st.node(SEQUENCE, tuple(classes), "tuple", test)
        narrow_place(st, first, Narrowing("isinstance", True, either), test)


def _narrow_compare(st: Lowering, test: ast.Compare, positive: bool) -> None:
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(op, ast.IsNot | ast.NotEq | ast.NotIn):
        positive = not positive
    elif not isinstance(op, ast.Is | ast.Eq | ast.In):
        return
    among = isinstance(op, ast.In | ast.NotIn)
    if isinstance(left, ast.Constant) and not among:
        left, right = right, left
    if isinstance(right, ast.Constant) and right.value is None and not among:
        narrow_place(st, left, Narrowing("none", positive), test)
        return
    if isinstance(left, ast.Call) and _word(left.func) == "type" and len(left.args) == 1:
        narrow_place(st, left.args[0], Narrowing("type", positive, st.expr(right)), test)
        return
    constant = st.expr(right)
    if isinstance(left, ast.Attribute) and left.attr == "dtype" and positive and not among:
        narrow_place(st, left.value, Narrowing("dtype", True, constant), test)
        return
    if not _is_constant(constant, among):
        return
    if not among and isinstance(constant.data, str):
        owner = _owner_of_device(left)
        if owner is not None:
            sort = "host" if constant.data == "cpu" else "is_cuda"
            narrow_place(st, owner, Narrowing(sort, positive), test)
    narrow_place(st, left, Narrowing("equals", positive, constant), test)


def _is_constant(node: Node, among: bool) -> bool:
    if among:
        return node.op == SEQUENCE and bool(node.ins) and all(each.op == CONST for each in node.ins)
    return node.op == CONST


def _owner_of_device(node: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.device``, ``x.device.type`` and ``str(x.device)``; None for other expressions."""
    if isinstance(node, ast.Call) and _word(node.func) == "str" and len(node.args) == 1:
        node = node.args[0]
    if isinstance(node, ast.Attribute) and node.attr == "type":
        node = node.value
    return node.value if isinstance(node, ast.Attribute) and node.attr == "device" else None
