"""Which attributes of ``self`` a method sets or changes, by its text alone."""

from __future__ import annotations

import ast

from torchlint.inference.names import CHANGING
from torchlint.syntax.outline import Function, Outline


def set_words(outline: Outline, method: Function) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the attributes of ``self`` that a method sets or changes, and those that ``setattr`` sets."""
    first = [*method.args.posonlyargs, *method.args.args][:1]
    if not first:
        return (), ()
    words: list[str] = []
    loose: list[str] = []
    for node in outline.within(method):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                words += _parts_of(node, first[0].arg)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr=attr), args=[ast.Constant(value=str(word)), *_]
            ):
                if owner == first[0].arg and attr in ("register_buffer", "register_parameter", "add_module"):
                    words.append(word)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), ast.Constant(value=str(word)), _]):
                if owner == first[0].arg:
                    loose.append(word)
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as holder, attr=attr)):
                if attr in CHANGING or (attr.endswith("_") and not attr.endswith("__")):
                    words += _parts_of(holder, first[0].arg)
    return (*words, *loose), tuple(loose)


def own_words(outline: Outline, method: Function) -> frozenset[str]:
    """Give the attributes of ``self`` that a method sets, fills or moves themselves, and not only parts of them."""
    words, loose = outline.told(set_words, method)
    found = set(loose)
    for node in outline.within(method):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                place: ast.expr = node
            case ast.Call(func=ast.Attribute(value=ast.Name()), args=[ast.Constant(value=str(word)), *_]):
                found.add(word)  # `self.register_buffer("word", x)`
                continue
            case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Subscript() as holder)):
                place = holder
            case _:
                continue
        while isinstance(place, ast.Subscript):
            place = place.value
        if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name):
            found.add(place.attr)
    return frozenset(found.intersection(words))


def _parts_of(node: ast.expr, owner: str) -> list[str]:
    """Give the attribute of ``owner`` in which a place lies, as a list of one: ``x`` for ``self.x[0].y``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return [node.attr] if node.value.id == owner else []
        node = node.value
    return []
