"""Which places of a function may share memory, by its text: views, members, and other names for the same tensor."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.inference.models.operations import operations
from torchlint.inference.program.bindings import SCOPES, own
from torchlint.inference.program.imports import BUILTINS, is_in_place, path_of
from torchlint.syntax.ast_index import AstIndex

_APART = frozenset(["detach", "data", "new", "torch.detach", "torch.from_numpy"])
"""What shares memory with its argument, but not what autograd knows of it."""

_HANDING_ON = frozenset(["enumerate", "zip", "reversed", "sorted", "list", "tuple", "iter"])
"""Functions of Python that hand on the very members of what they are given."""

_MEMBERS = frozenset(["values", "items", "copy", "pop", "get", "setdefault"])
"""Methods of containers that give what they hold."""

_FILLING = frozenset(["append", "add", "appendleft"])

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.For, ast.AsyncFor, ast.Expr)
_WRITING = (ast.AugAssign, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class Link:
    """Two expressions of a statement; a tensor in the first may lie in the memory of one in the second."""

    target: ast.expr
    source: ast.expr


def links(statement: ast.AST) -> Iterator[Link]:
    """Yield what a statement makes share memory: ``v = buf[0]``, ``for t in ts``, ``ts.append(buf)``."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _paired(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _paired(target, value)
        case ast.For(target=target, iter=values) | ast.AsyncFor(target=target, iter=values):
            yield from (Link(each, values) for each in _targets(target))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr=word), args=[value])) if word in _FILLING:
            yield Link(holder, value)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[Link]:
    """Yield the links of an assignment, those of ``a, b = c, d`` in their places."""
    match target, value:
        case ast.Tuple(elts=names) | ast.List(elts=names), ast.Tuple(elts=values) | ast.List(elts=values):
            if len(names) == len(values) and not any(isinstance(each, ast.Starred) for each in (*names, *values)):
                for name, each in zip(names, values, strict=True):
                    yield from _paired(name, each)
                return
    yield from (Link(each, value) for each in _targets(target))


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for each in parts:
                yield from _targets(each)
        case ast.Starred(value=inner):
            yield from _targets(inner)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield target


def sources(node: ast.expr, copies: Callable[[ast.Subscript], bool] = lambda _: False) -> Iterator[ast.expr]:
    """Yield the places in whose memory the value of an expression may lie; ``copies`` tells of ``x[mask]``."""
    match node:
        case ast.Name():
            yield node
        case ast.Attribute(value=inner, attr=word):
            if word not in _APART:
                yield from sources(inner, copies) if word in operations().keeps_grad else (node,)
        case ast.Subscript(value=inner):
            if path_of(node) is not None:
                yield node
            elif not copies(node):
                yield from sources(inner, copies)
        case ast.Call():
            for each in _handed_on(node):
                yield from sources(each, copies)
        case ast.IfExp(body=one, orelse=other):
            yield from sources(one, copies)
            yield from sources(other, copies)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.BoolOp(values=parts):
            for each in parts:
                yield from sources(each, copies)
        case ast.Dict(values=parts):
            for each in parts:
                yield from sources(each, copies)
        case ast.Starred(value=inner) | ast.NamedExpr(value=inner):
            yield from sources(inner, copies)


def _handed_on(call: ast.Call) -> list[ast.expr]:
    """Return what the result of a call may share memory with: its arguments, or the object whose method is called."""
    match call.func:
        case ast.Name(id=word):
            return call.args if word in _HANDING_ON else []
        case ast.Attribute(value=ast.Name(id="torch"), attr=word):
            return call.args[:1] if f"torch.{word}" in operations().keeps_grad - _APART else []
        case ast.Attribute(value=inner, attr=word) if word not in _APART:
            return [inner] if word in operations().keeps_grad or word in _MEMBERS or is_in_place(word) else []
    return []


def root_of(node: ast.expr) -> str | None:
    """Return the name or the attribute of a name in which a place lies: ``self.x`` for ``self.x[0].y``."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return f"{node.value.id}.{node.attr}"
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# ---------------------------------------------------------------------- of a whole function
def linking(index: AstIndex, owner: ast.AST) -> frozenset[ast.stmt]:
    """Return the statements of a function or module that link places of which one is written into."""
    linked = [(statement, pair) for statement in own(index, owner, *_STATEMENTS) for pair in _pairs(statement)]
    if not linked:
        return frozenset()
    groups = _groups(pair for _, pair in linked)
    touched = {id(groups[root]) for root in _written(index, owner) if root in groups}
    return frozenset(statement for statement, (one, _) in linked if id(groups[one]) in touched)


def linked_roots(index: AstIndex, owner: ast.AST) -> frozenset[str]:
    """Return the names and attributes of names that may be written into by way of another."""
    return frozenset(root for each in index.told(linking, owner) for pair in _pairs(each) for root in pair)


def _pairs(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    for link in links(statement):
        target = root_of(link.target)
        for each in sources(link.source) if target is not None else ():
            source = root_of(each)
            if target is not None and source is not None and source != target:
                yield target, source


def _groups(pairs: Iterator[tuple[str, str]]) -> dict[str, set[str]]:
    """Return for each root all those that it is linked to in some steps."""
    found: dict[str, set[str]] = {}
    for one, other in pairs:
        mine, theirs = found.get(one, {one}), found.get(other, {other})
        if mine is theirs:
            continue
        mine |= theirs
        found.update(dict.fromkeys(mine, mine))
    return found


def _written(index: AstIndex, owner: ast.AST) -> Iterator[str]:
    """Yield the roots that are written into in place, or may be."""
    for node in index.inside(owner, *_WRITING, but=SCOPES):
        targets: list[ast.expr] = []
        match node:
            case ast.AugAssign():
                targets = [node.target]
            case ast.Call(func=ast.Attribute(value=holder, attr=word)) if is_in_place(word):
                targets = [holder]
            case ast.Call(func=ast.Name(id=word), args=given) if word not in BUILTINS:
                targets = given  # who is called may write into it
            case ast.Subscript(ctx=ast.Store()):
                targets = [node]
        roots = (root_of(each) for target in targets for each in sources(target))
        yield from (root for root in roots if root is not None)
