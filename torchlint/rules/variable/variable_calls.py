"""Which expressions name torch's ``Variable``, what a call of it says, and the edits that take it off."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext

VARIABLE_NAMES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
"""The class has these two addresses and no other."""
_PARAMETERS = ("data", "requires_grad", "volatile")
_ALIAS = re.compile(rb"\bVariable\s+as\s+(\w+)|\b(\w+)\s*=[^=\n]*\bVariable\b")


@dataclass(frozen=True, slots=True)
class VariableCall:
    """A call ``Variable(data, requires_grad, volatile)``: its arguments, None where they are left out."""

    call: cst.Call
    word: cst.Name
    """The constructor's name, the word at fault."""
    data: cst.Arg | None
    requires_grad: cst.Arg | None
    volatile: cst.Arg | None
    plain: bool
    """Whether nothing else is passed: no star, no ``name=``."""


def names_variable(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is torch's ``Variable`` beyond doubt, under whatever alias."""
    if not isinstance(node, cst.Name | cst.Attribute) or last_name(node).value not in _spellings(context.source.utf8):
        return False
    names = context.names(node)
    return bool(names) and names <= VARIABLE_NAMES


def last_name(node: cst.BaseExpression) -> cst.Name:
    """Return the name at the end of a dotted expression."""
    return node.attr if isinstance(node, cst.Attribute) else cst.ensure_type(node, cst.Name)


def variable_call(call: cst.Call, context: FileContext) -> VariableCall | None:
    """Read a call of ``Variable``; None where it is a call of something else."""
    if not names_variable(call.func, context):
        return None
    bound = dict(zip(_PARAMETERS, (each for each in call.args if each.keyword is None and not each.star), strict=False))
    bound |= {each.keyword.value: each for each in call.args if each.keyword is not None}
    plain = len(bound) == len(call.args) and bound.keys() <= set(_PARAMETERS)
    data, requires_grad, volatile = map(bound.get, _PARAMETERS)
    return VariableCall(call, last_name(call.func), data, requires_grad, volatile, plain)


@lru_cache(maxsize=8)
def _spellings(text: bytes) -> frozenset[str]:
    """Return the names under which a file may know ``Variable``: asked of every call, so facts come after it."""
    return frozenset({"Variable", *((one or other).decode() for one, other in _ALIAS.findall(text))})


# ---------------------------------------------------------------------- taking it off
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.ListComp)
_OPEN = (
    cst.Arg, cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Return, cst.Expr, cst.Element, cst.DictElement, cst.Index,
)  # fmt: skip
"""Where an expression needs no parentheses, however it is made."""


def unwrap(call: cst.Call, inner: cst.Arg, behind: str, context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits; None where the argument does not come first, or a comment or a line break is in the way."""
    start, end = context.span(call)
    first, last = context.outer_span(inner.value)
    head, tail = context.source.slice(start, first), context.source.slice(last, end)
    if call.args[0] is not inner or "#" in head + tail or "\n" in behind:
        return None
    needs = _needs_parentheses(call, inner.value, bool(behind), context)
    opening, closing = ("(", ")") if needs else ("", "")
    return Edit(start, first, opening), Edit(last, end, closing + behind)


def _needs_parentheses(call: cst.Call, value: cst.BaseExpression, suffixed: bool, context: FileContext) -> bool:
    if value.lpar:
        return False
    if not isinstance(value, _ATOMS):
        return suffixed or not (call.lpar or isinstance(context.parent(call), _OPEN))
    try:
        return len(ast.parse(context.code(value)).body) != 1
    except (SyntaxError, ValueError):  # a line break outside brackets
        return True
