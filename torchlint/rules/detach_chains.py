"""Where a chain of methods detaches already, so that no fix writes a second `.detach()` into it."""

from __future__ import annotations

import libcst as cst

from torchlint.rule import FileContext
from torchlint.rules.data_use import method_call
from torchlint.rules.tensor_objects import SAME_OR_NEW_METHODS

_COPYING = SAME_OR_NEW_METHODS | {"clone"}
"""Methods behind and before which a `.detach()` does the same."""


def is_detaching(node: cst.BaseExpression) -> bool:
    """Whether an expression ends in `.detach()` or `.data`, or in copies of what does."""
    detaching = detaching_end(node)
    return detaching is not None


def detaching_end(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the part of a chain up to its last `.detach()` or `.data` where only copies come behind it."""
    while True:
        match node:
            case cst.Attribute(attr=cst.Name(value="data")):
                return node
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="detach")), args=[]):
                return node
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in _COPYING:
                node = inner
            case _:
                return None


def is_detached_behind(node: cst.BaseExpression, context: FileContext, with_data: bool = False) -> bool:
    """Whether `.detach()`, or `.data` where that counts too, comes behind an expression, copies between them or not."""
    at: cst.CSTNode = node
    while (called := method_call(at, context)) is not None:
        at, word = called
        if word == "detach" and not at.args:
            return True
        if word not in _COPYING:
            return False
    above = context.parent(at)
    return with_data and isinstance(above, cst.Attribute) and above.attr.value == "data"
