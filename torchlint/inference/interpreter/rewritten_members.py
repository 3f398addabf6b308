"""Loops that set each member of a mapping or a list anew: ``for key in batch: batch[key] = batch[key].cpu()``.

Behind such a loop nothing is left of what the members were before. That what is gone through by its keys is a mapping,
and no tensor with rows, is presumed, so no fix rests on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import Kind, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.program.imports import path_of
from torchlint.syntax.ast_index import AstIndex

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_LEAVING = (ast.Break, ast.Continue)


def write_back(file: File, loop: ast.For | ast.AsyncFor, values: dict[ast.expr, Value], env: Env) -> None:
    """Say what the members of a container are behind a loop that has set each of them anew."""
    found = file.index.told(_rewriting, loop) if file.project.presuming else None
    path, value = (path_of(found[0]), values.get(found[1])) if found is not None else (None, None)
    base = env.find(path) if path is not None else None
    if path is None or value is None or base is None or not base.may(Kind.SEQUENCE):
        return
    if not base.must(Kind.SEQUENCE) and not _goes_through_mapping(loop):
        return  # what is numbered may be a tensor, whose rows are written in place
    env.forget_parts(path)
    env.refine(path, base.having(kind=Kind.SEQUENCE, member=value, items=None, keys=()))


def _rewriting(index: AstIndex, loop: ast.For | ast.AsyncFor) -> tuple[ast.expr, ast.expr] | None:
    """Return the container that a loop goes through by its keys, and what each of its members is set to; or None."""
    container, key = _keyed(loop)
    if container is None or key is None or index.inside(loop, *_LEAVING):
        return None
    written = list(_written(index, loop, container))
    sure = [each for each in loop.body if isinstance(each, ast.Assign) and _writes_member(each, container, key)]
    if len(sure) != 1 or len(written) != 1 or path_of(container) is None:
        return None
    bound = [each.id for each in index.inside(loop, ast.Name) if isinstance(each.ctx, ast.Store)]
    root = next((each.id for each in ast.walk(container) if isinstance(each, ast.Name)), "")
    return None if root in bound or bound.count(key) > 1 else (container, sure[0].value)


def _keyed(loop: ast.For | ast.AsyncFor) -> tuple[ast.expr | None, str | None]:
    """Return what a loop goes through by its keys or numbers, and the name of the key."""
    match loop.target, _unlisted(loop.iter):
        case ast.Name(id=key), ast.Call(func=ast.Attribute(value=container, attr="keys"), args=[]):
            return container, key
        case ast.Name(id=key), ast.Call(
            func=ast.Name(id="range"), args=[ast.Call(func=ast.Name(id="len"), args=[container])]
        ):
            return container, key
        case ast.Name(id=key), ast.Name() | ast.Attribute() as container:
            return container, key
        case ast.Tuple(elts=[ast.Name(id=key), _]), ast.Call(
            func=ast.Attribute(value=container, attr="items"), args=[]
        ):
            return container, key
        case ast.Tuple(elts=[ast.Name(id=key), _]), ast.Call(func=ast.Name(id="enumerate"), args=[container]):
            return container, key
    return None, None


def _unlisted(node: ast.expr) -> ast.expr:
    """Return what ``list(x)``, ``tuple(x)`` or ``sorted(x)`` lists."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted"), args=[inner], keywords=[]):
            return inner
    return node


def _goes_through_mapping(loop: ast.For | ast.AsyncFor) -> bool:
    match _unlisted(loop.iter):
        case ast.Call(func=ast.Name(id="range" | "enumerate")):
            return False
    return True


def _written(index: AstIndex, loop: ast.For | ast.AsyncFor, container: ast.expr) -> Iterator[ast.Subscript]:
    """Yield the members of a container that a loop sets, whatever the key."""
    same = ast.dump(container)
    for each in index.inside(loop, ast.Subscript):
        if isinstance(each.ctx, ast.Store | ast.Del) and ast.dump(each.value) == same:
            yield each


def _writes_member(statement: ast.Assign, container: ast.expr, key: str) -> bool:
    match statement.targets:
        case [ast.Subscript(value=written, slice=ast.Name(id=word))]:
            return word == key and ast.dump(written) == ast.dump(container)
    return False
