"""What the text of a function or module binds: its names, by assignments and in other ways, and where they stand."""

from __future__ import annotations

import ast

from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function, Node
from torchlint.syntax.signatures import parameters
from torchlint.texts.imports import imported_names

SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
Loop = ast.For | ast.AsyncFor | ast.While
_NAMING = (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
BINDING = (ast.Import, ast.ImportFrom, *_NAMING)


def own(index: AstIndex, owner: ast.AST, *kinds: type[Node]) -> list[Node]:
    """Return the nodes of some types in a function or module, those of functions inside it left out."""
    return index.inside(owner, *kinds, but=SCOPES)


def bound(index: AstIndex, owner: ast.AST) -> dict[str, list[ast.Name]]:
    """Return the places where a function or module binds or deletes its names, by name."""
    found: dict[str, list[ast.Name]] = {}
    for each in own(index, owner, ast.Name):
        if not isinstance(each.ctx, ast.Load):
            found.setdefault(each.id, []).append(each)
    return found


def naming(node: ast.AST) -> list[str]:
    """Return what a node binds without a node for the name: ``import x``, ``def x``, ``except E as x``, ``case x``."""
    if not isinstance(node, BINDING):
        return []
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [*imported_names(node)]
    word = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    return [word] if word else []


def local(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the names that are a function's own."""
    names = {each.id for each in own(index, function, ast.Name) if isinstance(each.ctx, ast.Store)}
    names |= parameters(function)
    return frozenset(names - declared(index, function, SCOPES))


def declared(index: AstIndex, owner: ast.AST, but: tuple[type[ast.AST], ...] = ()) -> frozenset[str]:
    """Return the names that ``nonlocal`` and ``global`` take from elsewhere inside a function or module.

    Those inside one of the types in ``but`` do not count.
    """
    found: list[ast.Nonlocal | ast.Global] = [
        *index.inside(owner, ast.Nonlocal, but=but),
        *index.inside(owner, ast.Global, but=but),
    ]
    return frozenset(word for each in found for word in each.names)


# ---------------------------------------------------------------------- of a whole file
def spelled(index: AstIndex, _: ast.Module) -> tuple[dict[str, list[ast.Attribute]], dict[str, list[ast.Name]]]:
    """Return the attributes and the names of a file by their words."""
    attributes: dict[str, list[ast.Attribute]] = {}
    names: dict[str, list[ast.Name]] = {}
    for attribute in index.nodes(ast.Attribute):
        attributes.setdefault(attribute.attr, []).append(attribute)
    for name in index.nodes(ast.Name):
        names.setdefault(name.id, []).append(name)
    return attributes, names


def bound_otherwise(index: AstIndex, _: ast.Module) -> frozenset[str]:
    """Return the names that something else than an import binds, anywhere in the file."""
    found = {each.id for each in index.nodes(ast.Name) if not isinstance(each.ctx, ast.Load)}
    found |= {each.arg for each in index.nodes(ast.arg)}
    for kind in _NAMING:
        found.update(word for each in index.nodes(kind) for word in naming(each))
    return frozenset(found)
