"""What is run later than where it stands, or never, or often: lambdas, and generators that nothing uses up at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container

from torchlint.syntax.ast_index import FUNCTIONS

Above = Callable[[ast.AST], ast.AST | None]
"""Tells what stands right around a node."""

_LAZY = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
"""Built-in functions that go through what they are given when somebody goes through what they give."""
_EAGER = frozenset("all any bool dict frozenset list max min next print set sorted str sum tuple".split())
"""Built-in functions that go through what they are given at once, or drop it."""
_CONTAINERS = frozenset({"deque", "ModuleList", "OrderedDict", "ParameterList"})
"""Classes, of Python or of torch, that go through what they are given at once."""


def runs_later(node: ast.AST, above: Above, bound: Container[str]) -> bool:
    """Whether a node stands in what is not run with the function or the module around it, but later, never or often.

    :param bound: the names that the file binds itself, to which no built-in function answers
    """
    below, around = node, above(node)
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, ast.Lambda):
            return True
        if isinstance(around, ast.comprehension) and _is_first_source(below, around, above):
            around = above(around)  # a generator asks for it where it stands
        elif isinstance(around, ast.GeneratorExp) and not is_used_up(around, above, bound):
            return True
        assert around is not None
        below, around = around, above(around)
    return False


def deferred_around(node: ast.AST, above: Above, bound: Container[str]) -> ast.AST | None:
    """Return the closest lambda or generator around a node that may be run later; None for none in its function."""
    below, around = node, above(node)
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, ast.comprehension) and _is_first_source(below, around, above):
            around = above(around)
        elif is_deferred(around, above, bound):
            return around
        assert around is not None
        below, around = around, above(around)
    return None


def is_deferred(node: ast.AST, above: Above, bound: Container[str]) -> bool:
    """Whether a lambda or a generator may be run when the code around it has gone on."""
    match node:
        case ast.GeneratorExp():
            return not is_used_up(node, above, bound) and not _is_left_with(node, above)
        case ast.Lambda():
            return not _is_called_at_once(node, above, bound) and not _is_left_with(node, above)
    return False


def _is_left_with(node: ast.AST, above: Above) -> bool:
    """Whether a function gives a node back: nothing of it is run afterwards, unless a ``finally`` may be."""
    is_returned, around = False, above(node)
    while around is not None and not isinstance(around, (*FUNCTIONS, ast.Lambda, ast.Try)):
        is_returned = is_returned or isinstance(around, ast.Return)
        around = above(around)
    return is_returned and not isinstance(around, ast.Try)


def _is_called_at_once(node: ast.Lambda, above: Above, bound: Container[str]) -> bool:
    """Whether a lambda is called where it stands, and nobody keeps it: ``sorted(found, key=lambda x: x[0])``."""
    match around := above(node):
        case ast.Call(func=function) if function is node:
            return True
        case ast.Call(func=ast.Name(id="map" | "filter" as lazy)) as call if lazy not in bound:
            return is_used_up(call, above, bound)
        case ast.keyword(arg="key") as keyword:
            around = above(keyword)
    match around:
        case ast.Call(func=ast.Name(id="sorted" | "min" | "max" as word)):
            return word not in bound
        case ast.Call(func=ast.Attribute(attr="sort")):
            return True
    return False


def is_used_up(generator: ast.expr, above: Above, bound: Container[str]) -> bool:
    """Whether something goes through a generator, or what ``map`` gives, where it stands: ``sum(...)``.

    Nobody else gets hold of it then.
    """
    node: ast.AST = generator
    while True:
        match around := above(node):
            case ast.Call(func=ast.Name(id=word), args=args) if word in _LAZY and word not in bound and node in args:
                node = around
            case ast.Call(func=function, args=args) if node in args:
                return _goes_through(function, bound)
            case ast.comprehension(iter=source) if source is node:
                loop = above(around)
                if not isinstance(loop, ast.GeneratorExp):
                    return True
                node = loop
            case ast.For(iter=source) | ast.AsyncFor(iter=source):
                return source is node
            case ast.Assign(targets=targets):
                return all(isinstance(each, ast.Tuple | ast.List) for each in targets)
            case _:
                return isinstance(around, ast.Starred)


def _goes_through(function: ast.expr, bound: Container[str]) -> bool:
    """Whether a function goes through its arguments at once."""
    match function:
        case ast.Attribute(value=ast.Constant(value=str()), attr="join"):
            return True
        case ast.Name(id=word):
            return word in _EAGER | _CONTAINERS and word not in bound
        case ast.Attribute(attr=word):
            return word in _CONTAINERS and word not in bound
    return False


def _is_first_source(node: ast.AST, clause: ast.comprehension, above: Above) -> bool:
    """Whether a node is what a comprehension goes through first of all."""
    generators: list[ast.comprehension] = getattr(above(clause), "generators", [])
    return node is clause.iter and bool(generators) and generators[0] is clause
