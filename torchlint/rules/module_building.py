"""Whether a tensor belongs to a module that is just being built, so that no graph can hold it yet."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from torchlint.inference.facts import Kind, Value
from torchlint.inference.modules import MODEL_WORD
from torchlint.rule import FileContext
from torchlint.rules.remembered import remembered
from torchlint.syntax.outline import Outline

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef

_INITIALISER = re.compile(r"^_*(re)?(init|initiali[sz]e|reset)_*\w*$")
"""Methods that initialise: believed only where the constructor calls them and nothing else does."""

_EVERYTHING = frozenset("modules parameters named_parameters named_modules children named_children".split())
"""Methods that give what all of the module's parts hold."""


def is_being_built(node: ast.expr, context: FileContext) -> bool:
    """Whether the tensor that an expression gives is of a module that has not been called yet.

    True in ``__init__`` of a module for what the module made itself, in methods such as ``reset_parameters`` that only
    its constructor calls, and in a function given to nothing but ``.apply`` of a module just made.
    """
    if context.outline is None or context.analysis is None:
        return False
    inside = next(
        (each for each in context.outline.ancestors(node) if isinstance(each, (*_FUNCTIONS, ast.Lambda))), None
    )
    if not isinstance(inside, _FUNCTIONS):
        return False
    return _building(inside, context).holds(node)


def _mentions(outline: Outline, _: ast.Module) -> dict[str, list[ast.AST]]:
    """Give where a file reads each word, as a name or as an attribute."""
    found: dict[str, list[ast.AST]] = defaultdict(list)
    for node in (*outline.nodes(ast.Name), *outline.nodes(ast.Attribute)):
        match node:
            case ast.Name(id=word, ctx=ast.Load()) | ast.Attribute(attr=word):
                found[word].append(node)
    return dict(found)


@remembered
def _building(function: Function, context: FileContext) -> _Building:
    return _Building(context, function)


class _Building:
    """What is asked about one function."""

    def __init__(self, context: FileContext, function: Function) -> None:
        assert context.outline is not None
        self._context, self._outline, self._function = context, context.outline, function
        above = self._outline.parents.get(function)
        self._owner = above if isinstance(above, ast.ClassDef) else None

    def holds(self, node: ast.expr) -> bool:
        """Whether the expression's value is made where nothing has called the module yet."""
        owner = self._owner
        if owner is not None and self._is_module(owner) and self._initialises(owner) and self._is_own(node, owner):
            return True
        given = _parameters(self._function)[1 if owner is not None else 0 :]
        return bool(given) and self._is_applied and self._comes_from(node, given[0].arg)

    # ------------------------------------------------------------------ a module's own methods
    def _initialises(self, owner: ast.ClassDef) -> bool:
        name = self._function.name
        if self._is_called_on:
            return False
        if name == "__init__":
            return True
        named = name == "reset_parameters" or _INITIALISER.match(name) is not None
        return named and self._is_called_by_constructor_alone(name, owner)

    @cached_property
    def _is_called_on(self) -> bool:
        """Whether the function itself runs the module: ``self(x)``, ``self.forward(x)``, ``self.net(x)``."""
        return any(self._runs(each.func) for each in self._outline.inside(self._function, ast.Call))

    def _runs(self, function: ast.expr) -> bool:
        if not _is_rooted(function, self._self):
            return False
        if isinstance(function, ast.Name):
            return True
        if isinstance(function, ast.Attribute) and function.attr in ("forward", "backward"):
            return True
        return self._value(function).must(Kind.MODULE)

    def _is_called_by_constructor_alone(self, name: str, owner: ast.ClassDef) -> bool:
        called = False
        for each in self._outline.told(_mentions, self._outline.tree).get(name, ()):
            if isinstance(each, ast.Attribute):
                around = next((up for up in self._outline.ancestors(each) if isinstance(up, _FUNCTIONS)), None)
                if around is None or around.name != "__init__" or self._outline.parents.get(around) is not owner:
                    return False
                called = True
        return called

    def _is_own(self, node: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether a path starts at ``self`` and leads to something that no caller handed in."""
        word = _first_attribute(node, self._self)
        if word is not None:
            return not self._is_handed_in(word, owner)
        root = _root(node)
        return root is not None and self._comes_from(root, self._self)

    def _is_handed_in(self, word: str, owner: ast.ClassDef) -> bool:
        """Whether ``self.word`` is set to a parameter of a method, alone or as an argument of what wraps it."""
        if word in _EVERYTHING:
            return any(self._is_handed_in(each, owner) for each in self._outline.told(_parts, owner) - _EVERYTHING)
        for method in owner.body:
            if isinstance(method, _FUNCTIONS):
                given = {each.arg for each in _parameters(method)[1:]}
                for value in _values_set(self._outline, method, word):
                    if any(isinstance(name, ast.Name) and name.id in given for name in _handed_on(value)):
                        return True
        return False

    # ------------------------------------------------------------------ functions given to apply
    @cached_property
    def _is_applied(self) -> bool:
        """Whether all that the file does with the function is to apply it to modules that were just made."""
        uses = self._outline.told(_mentions, self._outline.tree).get(self._function.name, [])
        return bool(uses) and all(self._applies_to_new(use) for use in uses)

    def _applies_to_new(self, use: ast.AST) -> bool:
        match call := self._outline.parents.get(use):
            case ast.Call(func=ast.Attribute(value=ast.Name(id=word), attr="apply"), args=[argument]) if (
                argument is use
            ):
                around = next(
                    (up for up in self._outline.ancestors(call) if isinstance(up, (*_FUNCTIONS, ast.Module))), None
                )
                if isinstance(around, _FUNCTIONS) and around.name == "__init__" and word == "self":
                    owner = self._outline.parents.get(around)
                    return (
                        isinstance(owner, ast.ClassDef)
                        and self._is_module(owner)
                        and not self._is_handed_in("modules", owner)
                    )
                return around is not None and self._was_just_made(word, call, around)
        return False

    def _was_just_made(self, word: str, call: ast.Call, around: ast.AST) -> bool:
        """Whether ``net = Net(...)`` stands before in the same block and the name was not used in between."""
        statement = next((up for up in (call, *self._outline.ancestors(call)) if isinstance(up, ast.stmt)), None)
        for block in _blocks(around):
            if statement in block:
                for before in reversed(block[: block.index(statement)]):
                    match before:
                        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as made) if target == word:
                            return self._value(made).must(Kind.MODULE)
                    if any(isinstance(each, ast.Name) and each.id == word for each in ast.walk(before)):
                        return False
        return False

    # ------------------------------------------------------------------ where a value comes from
    def _comes_from(self, node: ast.expr, source: str | None, depth: int = 4) -> bool:
        """Whether a path starts at the name, directly or through the loops and assignments of this function."""
        if self._is_made_here(node):
            return True
        root = _root(node)
        if root is None or source is None or depth == 0:
            return False
        if root.id == source:
            word = _first_attribute(node, source)
            return self._owner is None or word is None or not self._is_handed_in(word, self._owner)
        origins = list(_origins(self._outline, self._function, root.id))
        return bool(origins) and all(each is not None and self._comes_from(each, source, depth - 1) for each in origins)

    @property
    def _self(self) -> str | None:
        parameters = _parameters(self._function)
        return parameters[0].arg if parameters else None

    def _is_module(self, owner: ast.ClassDef) -> bool:
        return any(
            "torch.nn." in name or name.endswith("Module") for base in owner.bases for name in self._value(base).names
        )

    def _is_made_here(self, node: ast.expr) -> bool:
        """Whether the expression makes a module of torch's own: its tensors are new."""
        names = self._value(node.func).names if isinstance(node, ast.Call) else frozenset[str]()
        return (
            bool(names)
            and all(re.fullmatch(r"torch\.nn\.[A-Z]\w*", name) for name in names)
            and not names & _CONTAINERS
        )

    def _value(self, node: ast.expr) -> Value:
        assert self._context.analysis is not None
        return self._context.analysis.value(node)


def _root(node: ast.expr) -> ast.Name | None:
    """Give the name that a path starts at: ``self`` of ``self.layers[0].weight``, ``m`` of ``m.named_parameters()``."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
                node = inner
            case ast.Call(
                func=ast.Name(id="list" | "zip" | "enumerate" | "reversed" | "iter" | "next"), args=[inner, *_]
            ):
                node = inner
            case ast.Name():
                return node
            case _:
                return None


def _is_rooted(node: ast.expr, source: str | None) -> bool:
    root = _root(node)
    return root is not None and root.id == source


def _first_attribute(node: ast.expr, source: str | None) -> str | None:
    """Give ``net`` of ``self.net.weight``; None where the path does not start at the name."""
    while True:
        match node:
            case ast.Attribute(value=ast.Name(id=word), attr=attribute) if word == source:
                return attribute
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return None


def _parameters(function: Function) -> list[ast.arg]:
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _parts(outline: Outline, owner: ast.ClassDef) -> frozenset[str]:
    """Give the words ``net`` of ``self.net`` that a class calls, asks for more, or names like a module."""
    found: set[str] = set()
    nodes: list[ast.Call | ast.Attribute] = [*outline.inside(owner, ast.Call), *outline.inside(owner, ast.Attribute)]
    for each in nodes:
        match each:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(), attr=word))
                | ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=word))
            ):
                found.add(word)
            case ast.Attribute(value=ast.Name(), attr=word) if MODEL_WORD.search(word):
                found.add(word)
    return frozenset(found)


def _values_set(outline: Outline, method: Function, word: str) -> Iterator[ast.expr]:
    for each in outline.within(method):
        match each:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                continue
        if any(isinstance(one, ast.Attribute) and one.attr == word for one in targets):
            yield value


def _handed_on(value: ast.expr) -> Iterator[ast.expr]:
    """Give what a value may be or hold: the expression itself, a wrapper's arguments, a container's members."""
    yield value
    match value:
        case ast.Call(func=ast.Attribute(value=inner, attr="data" | "detach" | "view" | "t" | "to" | "cuda" | "float")):
            yield from _handed_on(inner)
        case ast.Call(func=ast.Attribute(attr=word) | ast.Name(id=word), args=arguments):
            if word in _WRAPPERS:
                for argument in arguments:
                    yield from _handed_on(argument.value if isinstance(argument, ast.Starred) else argument)
            else:
                yield from (each for each in arguments if isinstance(each, ast.Name) and MODEL_WORD.search(each.id))
        case ast.IfExp(body=one, orelse=other):
            yield from _handed_on(one)
            yield from _handed_on(other)
        case ast.BoolOp(values=several) | ast.List(elts=several) | ast.Tuple(elts=several):
            for each in several:
                yield from _handed_on(each)
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            yield from _handed_on(inner)


_WRAPPERS = frozenset(
    "Parameter Sequential ModuleList ModuleDict ParameterList ParameterDict DataParallel DistributedDataParallel "
    "weight_norm spectral_norm Buffer list tuple dict".split()
)


_CONTAINERS = frozenset(f"torch.nn.{word}" for word in _WRAPPERS)


_BINDINGS: tuple[type[ast.AST], ...] = (
    ast.For,
    ast.comprehension,
    ast.Assign,
    ast.withitem,
    ast.AugAssign,
    ast.NamedExpr,
    ast.AnnAssign,
)


def _origins(outline: Outline, function: Function, word: str) -> Iterator[ast.expr | None]:
    """Give what a local name is bound to; None for a parameter and for bindings that are not understood."""
    if any(each.arg == word for each in _parameters(function)):
        yield None
    for each in outline.inside(function, *_BINDINGS):
        match each:
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if _binds(
                target, word
            ):
                yield value
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == word:
                yield value
            case ast.Assign(targets=targets) if any(_binds(target, word) for target in targets):
                yield None
            case ast.withitem(optional_vars=ast.expr() as bound) if _binds(bound, word):
                yield None
            case ast.AugAssign(target=target) | ast.NamedExpr(target=target) | ast.AnnAssign(target=target) if _binds(
                target, word
            ):
                yield None


def _binds(target: ast.expr, word: str) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == word and isinstance(each.ctx, ast.Store) for each in ast.walk(target)
    )


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for each in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(each, field, None)
            if isinstance(block, list):
                yield block
