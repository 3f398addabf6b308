"""Ways to a method or a function that do not name it: other names, objects handed on, decorators that keep it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from torchlint.inference.program.spelled_calls import last_word
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import word_of
from torchlint.syntax.signatures import parameters

_KEEPING = frozenset({"append", "add", "insert", "setdefault", "update", "register", "put"})
"""Functions that put what they are given somewhere."""

_RUNNING = (
    ast.Call, ast.keyword, ast.Starred, ast.For, ast.AsyncFor, ast.comprehension, ast.List, ast.Tuple, ast.Dict,
    ast.Subscript, ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Compare, ast.FormattedValue, ast.withitem, ast.Await,
    ast.YieldFrom,
)  # fmt: skip
_HANDING_ON = frozenset("partial enumerate zip reversed sorted list tuple iter".split())
"""Functions that give what they are given again, or its elements."""
_PARTS = frozenset({"values", "items"})


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
    """Whether an object is called, gone through, reckoned with or handed on; not where an attribute of it is taken."""
    return isinstance(index.parents.get(node), _RUNNING)


def imported_by(statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the last words of the modules that an import may run."""
    yield from (each.name.rpartition(".")[2] for each in statement.names)
    if isinstance(statement, ast.ImportFrom) and statement.module:
        yield statement.module.rpartition(".")[2]


def built_by(constructor: ast.Name | ast.Attribute, index: AstIndex) -> list[str]:
    """Return the words of the classes above one whose constructor ``super().__init__`` is."""
    match constructor:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            kind = index.nearest(constructor, ast.ClassDef)
            return [word for each in (kind.bases if kind is not None else ()) if (word := last_word(each))]
    return []


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


GIVING = (
    ast.Assign, ast.Dict, ast.List, ast.Tuple, ast.IfExp, ast.Call, ast.For, ast.AsyncFor, ast.comprehension,
    ast.Attribute,
)  # fmt: skip
"""What may stand between an expression and the name that it is given."""


def names_given(node: ast.expr, index: AstIndex) -> Iterator[tuple[str, bool]]:
    """Yield the names that an expression is given, each with whether it is an attribute's."""
    below: ast.AST = node
    for above in index.ancestors(node):
        match above:
            case ast.Assign(targets=targets) if below is above.value:
                yield from ((word, isinstance(each, ast.Attribute)) for each in targets if (word := last_word(each)))
            case ast.Dict() | ast.List() | ast.Tuple() | ast.IfExp():
                below = above
                continue
            case ast.For(target=target, iter=several) | ast.AsyncFor(target=target, iter=several):
                if below is several:
                    yield from _bound_in(target)
            case ast.comprehension(target=target, iter=several) if below is several:
                yield from _bound_in(target)
            case ast.Call(func=function) if below is not function and last_word(function) in _HANDING_ON:
                below = above
                continue
            case ast.Attribute(attr=word) if word in _PARTS:
                below = above
                continue
            case ast.Call(func=ast.Attribute(attr=word) as function) if below is function and word in _PARTS:
                below = above
                continue
        return


def _bound_in(target: ast.expr) -> Iterator[tuple[str, bool]]:
    """Yield the names that the target of a loop binds, each with whether it is an attribute's."""
    for each in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
        if word := last_word(each):
            yield word, isinstance(each, ast.Attribute)
