"""Whether a move or a cast behind a leaf makes another tensor of it, which is none, or gives the leaf itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import Device, FileContext, Kind
from torchlint.rules.evidence.local_bindings import bindings_of

MOVES = frozenset({"cuda", "cpu", "to", "xpu", "npu", "mps", "type"})
CASTS = {"half": "float16", "double": "float64", "bfloat16": "bfloat16", "float": "float32"}
_DEEPEST = 3


def does_nothing(call: ast.Call, method: str, wrapped: ast.expr, context: FileContext) -> bool:
    """Whether a move or cast gives the leaf itself, as far as anything says so."""
    value = context.value(wrapped)
    if method in CASTS:
        return value.exact == CASTS[method] or (method == "float" and value.exact is None)
    if method == "cpu":
        return not value.device & Device.ACCELERATOR
    if method in ("to", "type"):
        return _is_there(call, wrapped, context)
    return value.device == Device.ACCELERATOR


def is_sure(method: str, wrapped: ast.expr, context: FileContext) -> bool:
    """Whether a call makes a new tensor beyond doubt: from a host that is known, or to another dtype."""
    value = context.value(wrapped)
    if method in CASTS:
        return value.exact is not None
    return value.device == Device.HOST and method in ("cuda", "xpu", "npu", "mps")


def _is_there(call: ast.Call, wrapped: ast.expr, context: FileContext) -> bool:
    """Whether what ``.to`` is given is the device, or the dtype, that the tensor has."""
    if any(each.arg == "copy" for each in call.keywords):
        return False
    made_with = {ast.unparse(each) for inner in _calls(wrapped) for each in _given(inner)}
    value = context.value(wrapped)
    places = _places(wrapped, context)
    for each in _given(call):
        given, code = context.value(each), ast.unparse(each)
        if code in made_with or (given.must(Kind.DEVICE | Kind.STRING) and code in places):
            continue
        if given.must(Kind.DTYPE) and value.exact is not None and f"torch.{value.exact}" in given.names:
            continue
        is_host = given.must(Kind.DEVICE | Kind.STRING) and given.device == Device.HOST
        if not (is_host and not value.device & Device.ACCELERATOR):
            return False
    return True


def _given(call: ast.Call) -> list[ast.expr]:
    """Return what says where a call's result is and what it holds."""
    return [*call.args, *(each.value for each in call.keywords if each.arg not in ("non_blocking", "memory_format"))]


def _places(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> frozenset[str]:
    """Return the codes of what a tensor, or one that it is computed with, was moved to last: both are on one device."""
    match node:
        case ast.BinOp(left=left, right=right) if depth:
            return _places(left, context, depth - 1) | _places(right, context, depth - 1)
        case ast.Call(func=ast.Attribute(attr="to"), args=[place]):
            return frozenset({ast.unparse(place)}) if context.value(place).must(Kind.DEVICE) else frozenset()
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            found = [frozenset() if each.depth else _places(each.value, context, depth - 1) for each in bound]
            return frozenset.intersection(*found) if found else frozenset()
    return frozenset()


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls of a chain, outermost first."""
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=inner)):
                yield node
                node = inner
            case ast.Call():
                yield node
                return
            case ast.Attribute(value=inner):
                node = inner
            case _:
                return
