"""What a step on a tensor's way does to it, by its words: whether it may lead on, and how many dimensions it leaves."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, leaf
from torchlint.rules.local_bindings import names_of
from torchlint.rules.silent.device_words import JOINING, KEEPING, REDUCING, TAKING

_ADDING_ONE = frozenset({"unsqueeze", "one_hot", "diag_embed", "stack"})
_GIVING_ONE = frozenset({"flip"})
_RESHAPING = frozenset({"view", "reshape", "expand", "repeat", "broadcast_to"})
_FLATTENING = frozenset("flatten repeat_interleave expand_as view_as reshape_as unflatten".split())
"""What leaves one dimension at least, and maybe no more."""


def leads_on(above: ast.AST, node: ast.expr, context: FileContext) -> bool:
    """Whether what stands around a tensor may be a place where it meets another, by its words."""
    match above:
        case ast.Attribute(attr=word):
            return word in JOINING or word in KEEPING or word in REDUCING or word in ("T", "mT")
        case ast.Subscript(value=host, ctx=ast.Load()):
            return host is node
        case ast.Subscript():
            return False
        case ast.AugAssign(target=target):
            return not isinstance(target, ast.Subscript)
        case ast.Dict() | ast.ListComp():
            return False
        case ast.Call():
            return _may_take(above, context)
        case ast.keyword() | ast.List() | ast.Tuple():
            call = context.parent(above)
            return isinstance(call, ast.Call) and _may_take(call, context)
    return True


def _may_take(call: ast.Call, context: FileContext) -> bool:
    """Whether a call may let a tensor that it is given meet another, by the name of what is called."""
    if any(each.arg == "device" for each in call.keywords):
        return False
    names = names_of(call.func, context)
    return not names or all(each.startswith("torch.") and leaf(each) in TAKING for each in names)


def dimensions_after(call: ast.Call, word: str, dimensions: int, is_method: bool) -> int:
    """Return how many dimensions a method or function of torch leaves at least of a tensor that has some at least."""
    given = call.args if is_method else call.args[1:]
    if word in REDUCING:
        return _reduced(call, given, dimensions)
    if word in _ADDING_ONE:
        return dimensions + 1
    if word in _GIVING_ONE:
        return max(dimensions, 1)
    if word in _RESHAPING:
        return _reshaped(given, dimensions, is_method)
    return min(dimensions, 1) if word in _FLATTENING else dimensions


def _reduced(call: ast.Call, given: list[ast.expr], dimensions: int) -> int:
    """Return what a sum along a dimension leaves: one less, but for ``keepdim``; one of all numbers leaves none."""
    named = {each.arg: each.value for each in call.keywords}
    along = named.get("dim", named.get("axis", next(iter(given), None)))
    kept = named.get("keepdim")
    if isinstance(kept, ast.Constant) and kept.value is True:
        return dimensions
    match along:
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
            return max(dimensions - 1, 0)
        case ast.Tuple(elts=several) | ast.List(elts=several):
            return max(dimensions - len(several), 0)
    return 0


def _reshaped(given: list[ast.expr], dimensions: int, is_method: bool) -> int:
    sizes = given[0].elts if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) else given
    spelled = [each for each in sizes if not isinstance(each, ast.Starred)]
    is_spelled = len(spelled) == len(sizes) and (sizes is not given or (is_method and len(given) > 1))
    return len(sizes) if is_spelled else min(dimensions, 1)


def dimensions_of_part(parts: list[ast.expr], dimensions: int) -> int:
    """Return how many dimensions a part has at least: a number takes one away, ``None`` adds one."""
    numbers = sum(not isinstance(each, ast.Slice) and not is_blank(each) for each in parts)
    added = sum(isinstance(each, ast.Constant) and each.value is None for each in parts)
    return max(dimensions - numbers, 0) + added


def is_blank(node: ast.expr) -> bool:
    """Whether a part of an index is ``None`` or ``...``, which is no number."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis)
