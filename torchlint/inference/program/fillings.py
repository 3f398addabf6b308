"""Where a text puts something into what another object keeps: ``meter.losses.append(x)``, ``self.log.rows[k] = v``."""

from __future__ import annotations

import ast

from torchlint.inference.program.bindings import binder
from torchlint.inference.program.imports import CHANGING
from torchlint.syntax.ast_index import AstIndex, Function

_OWN = frozenset({"self", "cls"})
"""Names of the object whose method it is: its class knows what these methods put in."""


def filled_in(index: AstIndex, _: ast.Module) -> dict[str, tuple[Function | None, ...]]:
    """Return which functions put something into attributes of other objects, by the word; None for the module."""
    found: dict[str, dict[Function | None, None]] = {}
    for place in index.nodes(ast.Attribute):
        if is_of_another(place) and _is_filled(index, place):
            found.setdefault(place.attr, {})[index.owner(place)] = None
    return {word: tuple(owners) for word, owners in found.items()}


def filling_functions(index: AstIndex, _: ast.Module) -> dict[str, tuple[Function, ...]]:
    """Return the functions that put something into what a name of the module stands for, by the name."""
    found: dict[str, dict[Function, None]] = {}
    for place in index.nodes(ast.Name):
        function = index.owner(place)
        if function is not None and _is_filled(index, place) and binder(index, function, place.id) is None:
            found.setdefault(place.id, {})[function] = None
    return {word: tuple(functions) for word, functions in found.items()}


def is_of_another(place: ast.Attribute) -> bool:
    """Whether an attribute is one of an object other than the one whose method stands around."""
    return not (isinstance(place.value, ast.Name) and place.value.id in _OWN)


def _is_filled(index: AstIndex, place: ast.Attribute | ast.Name) -> bool:
    """Whether something is put into an attribute or a name, or into a member of it, where it stands."""
    part: ast.expr = place
    while isinstance(above := index.parents.get(part), ast.Subscript) and above.value is part:
        part = above
    if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
        return True
    if isinstance(above, ast.AugAssign):
        return above.target is part
    return isinstance(above, ast.Attribute) and above.attr in CHANGING and index.call_of(above) is not None
