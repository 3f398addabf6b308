"""Where the functions, classes, calls and mentions of a file stand: one walk over the syntax, without lowering."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from torchlint.semantic.effect_words import GROWING, MOVING, SPREADING
from torchlint.semantic.formal_parameters import AnyFunction

_LEAVES: Final = frozenset((
    ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.alias,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.Not, ast.In,
    ast.USub, ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.NotIn, ast.Mod, ast.Pow, ast.FloorDiv, ast.MatMult,
    str, int, float, complex, bytes, bool, type(None), type(...),
))  # fmt: skip


_READERS: Final = frozenset((
    ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue, ast.For, ast.AsyncFor, ast.If, ast.While,
    ast.Assert, ast.comprehension, ast.Starred, ast.ExceptHandler, ast.Expr, ast.Delete, ast.AugAssign,
))  # fmt: skip
"""Syntax that reads a name which stands in it, and keeps it nowhere."""
_BODIES: Final = frozenset((
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, ast.ExceptHandler,
    ast.match_case, getattr(ast, "TryStar", ast.Try),
))  # fmt: skip
"""Syntax whose statements still belong to the class around."""
_CHANGING: Final = GROWING | SPREADING | MOVING | {"setdefault"}
_ASKING: Final = frozenset(
    "isinstance issubclass hasattr getattr type len print super repr str int float bool id callable range".split()
)
"""Functions that call nothing that they are handed, or nothing that is named."""


class WrittenCall(NamedTuple):
    """A call as it is written, and the syntax of the function that it stands in."""

    node: ast.Call
    owner: ast.AST


class Mention(NamedTuple):
    """Where a name or attribute is handed over or stored, other than called: who has it may call it."""

    owner: ast.AST
    """The syntax of the function that it stands in."""
    node: ast.expr
    """The call that it is an argument of; else the name or attribute itself."""
    name: ast.Name | ast.Attribute


class WrittenScope(NamedTuple):
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

    scopes: dict[ast.AST, WrittenScope] = field(default_factory=dict)
    functions: list[AnyFunction] = field(default_factory=list)
    """By identity, the first being 1: 0 is the module's body."""
    calls: dict[str, list[WrittenCall]] = field(default_factory=dict)
    mentions: dict[str, list[Mention]] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)
    """First words of absolute imports."""
    reaching_out: list[AnyFunction] = field(default_factory=list)
    """Functions that may bind or change what a name of the module, or of a function around, is bound to."""
    shared: dict[ast.AST, set[str]] = field(default_factory=dict)
    """The names of a function or of the module that functions inside bind or change."""


def outline_of(tree: ast.Module) -> Outline:
    """Walk over a file; annotations, which run nothing, are left out."""
    walk = _Walk(Outline(), [(each, tree, None) for each in reversed(tree.body)])
    stack, found = walk.stack, walk.found
    while stack:
        node, owner, cls = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            walk.bind(node, owner)
            continue
        known = _KNOWN.get(kind)
        if known is not None:
            known(walk, node, owner, cls)
            continue
        reads = kind in _READERS
        inside = cls if kind in _BODIES else None
        for value in reversed(vars(node).values()):
            if type(value) is list:
                for each in reversed(value):
                    if type(each) not in _LEAVES:
                        walk.push(each, owner, inside, reads)
            elif type(value) not in _LEAVES:
                walk.push(value, owner, inside, reads)
    held = walk.bound.get(tree, ())
    for owner, word in walk.grown:
        scope = found.scopes.get(owner)
        if scope is not None and (word in held or scope.owner is not tree):
            walk.reaching.add(owner)
    found.reaching_out = [each for each in found.functions if each in walk.reaching]
    for owner, word in (*walk.grown, *walk.outside):
        around = _around(walk, owner, word, tree)
        if around is not None:
            found.shared.setdefault(around, set()).add(word)
    return found


def _around(walk: _Walk, owner: ast.AST, word: str, tree: ast.Module) -> ast.AST | None:
    """Return the scope around a function that binds a name which is no own one of the function."""
    scopes, here = walk.found.scopes, owner
    if here not in scopes or (word in walk.bound.get(here, ()) and (here, word) not in walk.outside):
        return None
    while (here := scopes[here].owner) is not tree:
        if word in walk.bound.get(here, ()):
            return here
    return tree


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


class _Walk:
    """What is still to be walked over."""

    __slots__ = ("bound", "classes", "found", "grown", "outside", "reaching", "stack")

    def __init__(self, found: Outline, stack: list[tuple[ast.AST, ast.AST, ast.ClassDef | None]]) -> None:
        self.found, self.stack = found, stack
        self.classes = 0
        self.reaching: set[ast.AST] = set()
        self.grown: list[tuple[ast.AST, str]] = []
        """Names whose object is changed, with the syntax of the function that does it."""
        self.outside: list[tuple[ast.AST, str]] = []
        """Names declared ``global`` or ``nonlocal``, with the syntax of the function that does it."""
        self.bound: dict[ast.AST, set[str]] = {}
        """The names that each function binds."""

    def bind(self, node: ast.AST, owner: ast.AST) -> None:
        """Note a name that is bound."""
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.bound.setdefault(owner, set()).add(node.id)

    def push(self, node: ast.AST, owner: ast.AST, cls: ast.ClassDef | None, reads: bool) -> None:
        """Walk over a node later; ``reads`` if a name that stands here is read and kept by nobody."""
        if isinstance(node, ast.Name | ast.Attribute):
            if not reads:
                self.mention(node, owner, node)
            while isinstance(node, ast.Attribute):
                node = node.value
        self.stack.append((node, owner, cls))

    def grow(self, node: ast.expr, owner: ast.AST) -> None:
        """Note the variable whose object, or what that holds, is changed."""
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        if isinstance(node, ast.Name):
            self.grown.append((owner, node.id))

    def mention(self, node: ast.expr, owner: ast.AST, place: ast.expr) -> None:
        """Note a name that is handed over or stored."""
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            word = node.id if isinstance(node, ast.Name) else node.attr
            self.found.mentions.setdefault(word, []).append(Mention(owner, place, node))


def _function(walk: _Walk, node: AnyFunction, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    """Go on with a body as the function's own; decorators and defaults belong to the one around."""
    found = walk.found
    found.functions.append(node)
    found.scopes[node] = WrittenScope(owner, cls, len(found.functions))
    given = node.args
    all_given = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    walk.bound[node] = {each.arg for each in all_given if each is not None}
    if isinstance(node, ast.Lambda):
        walk.push(node.body, node, None, reads=False)
    else:
        walk.stack += [(each, node, None) for each in reversed(node.body)]
        for decorator in node.decorator_list:
            walk.push(decorator, owner, None, reads=False)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            walk.push(default, owner, None, reads=False)


def _class(walk: _Walk, node: ast.ClassDef, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    walk.found.scopes[node] = WrittenScope(owner, cls, walk.classes)
    walk.classes += 1
    walk.stack += [(each, owner, node) for each in reversed(node.body)]
    for each in (*node.bases, *[keyword.value for keyword in node.keywords]):
        walk.push(each, owner, None, reads=True)
    for each in node.decorator_list:
        walk.push(each, owner, None, reads=False)


def _call(walk: _Walk, node: ast.Call, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    del cls
    func = node.func
    word = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    walk.found.calls.setdefault(word, []).append(WrittenCall(node, owner))
    if isinstance(func, ast.Attribute) and (word in _CHANGING or word.endswith("_")):
        walk.grow(func.value, owner)
    walk.push(func, owner, None, reads=True)
    for each in (*node.args, *[keyword.value for keyword in node.keywords]):
        if word not in _ASKING:
            walk.mention(each.value if isinstance(each, ast.Starred) else each, owner, node)
        walk.push(each, owner, None, reads=True)


def _assigned(walk: _Walk, node: ast.Assign | ast.AugAssign, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    del cls
    for each in _targets(node):
        walk.bind(each, owner)
        if not isinstance(each, ast.Name):
            walk.grow(each, owner)
            walk.push(each, owner, None, reads=True)
    walk.push(node.value, owner, None, reads=isinstance(node, ast.AugAssign))


def _annotated(walk: _Walk, node: ast.AnnAssign, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    del cls
    walk.push(node.target, owner, None, reads=True)
    if node.value is not None:
        walk.push(node.value, owner, None, reads=False)


def _import(walk: _Walk, node: ast.Import | ast.ImportFrom, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    del owner, cls
    if isinstance(node, ast.Import):
        walk.found.packages.update([alias.name.partition(".")[0] for alias in node.names])
    elif node.module and not node.level:
        walk.found.packages.add(node.module.partition(".")[0])


def _outside(walk: _Walk, node: ast.Global | ast.Nonlocal, owner: ast.AST, cls: ast.ClassDef | None) -> None:
    del cls
    walk.reaching.add(owner)
    walk.outside += [(owner, word) for word in node.names]


_KNOWN: Final[dict[type[ast.AST], Callable[[_Walk, Any, ast.AST, ast.ClassDef | None], None]]] = {
    ast.FunctionDef: _function, ast.AsyncFunctionDef: _function, ast.Lambda: _function, ast.ClassDef: _class,
    ast.Call: _call, ast.AnnAssign: _annotated, ast.Assign: _assigned,
    ast.AugAssign: _assigned, ast.Import: _import, ast.ImportFrom: _import, ast.Global: _outside,
    ast.Nonlocal: _outside,
}  # fmt: skip
