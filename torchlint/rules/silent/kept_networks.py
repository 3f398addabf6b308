"""Where a class moves a network that it keeps: what is moved and then called is one, and its result is where it is."""

from __future__ import annotations

import ast

from torchlint.rules.api import Device, FileContext, Kind, is_called_self, remembered
from torchlint.rules.local_bindings import bindings_of

_MOVING = frozenset({"cuda", "to", "xpu", "npu"})
_HANDING_ON = _MOVING | {"eval", "train", "half", "float", "double", "requires_grad_"}
"""Methods of a network that give it."""


def moved_by_class(function: ast.expr, context: FileContext) -> ast.Call | None:
    """Return the move to another device of an attribute that is called, if its class moves it: ``self.net(x)``."""
    match function:
        case ast.Attribute(value=ast.Name(id="self"), attr=word):
            owner = context.nearest(function, ast.ClassDef)
            return _moves(owner, context).get(word) if owner is not None else None
    return None


@remembered
def _moves(owner: ast.ClassDef, context: FileContext) -> dict[str, ast.Call]:
    """Return the moves of a class by the attributes that hold what is moved; none of what another line sets."""
    found: dict[str, ast.Call] = {}
    others: set[str] = set()
    for made in context.inside(owner, ast.Assign):
        for target in made.targets:
            if isinstance(target, ast.Attribute) and is_called_self(target.value):
                move = _move(made.value, context)
                if move is not None:
                    found[target.attr] = move
                elif not (isinstance(made.value, ast.Constant) and made.value.value is None):
                    others.add(target.attr)
    for asked in context.inside(owner, ast.Expr):
        move, root = _move(asked.value, context), _root(asked.value)
        if move is not None and isinstance(root, ast.Attribute) and is_called_self(root.value):
            found[root.attr] = move
            others.discard(root.attr)
    return {word: each for word, each in found.items() if word not in others}


def _move(value: ast.expr, context: FileContext) -> ast.Call | None:
    """Return the last call in a chain that moves a network to what may be an accelerator."""
    if isinstance(value, ast.Name):
        bound = bindings_of(value, context)
        value = bound[0].value if len(bound) == 1 and not bound[0].depth else value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HANDING_ON:
        if value.func.attr in _MOVING and _is_to_another_device(value, context):
            return value
        value = value.func.value
    return None


def _is_to_another_device(call: ast.Call, context: FileContext) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr != "to":
        return True
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "device")]
    values = [context.value(each) for each in given]
    return any(
        not each.must(Kind.DTYPE) and not (each.must(Kind.DEVICE | Kind.STRING) and each.device == Device.HOST)
        for each in values
    )


def _root(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return value
