"""Where the functions, classes, calls and mentions of a file stand: one walk over the syntax, without lowering."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from torchlint.semantic.formal_parameters import AnyFunction

_LEAVES: Final = frozenset((
    ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.alias,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.Not, ast.In,
    ast.USub, ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.NotIn, ast.Mod, ast.Pow, ast.FloorDiv, ast.MatMult,
    str, int, float, complex, bytes, bool, type(None), type(...),
))  # fmt: skip


class WrittenCall(NamedTuple):
    """A call as it is written, and the syntax of the function that it stands in."""

    node: ast.Call
    owner: ast.AST


class Mention(NamedTuple):
    """A name or attribute that is read other than to call it, and the syntax of the function that it stands in."""

    node: ast.Name | ast.Attribute
    owner: ast.AST


class Scope(NamedTuple):
    """Where a function or class is written."""

    owner: ast.AST
    """The syntax of the function around, or the module."""
    cls: ast.ClassDef | None
    """The class whose body it stands in."""
    identity: int
    """Its number among the functions, or among the classes, of the file."""


@dataclass(slots=True)
class Outline:
    """What one walk finds."""

    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    functions: list[AnyFunction] = field(default_factory=list)
    """By identity, the first being 1: 0 is the module's body."""
    calls: dict[str, list[WrittenCall]] = field(default_factory=dict)
    mentions: dict[str, list[Mention]] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)
    """First words of absolute imports."""
    reaching_out: list[AnyFunction] = field(default_factory=list)
    """Functions with ``global`` or ``nonlocal``."""


def outline_of(tree: ast.Module) -> Outline:
    """Walk over a file."""
    found = Outline()
    classes = 0
    reaching: dict[ast.AST, None] = {}
    stack: list[tuple[ast.AST, ast.AST, ast.ClassDef | None]] = [(each, tree, None) for each in reversed(tree.body)]
    while stack:
        node, owner, cls = stack.pop()
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            _mention(found, node, owner)  # type: ignore[arg-type]
            if kind is ast.Attribute:
                stack.append((node.value, owner, None))  # type: ignore[attr-defined]
            continue
        if kind is ast.Call:
            _call(found, node, owner, stack)  # type: ignore[arg-type]
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            found.functions.append(node)
            found.scopes[node] = Scope(owner, cls, len(found.functions))
            _enter_function(node, owner, stack)
            continue
        if kind is ast.ClassDef:
            assert isinstance(node, ast.ClassDef)
            found.scopes[node] = Scope(owner, cls, classes)
            classes += 1
            stack += [(each, owner, node) for each in reversed(node.body)]
            stack += [(each, owner, None) for each in (*node.bases, *node.keywords, *node.decorator_list)]
            continue
        if kind is ast.Import:
            found.packages.update([alias.name.partition(".")[0] for alias in node.names])  # type: ignore[attr-defined]
            continue
        if kind is ast.ImportFrom:
            if node.module and not node.level:  # type: ignore[attr-defined]
                found.packages.add(node.module.partition(".")[0])  # type: ignore[attr-defined]
            continue
        if kind is ast.Global or kind is ast.Nonlocal:
            reaching[owner] = None
        inside = cls if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) else None
        for value in reversed(vars(node).values()):
            if type(value) is list:
                stack += [(each, owner, inside) for each in reversed(value) if type(each) not in _LEAVES]
            elif type(value) not in _LEAVES:
                stack.append((value, owner, inside))
    found.reaching_out = [each for each in found.functions if each in reaching]
    return found


def _enter_function(
    node: AnyFunction, owner: ast.AST, stack: list[tuple[ast.AST, ast.AST, ast.ClassDef | None]]
) -> None:
    """Go on with a body as the function's own; decorators, defaults and annotations belong to the one around."""
    if isinstance(node, ast.Lambda):
        stack.append((node.body, node, None))
    else:
        stack += [(each, node, None) for each in reversed(node.body)]
        stack += [(each, owner, None) for each in node.decorator_list]
        if node.returns is not None:
            stack.append((node.returns, owner, None))
    args = node.args
    stack += [(each, owner, None) for each in (*args.defaults, *args.kw_defaults) if each is not None]
    for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
        if arg is not None and arg.annotation is not None:
            stack.append((arg.annotation, owner, None))


def _call(
    found: Outline, node: ast.Call, owner: ast.AST, stack: list[tuple[ast.AST, ast.AST, ast.ClassDef | None]]
) -> None:
    func = node.func
    if isinstance(func, ast.Attribute):
        found.calls.setdefault(func.attr, []).append(WrittenCall(node, owner))
        stack.append((func.value, owner, None))
    elif isinstance(func, ast.Name):
        found.calls.setdefault(func.id, []).append(WrittenCall(node, owner))
    else:
        found.calls.setdefault("", []).append(WrittenCall(node, owner))
        stack.append((func, owner, None))
    stack += [(each, owner, None) for each in node.args]
    stack += [(each.value, owner, None) for each in node.keywords]


def _mention(found: Outline, node: ast.Name | ast.Attribute, owner: ast.AST) -> None:
    if isinstance(node.ctx, ast.Load):
        word = node.id if isinstance(node, ast.Name) else node.attr
        found.mentions.setdefault(word, []).append(Mention(node, owner))
