"""Ways to a method or a function that do not name it: objects that are handed on, and decorators that keep it."""

from __future__ import annotations

import ast
from collections import defaultdict

from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import word_of
from torchlint.syntax.signatures import parameters

_KEEPING = frozenset({"append", "add", "insert", "setdefault", "update", "register", "put"})
"""Functions that put what they are given somewhere."""

_RUNNING = (
    ast.Call, ast.keyword, ast.Starred, ast.For, ast.AsyncFor, ast.comprehension, ast.List, ast.Tuple, ast.Dict,
)  # fmt: skip


def made_by(node: ast.Name | ast.Attribute, index: AstIndex) -> ast.Call | None:
    """Return the call that makes an object of the class that an expression names, by how classes are spelled."""
    is_class = word_of(node).lstrip("_")[:1].isupper()
    return index.call_of(node) if is_class else None


def names_of_objects(index: AstIndex) -> dict[str, set[str]]:
    """Return the names and attributes that a text binds to an object that it makes, by the word of its class."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in index.nodes(ast.Assign):
        match each.value:
            case ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind)):
                words = (getattr(target, "id", getattr(target, "attr", None)) for target in each.targets)
                found[kind].update(filter(None, words))
    return found


def is_run(node: ast.expr, index: AstIndex) -> bool:
    """Whether an object is called, gone through or handed to somebody; not where one of its attributes is taken."""
    return isinstance(index.parents.get(node), _RUNNING)


def kept_by(index: AstIndex) -> dict[str, set[str]]:
    """Return the words of what functions put an argument into, by the function's: ``COMMANDS[f.__name__] = f``."""
    found: dict[str, set[str]] = defaultdict(set)
    for function in index.functions:
        given = set(parameters(function))
        for inner in index.inside(function, ast.FunctionDef):
            given |= set(parameters(inner))
        for each in index.inside(function, ast.Assign, ast.Call):
            found[function.name].update(_places(each, given))
    return found


def _places(node: ast.AST, given: set[str]) -> set[str]:
    match node:
        case ast.Assign(value=ast.Name(id=word), targets=targets) if word in given:
            return {word_of(each.value) for each in targets if isinstance(each, ast.Subscript)} - {""}
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args) if method in _KEEPING:
            is_kept = any(isinstance(each, ast.Name) and each.id in given for each in args)
            return {word_of(owner)} - {""} if is_kept else set()
    return set()
