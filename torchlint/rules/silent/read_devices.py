"""Whether a function shows that it expects a tensor on an accelerator: it asks where that is, and puts something there.

Who writes ``torch.zeros(2, device=x.device)`` knows that ``x`` need not be on the host. A device that is only compared,
asserted or printed says nothing, nor does a tensor that is moved to where itself is.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Function, Kind, is_settings, remembered

_OWNERS = frozenset({"self", "cls", "trainer", "accelerator", "generator", "rng"})
"""Objects whose ``device`` is a choice and not a tensor's; those of settings beside them."""
_ONLY_LOOKING = frozenset(
    "print str repr type isinstance len format getattr hasattr hash append add info debug warning error log write "
    "assertEqual assert_equal".split()
)
"""Functions and methods that put nothing anywhere."""


def read_device(node: ast.expr, context: FileContext) -> ast.expr | None:
    """Return where the function around a tensor puts something by that tensor's device; None where it does not."""
    function = context.function_around(node)
    if function is None or not isinstance(node, ast.Name | ast.Attribute):
        return None
    for each in _read_in(function, context).get(ast.unparse(node), ()):
        if _is_same(each.value, node, context):
            return each
    return None


def is_read_directly(node: ast.expr, context: FileContext) -> bool:
    """Whether a function puts something by the device of an expression, or of what it takes a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return context.value(node).may(Kind.TENSOR) and read_device(node, context) is not None


def _is_same(one: ast.expr, other: ast.expr, context: FileContext) -> bool:
    """Whether two expressions of the same words may stand for the same tensor."""
    match one, other:
        case ast.Attribute(value=first), ast.Attribute(value=second):
            return _is_same(first, second, context)
        case ast.Name(), ast.Name():
            places = context.reaching(other)
            return any(each is place for each in context.reaching(one) for place in places)
    return False


@remembered
def _read_in(function: Function, context: FileContext) -> dict[str, list[ast.Attribute]]:
    """Return the reads of a device by which a function puts something, by the text of what they are read from."""
    found: dict[str, list[ast.Attribute]] = {}
    for each in context.own(function, ast.Attribute):
        if each.attr == "device" and _is_plain(each.value) and _puts_something(each, function, context):
            found.setdefault(ast.unparse(each.value), []).append(each)
    return found


def _is_plain(owner: ast.expr) -> bool:
    """Whether what has a device is spelled by names alone and is no object of settings."""
    match owner:
        case ast.Name(id=word):
            return word not in _OWNERS and not is_settings(word)
        case ast.Attribute(value=inner, attr=word):
            return word not in _OWNERS and not is_settings(word) and _is_path(inner)
    return False


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _puts_something(device: ast.Attribute, function: Function, context: FileContext) -> bool:
    """Whether a device is given to a call, at once or by a name."""
    if _is_given(device, device.value, context):
        return True
    above = context.parent(device)
    match above:
        case ast.Assign(value=value, targets=[target]) if value is device:
            return _name_puts(target, device.value, function, context)
        case ast.Tuple(elts=values) if isinstance(whole := context.parent(above), ast.Assign) and whole.value is above:
            targets = whole.targets[0].elts if isinstance(whole.targets[0], ast.Tuple) else []
            if len(whole.targets) == 1 and len(targets) == len(values):
                return _name_puts(targets[values.index(device)], device.value, function, context)
    return False


def _name_puts(target: ast.expr, owner: ast.expr, function: Function, context: FileContext) -> bool:
    if not isinstance(target, ast.Name):
        return False
    uses = (each for each in context.inside(function, ast.Name) if each.id == target.id)
    return any(isinstance(each.ctx, ast.Load) and _is_given(each, owner, context) for each in uses)


def _is_given(device: ast.expr, owner: ast.expr, context: FileContext) -> bool:
    """Whether a device is given to a call that puts something else than its owner there."""
    above = context.parent(device)
    call = context.parent(above) if isinstance(above, ast.keyword) else above
    if not isinstance(call, ast.Call) or call.func is device:
        return False
    match call.func:
        case ast.Attribute(value=receiver, attr="to" | "type" | "cuda"):
            return ast.unparse(receiver) != ast.unparse(owner)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word not in _ONLY_LOOKING
    return False
