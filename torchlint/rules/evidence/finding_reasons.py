"""The step behind a finding that rests on what an object is: where it comes from, or what its name stands for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.rules.evidence.constructor_argument import brief
from torchlint.rules.evidence.local_bindings import bindings_of, places_of

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.rules.api import FileContext

_LONGEST = 60
_OF_A_MODULE = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def is_what(node: cst.BaseExpression, what: str, context: FileContext) -> str:
    """Say that an expression is something, and where it comes from: "`x` is a tensor: `x = fc(y)`, line 4"."""
    place = context.python(node)
    begun = _origin(place, context) if isinstance(place, ast.Name) else None
    said = f"`{brief(node, context)}` is {what}"
    if begun is not None:
        return f"{said}: {begun}"
    return f"{said}, line {place.lineno}" if isinstance(place, ast.expr) else said


def is_tensor_step(node: cst.BaseExpression, context: FileContext) -> str:
    """Say that an expression is known or taken to be a tensor, and where it comes from."""
    if not context.value(node).is_tensor:
        return is_what(node, "taken for a tensor", context)
    is_parameter = bool(context.value(node).instance & _OF_A_MODULE)
    return is_what(node, "a parameter" if is_parameter else "a tensor", context)


def stands_for(node: cst.BaseExpression, context: FileContext) -> str:
    """Say what a dotted name means, and which line imports it."""
    code = brief(node, context)
    meant = " or ".join(f"`{each}`" for each in sorted(context.names(node)))
    said = f"`{code}` is {meant}" if meant not in ("", f"`{code}`") else f"`{code}` is torch's own"
    place = context.python(node)
    while isinstance(place, ast.Attribute):
        place = place.value
    if not isinstance(place, ast.Name):
        return said
    imports: list[ast.ImportFrom | ast.Import] = [*context.nodes(ast.ImportFrom), *context.nodes(ast.Import)]
    for each in imports:
        for alias in each.names:
            if (alias.asname or alias.name.partition(".")[0]) == place.id:
                return f"{said} by its import, line {each.lineno}"
    return said


def _origin(name: ast.Name, context: FileContext) -> str | None:
    """Spell the one thing that binds a name; None where several do, or where that is not understood."""
    places = places_of(name, context)
    if len(places) != 1:
        return None
    if isinstance(places[0], ast.arg):
        return f"the argument `{_short(places[0])}`, line {places[0].lineno}"
    bound = bindings_of(name, context)
    if len(bound) != 1 or bound[0].is_augmented:
        return None
    code = _short(bound[0].value)
    said = f"an element of `{code}`" if bound[0].depth else f"`{name.id} = {code}`"
    return f"{said}, line {places[0].lineno}"


def _short(node: ast.expr | ast.arg) -> str:
    code = " ".join(ast.unparse(node).split())
    return code if len(code) <= _LONGEST else f"{code[: _LONGEST - 3]}..."
