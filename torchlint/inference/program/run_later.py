"""What is run later than where it stands, or never, or often: lambdas, and generators that nothing uses up at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container

Above = Callable[[ast.AST], ast.AST | None]
"""Tells what stands right around a node."""

_LAZY = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
"""Built-in functions that go through what they are given when somebody goes through what they give."""
_EAGER = frozenset("all any bool dict frozenset list max min next print set sorted str sum tuple".split())
"""Built-in functions that go through what they are given at once, or drop it."""
_CONTAINERS = frozenset({"deque", "ModuleList", "OrderedDict", "ParameterList"})
"""Classes, of Python or of torch, that do so."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def runs_later(node: ast.AST, above: Above, bound: Container[str]) -> bool:
    """Whether a node stands in what is not run with the function or the module around it, but later, never or often.

    :param bound: the names that the file binds itself, to which no built-in function answers
    """
    below, around = node, above(node)
    while around is not None and not isinstance(around, _FUNCTIONS):
        if isinstance(around, ast.Lambda):
            return True
        if isinstance(around, ast.comprehension) and _is_first_source(below, around, above):
            around = above(around)  # a generator asks for it where it stands
        elif isinstance(around, ast.GeneratorExp) and not is_used_up(around, above, bound):
            return True
        assert around is not None
        below, around = around, above(around)
    return False


def is_used_up(generator: ast.GeneratorExp, above: Above, bound: Container[str]) -> bool:
    """Whether something goes through a generator where it stands, so that nobody gets hold of it: ``sum(...)``."""
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
