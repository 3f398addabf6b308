"""Where the functions and classes are from that the names of a text mean, as far as its own words tell that."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import is_called_self

_PLAIN_BASES = frozenset({"object", "Module", "Dataset", "Function"})
"""What many classes derive from, and what no project calls a class that it makes objects of."""
_SETTING = frozenset({"setattr", "__setattr__", "__setitem__", "patch", "object"})
"""What binds a name that it is given as a text, in a module or its dictionary; ``object`` is ``patch.object``."""


def sources_of(index: AstIndex) -> dict[str, str]:
    """Return the module that each name is imported from, by its last word; empty for what the text itself defines.

    Names that other statements bind too, and those before a star import, are left out. So are classes that derive from
    others than torch's: one may have its constructor from another of the same name.
    """
    stars, found = 0, dict[str, str]()
    doubted = {name for each in index.nodes(ast.Import) for name in bound(each)}
    doubted |= {each.id for each in index.nodes(ast.Name) if not isinstance(each.ctx, ast.Load)}
    defined: list[Function | ast.ClassDef] = [*index.functions, *index.nodes(ast.ClassDef)]
    doubted |= {each.name for each in defined if not isinstance(index.parents[each], ast.Module | ast.ClassDef)}
    for statement in index.nodes(ast.ImportFrom):
        module = (statement.module or "").rpartition(".")[2]
        for name in bound(statement):
            if name in found or not module:
                doubted.add(name)
            found[name] = module
            stars = max(stars, statement.lineno) if name == "*" else stars
    for each in index.tree.body:
        is_plain = isinstance(each, ast.ClassDef) and all(map(_is_plain, each.bases))
        if isinstance(each, ast.ClassDef | Function) and (is_plain or isinstance(each, Function)):
            doubted.update({each.name} & (found.keys() if each.lineno > stars else {each.name}))
            found[each.name] = ""
    return {name: module for name, module in found.items() if name not in doubted}


def set_elsewhere(index: AstIndex) -> frozenset[str]:
    """Return the names that a text may bind in another module: as an attribute, by its text or in a dictionary."""
    found = {
        each.attr
        for each in index.nodes(ast.Attribute)
        if isinstance(each.ctx, ast.Store) and not is_called_self(each.value)
    }
    for subscript in index.nodes(ast.Subscript):
        if isinstance(subscript.ctx, ast.Store) and isinstance(subscript.slice, ast.Constant):
            found.add(str(subscript.slice.value))
    for call in index.nodes(ast.Call):
        match call.func:
            case ast.Name(id=word) | ast.Attribute(attr=word) if word in _SETTING:
                texts = (each.value for each in call.args if isinstance(each, ast.Constant))
                found.update(str(each).rpartition(".")[2] for each in texts)
    return frozenset(found)


def bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that an import binds; a star is one."""
    for each in statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ():
        yield each.asname or each.name.partition(".")[0]


def stem(shown: str) -> str:
    """Return the last word of the name of a module, by its path: for a package, that of its folder."""
    folder, name = os.path.split(shown)
    word = os.path.splitext(name)[0]
    return os.path.basename(folder) if word == "__init__" else word


def _is_plain(base: ast.expr) -> bool:
    match base:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word in _PLAIN_BASES
    return False
