"""The step behind a finding that rests on what an object is: where it comes from, or what its name stands for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.rules.api import FileContext, Kind
from torchlint.rules.evidence.local_bindings import bindings_of, places_of
from torchlint.rules.evidence.shown_code import brief, in_a_line

if TYPE_CHECKING:
    import libcst as cst


def value_step(node: cst.BaseExpression, what: str, context: FileContext) -> str:
    """Say that an expression is something, and where it comes from: "`x` is a tensor: `x = fc(y)`, line 4"."""
    place = context.python(node)
    begun = _origin(place, context) if isinstance(place, ast.Name) else None
    said = f"`{brief(node, context)}` is {what}"
    if begun is not None:
        return f"{said}: {begun}"
    return f"{said}, line {place.lineno}" if isinstance(place, ast.expr) else said


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
    if not isinstance(place, ast.Name):
        return said
    binding = {
        each.lineno
        for each in context.imports
        for alias in each.names
        if (alias.asname or alias.name.partition(".")[0]) == place.id
    }
    return f"{said} by its import, line {binding.pop()}" if len(binding) == 1 else said


def _origin(name: ast.Name, context: FileContext) -> str | None:
    """Spell the one thing that binds a name; None where several do, or where that is not understood."""
    places = places_of(name, context)
    if len(places) != 1:
        return None
    if isinstance(places[0], ast.arg):
        return f"the argument `{in_a_line(places[0])}`, line {places[0].lineno}"
    bound = bindings_of(name, context)
    if len(bound) != 1 or bound[0].is_augmented:
        return None
    code = in_a_line(bound[0].value)
    said = f"an element of `{code}`" if bound[0].depth else f"`{name.id} = {code}`"
    return f"{said}, line {places[0].lineno}"
