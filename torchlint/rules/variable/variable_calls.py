"""Which expressions name torch's ``Variable``, and what a call of it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from torchlint.rules.api import FileContext

NAMES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
"""The class has these two addresses and no other."""

_ALIAS = re.compile(rb"\bVariable\s+as\s+(\w+)|\b(\w+)\s*=[^=\n]*\bVariable\b")


@dataclass(frozen=True, slots=True)
class VariableCall:
    """A call ``Variable(data, requires_grad, volatile)``: its arguments, None where they are left out."""

    call: cst.Call
    word: cst.Name
    """The constructor's name, the word at fault."""
    data: cst.Arg | None = None
    requires_grad: cst.Arg | None = None
    volatile: cst.Arg | None = None
    plain: bool = True
    """Whether nothing else is passed: no star, no ``name=``."""


def names_variable(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is torch's ``Variable`` beyond doubt, under whatever alias."""
    word = _last_word(node)
    if word is None or word not in _spellings(context.source.utf8):
        return False
    names = context.names(node)
    return bool(names) and names <= NAMES


def last_name(node: cst.BaseExpression) -> cst.Name:
    """Return the name at the end of a dotted expression."""
    return node.attr if isinstance(node, cst.Attribute) else cst.ensure_type(node, cst.Name)


def variable_call(call: cst.Call, context: FileContext) -> VariableCall | None:
    """Read a call of ``Variable``; None where it is a call of something else."""
    if not names_variable(call.func, context):
        return None
    bound: dict[str, cst.Arg] = {}
    plain = True
    for at, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword else ("data", "requires_grad", "volatile", "name")[min(at, 3)]
        if argument.star or name not in ("data", "requires_grad", "volatile"):
            plain = False
        else:
            bound[name] = argument
    return VariableCall(
        call, last_name(call.func), bound.get("data"), bound.get("requires_grad"), bound.get("volatile"), plain
    )


def _last_word(node: cst.BaseExpression) -> str | None:
    match node:
        case cst.Name(value=word) | cst.Attribute(attr=cst.Name(value=word)):
            return word
    return None


@lru_cache(maxsize=8)
def _spellings(text: bytes) -> frozenset[str]:
    """Return the names under which a file may know ``Variable``: asked of every call, so facts come after it."""
    found = {"Variable"}
    for one, other in _ALIAS.findall(text):
        found.add((one or other).decode())
    return frozenset(found)
