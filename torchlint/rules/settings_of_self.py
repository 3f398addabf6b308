"""What the methods of a class put into the object: each way to set an attribute, a part of one, or anything at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.rule import FileContext, Function, remembered

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ADDING = frozenset("append extend insert add_module update setdefault register_module __setitem__ __setattr__".split())
_NAMED = frozenset("add_module register_module register_parameter register_buffer __setattr__".split())
"""Methods of a module that are given a name and what to keep under it."""
_STORES = frozenset({"_modules", "_parameters", "_buffers"})
_ASKING = frozenset("super isinstance issubclass hasattr getattr id type print len repr str hash".split())
"""Functions that are handed an object and put nothing into it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way in which an attribute comes by what it holds."""

    at: ast.AST
    word: str | None
    """The attribute; None where it may be any."""
    value: ast.expr | None
    """What is put there; None where the code does not tell."""
    whole: bool = True
    """Whether the attribute itself is set; else something is put into what it holds."""


@remembered
def settings(function: Function, context: FileContext) -> tuple[Setting, ...]:
    """Give what a method puts into its object, in the order of the text."""
    given = [*function.args.posonlyargs, *function.args.args]
    return tuple(_found(context, function, given[0].arg)) if given else ()


def _found(context: FileContext, function: Function, self: str) -> Iterator[Setting]:
    for node in context.within(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(target, value, self, node)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _assigned(target, value, self, node)
            case ast.AugAssign(target=target, value=value) if (word := path_word(target, self)) is not None:
                yield Setting(node, word, value, whole=False)
            case (
                ast.For(target=target) | ast.AsyncFor(target=target) | ast.withitem(optional_vars=ast.expr() as target)
            ):
                yield from _assigned(target, None, self, node)
            case ast.Call():
                yield from _called(node, self)
            case ast.Attribute(value=ast.Name(id=owner), attr="__dict__") if owner == self:
                yield Setting(node, None, None)


def _assigned(target: ast.expr, value: ast.expr | None, self: str, at: ast.AST) -> Iterator[Setting]:
    match target:
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            values: list[ast.expr | None] = [None] * len(targets)
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets):
                values = list(value.elts)
            for each, part in zip(targets, values, strict=True):
                yield from _assigned(each, part, self, at)
        case ast.Starred(value=inner):
            yield from _assigned(inner, None, self, at)
        case ast.Attribute(value=ast.Name(id=owner), attr=word) if owner == self:
            yield Setting(at, word, value)
        case ast.Attribute() | ast.Subscript():
            held = path_word(target, self)
            if held is not None:
                yield Setting(at, None if held in _STORES else held, value, whole=held in _STORES)


def _called(node: ast.Call, self: str) -> Iterator[Setting]:
    arguments = [*node.args, *(each.value for each in node.keywords)]
    match node.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=word) if owner == self and word in _NAMED:
            yield _named(node, arguments)
        case ast.Attribute(value=inner, attr=word) if word in _ADDING and (held := path_word(inner, self)) is not None:
            yield from (Setting(node, None if held in _STORES else held, each, whole=False) for each in arguments)
        case ast.Name(id="setattr") if node.args and path_word(node.args[0], self, empty="") == "":
            yield _named(node, arguments[1:])
        case ast.Name(id="setattr") if node.args and (held := path_word(node.args[0], self)) is not None:
            yield Setting(node, held, arguments[-1], whole=False)
        case ast.Name(id=word) if word in _ASKING:
            pass
        case ast.Attribute(attr="__init__"):  # what a base class is given is looked at with the base class
            pass
        case _:
            if any(isinstance(each, ast.Name) and each.id == self for each in arguments):
                yield Setting(node, None, None)


def _named(node: ast.Call, arguments: list[ast.expr]) -> Setting:
    name = arguments[0] if arguments else None
    word = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return Setting(node, word, arguments[1] if len(arguments) > 1 else None)


def path_word(node: ast.expr, source: str | None, empty: str | None = None) -> str | None:
    """Give ``net`` of ``self.net[0].weight``; ``empty`` for the name alone, None where the path starts elsewhere."""
    word = empty
    while True:
        match node:
            case ast.Attribute(value=inner, attr=attribute):
                node, word = inner, attribute
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node, word = inner, empty
            case ast.Name(id=name):
                return word if name == source else None
            case _:
                return None


def in_force(found: list[Setting], word: str | None, until: ast.AST, context: FileContext) -> list[Setting]:
    """Give those settings of one function that may still hold where a write stands.

    What stands behind the write, in no loop with it, has not happened, and an assignment that always comes before the
    write undoes all that was set before it.
    """
    around = list(context.ancestors(until))
    loops = {each for each in around if isinstance(each, ast.For | ast.While)}
    found = [each for each in found if _row(each.at) <= _row(until) or not loops.isdisjoint(context.ancestors(each.at))]
    blocks = {context.parent(each) for each in around if isinstance(each, ast.stmt)}
    sure = [each for each in found if each.whole and each.word == word and _is_sure(each.at, until, blocks, context)]
    last = max((_row(each.at) for each in sure), default=0)
    return [each for each in found if any(row >= last for row in _rows(each.at, until, context))]


def _is_sure(at: ast.AST, until: ast.AST, blocks: set[ast.AST | None], context: FileContext) -> bool:
    """Whether an assignment is a statement of a block around the write, and comes before it."""
    if not isinstance(at, ast.Assign) or _row(at) >= _row(until):
        return False
    block = context.parent(at)
    if block not in blocks or isinstance(block, ast.Try):
        return False
    path = [until, *context.ancestors(until)]
    below = path[path.index(block) - 1] if block in path else None
    names = ("body", "orelse", "finalbody")
    return any(at in lines and below in lines for lines in (getattr(block, each, None) or () for each in names))


def _rows(at: ast.AST, until: ast.AST, context: FileContext) -> list[float]:
    """Give the rows on which a setting may happen: one in a function inside the function, where that is called."""
    inner, outer = context.function_around(at), context.function_around(until)
    if inner is outer or inner is None or outer is None:
        return [_row(at)]
    uses = [each for each in context.inside(outer, ast.Name) if each.id == inner.name]
    calls = [context.parent(each) for each in uses]
    if all(isinstance(call, ast.Call) and call.func is each for call, each in zip(calls, uses, strict=True)):
        return [_row(each) for each in uses if _row(each) <= _row(until)]
    return [float("inf")]


def _row(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
