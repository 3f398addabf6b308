"""Which attributes of ``self`` a method sets or changes, by its text alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.inference.names import CHANGING
from torchlint.syntax.outline import Function, Outline


@dataclass(frozen=True)
class Set:
    """The attributes of ``self`` that a method sets or changes."""

    words: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    """Those that are set, filled or moved themselves, and not only in parts."""
    loose: tuple[str, ...] = ()
    """Those that ``setattr`` sets."""


def set_words(outline: Outline, method: Function) -> Set:
    """Find them."""
    first = [*method.args.posonlyargs, *method.args.args][:1]
    if not first:
        return Set()
    owner = first[0].arg
    words: list[str] = []
    loose: list[str] = []
    own: set[str | None] = set()
    places: list[ast.Attribute | ast.Subscript] = [
        *outline.inside(method, ast.Attribute),
        *outline.inside(method, ast.Subscript),
    ]
    for place in places:
        if isinstance(place.ctx, ast.Store):
            words += _parts_of(place, owner)
            own.add(_whole(place, owner))
    for call in outline.inside(method, ast.Call):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=found), attr=attr), args=[ast.Constant(value=str(word)), *_]
            ):
                if found == owner and attr in ("register_buffer", "register_parameter", "add_module"):
                    words.append(word)
                    own.add(word)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=found), ast.Constant(value=str(word)), _]):
                if found == owner:
                    loose.append(word)
            case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Subscript() as holder, attr=attr)):
                own.add(_whole(holder, owner))  # `self.net.cuda()` counts where the method changes `self.net` otherwise
                if isinstance(holder, ast.Attribute) and (
                    attr in CHANGING or (attr.endswith("_") and not attr.endswith("__"))
                ):
                    words += _parts_of(holder, owner)
    return Set((*words, *loose), frozenset({*words, *loose} & {*own, *loose}), tuple(loose))


def _whole(node: ast.expr, owner: str) -> str | None:
    """Give the attribute of ``owner`` that a place is or is a member of: ``x`` for ``self.x[0]``, not ``self.x.y``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    match node:
        case ast.Attribute(value=ast.Name(id=found), attr=word) if found == owner:
            return word
    return None


def _parts_of(node: ast.expr, owner: str) -> list[str]:
    """Give the attribute of ``owner`` in which a place lies, as a list of one: ``x`` for ``self.x[0].y``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return [node.attr] if node.value.id == owner else []
        node = node.value
    return []
