"""New memory that is filled with one value in the same expression: `torch.empty(2).zero_()` is `torch.zeros(2)`."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext

_WORDS: dict[float | None, str] = {0: "zeros", 1: "ones"}


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills new memory."""

    word: str
    """How the function is called that makes such memory at once: ``zeros`` or ``ones``."""
    edit: Edit
    """Takes away the call that fills it."""


def filling(node: cst.Call, context: FileContext) -> Filling | None:
    """Return the ``.zero_()``, ``.fill_(0)`` or ``.fill_(1)`` right behind a call; None where there is no such one."""
    method = context.parent(node)
    used = context.parent(method) if isinstance(method, cst.Attribute) and method.value is node else None
    if not isinstance(used, cst.Call) or used.func is not method:
        return None
    edit = Edit(context.outer_span(node)[1], context.span(used)[1], "")
    if "#" in context.source.slice(edit.start, edit.end):
        return None
    match used:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="zero_")), args=[]):
            return Filling("zeros", edit)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="fill_")), args=[cst.Arg(keyword=None, star="") as given]):
            number = given.value.evaluated_value if isinstance(given.value, cst.Integer | cst.Float) else None
            return Filling(_WORDS[number], edit) if number in _WORDS else None
    return None
