"""What the messages and the reasons of rules have in common: code in one line, and the steps behind a finding."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.model import Fix
from torchlint.rules.api import FileContext, FlowPlace, Kind, one_line


# ---------------------------------------------------------------------- code in one line
def brief(node: cst.CSTNode, context: FileContext) -> str:
    """Return a node's text as it stands in the file, cut where it is long."""
    return one_line(context.code(node), 40)


def brief_or(instead: str, node: cst.CSTNode, context: FileContext) -> str:
    """Return a node's text as it stands in the file, or a stand-in for what does not fit between two backticks."""
    code = context.code(node)
    return code if len(code) <= 40 and "\n" not in code and "`" not in code else instead


def in_a_line(node: ast.AST) -> str:
    """Return a node's code as Python spells it, cut where it is long: for a step of the reasons."""
    return one_line(ast.unparse(node), 60)


def first_line(node: ast.expr | ast.stmt, context: FileContext) -> str:
    """Return the first line of a node's text as it stands in the file: the head of a loop or a test."""
    return context.source.slice(*context.span(node)).partition("\n")[0]


def in_the_imperative(fix: Fix | None) -> str:
    """Return what a fix does as the end of a message: "drop `.data`"; nothing where there is none."""
    return fix.action[:1].lower() + fix.action[1:] if fix is not None else ""


# ---------------------------------------------------------------------- steps behind a finding
def value_step(node: cst.BaseExpression, what: str, context: FileContext) -> str:
    """Say that an expression is something, and where it comes from: "`x` is a tensor: `x = fc(y)`, line 4"."""
    place = context.python(node)
    begun = _origin(place, context) if isinstance(place, ast.Name) else None
    said = f"`{brief(node, context)}` is {what}"
    if begun is not None:
        return f"{said}: {begun}"
    return f"{said}, line {place.lineno}" if isinstance(place, ast.expr) else said


def flow_step(place: FlowPlace, said: str) -> str:
    """Say what happens at a place of a value's way: "`self.w` keeps it, net.py line 9"."""
    return f"`{in_a_line(place.node)}` {said}, {place.path}{' ' if place.path else ''}line {place.row}"


def tensor_step(node: cst.BaseExpression, context: FileContext) -> str:
    """Say that an expression is known or taken to be a tensor, and where it comes from."""
    known = context.value(node)
    if not known.is_tensor:
        is_sure = known.may(Kind.TENSOR) and known.must(Kind.TENSOR | Kind.NONE)
        return value_step(node, "a tensor or `None`" if is_sure else "taken for a tensor", context)
    return value_step(node, "a parameter" if "torch.nn.Parameter" in known.instance else "a tensor", context)


def import_step(node: cst.BaseExpression, context: FileContext) -> str:
    """Say what a dotted name means, and which line imports it."""
    code = brief(node, context)
    meant = " or ".join(f"`{each}`" for each in sorted(context.names(node)))
    said = f"`{code}` is {meant}" if meant not in ("", f"`{code}`") else f"`{code}` is torch's own"
    place = context.python(node)
    while isinstance(place, ast.Attribute):
        place = place.value
    bound = context.definition(place) if isinstance(place, ast.Name) else None
    return f"{said} by its import, line {bound.lineno}" if isinstance(bound, ast.Import | ast.ImportFrom) else said


def _origin(name: ast.Name, context: FileContext) -> str | None:
    """Spell the one thing that gives a name its value; None where several do, or where that is not understood."""
    match bound := context.definition(name):
        case ast.arg():
            return f"the argument `{in_a_line(bound)}`, line {bound.lineno}"
        case ast.expr() if not isinstance(bound, ast.Name):
            above = context.parent(bound)
            is_assigned = isinstance(above, ast.Assign) and above.value is bound
            return f"`{in_a_line(above if is_assigned and above else bound)}`, line {bound.lineno}"
    return None
