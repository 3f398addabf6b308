"""New memory that is filled with one value in the same expression: `torch.empty(2).zero_()` is `torch.zeros(2)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.repairs import method_call

_WORDS: Final[dict[float, str]] = {0: "zeros", 1: "ones"}


@dataclass(frozen=True, slots=True)
class Filling:
    """What fills new memory."""

    word: str
    """How the function is called that makes such memory at once: ``zeros`` or ``ones``."""
    edit: Edit
    """Takes away the call that fills it."""


def filling(node: cst.Call, context: FileContext) -> Filling | None:
    """Return the ``.zero_()``, ``.fill_(0)`` or ``.fill_(1)`` right behind a call; None where there is no such one."""
    called = method_call(node, context)
    if called is None:
        return None
    used, method = called
    edit = Edit(context.outer_span(node)[1], context.span(used)[1], "")
    if "#" in context.source.slice(edit.start, edit.end):
        return None
    match method, used.args:
        case "zero_", []:
            return Filling("zeros", edit)
        case "fill_", [cst.Arg(keyword=None, value=cst.Integer() | cst.Float() as number)]:
            word = _WORDS.get(number.evaluated_value)
            return Filling(word, edit) if word is not None else None
    return None
