"""Which names a loop may read before it binds them: only those carry something from one round into the next."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.inference.program.bindings import SCOPES, Loop, loaded, shared
from torchlint.syntax.ast_index import AstIndex, children


def rebound(index: AstIndex, loop: Loop) -> frozenset[str]:
    """Return the names that a loop binds in each round before it reads them: what they were does not matter to it.

    Of what is read in a lambda or in a function inside the loop it is not known when, so that none of those names is
    given; nor is one that a ``break`` may leave unbound, or that a function declares to be of the scope around it.
    """
    reading, sure = _Reading(), frozenset[str]()
    if isinstance(loop, ast.While):
        reading.read(loop.test, sure)
    else:
        sure = reading.bind(sure, loop.target)
    reading.block(loop.body, sure)
    bound = {each.id for each in index.inside(loop, ast.Name) if isinstance(each.ctx, ast.Store)}
    unbound = {word for sure in reading.left for word in bound - sure}
    bound -= reading.early
    return frozenset(bound - unbound - index.told(_of_unknown_time, index.tree))


def _of_unknown_time(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names of a file that may be read or bound where their own function's text does not show it."""
    lambdas = (each for node in index.nodes(ast.Lambda) for each in index.told(loaded, node))
    return frozenset(lambdas).union(*index.told(shared, tree).values())


class _Reading:
    """Collects the names that are read where it is not sure that they are bound in the same round."""

    def __init__(self) -> None:
        self.early: set[str] = set()
        self.left: list[frozenset[str]] = []
        """What is bound for sure at each ``break``."""

    def block(self, body: Iterable[ast.stmt], sure: frozenset[str]) -> frozenset[str] | None:
        """Read statements with some names bound for sure; give those that are behind them, None where nothing is."""
        known: frozenset[str] | None = sure
        for statement in body:
            # Code behind a `return` is walked too, in the environment that the `return` left.
            known = self._statement(statement, known if known is not None else frozenset())
        return known

    def _statement(self, node: ast.stmt, sure: frozenset[str]) -> frozenset[str] | None:
        """Return what is surely bound behind a statement, None where nothing is run there; note what it reads."""
        match node:
            case ast.If():
                self.read(node.test, sure)
                return _either(self.block(node.body, sure), self.block(node.orelse, sure))
            case ast.For() | ast.AsyncFor():
                self.read(node.iter, sure)
                self.block(node.body, self.bind(sure, node.target))
                self.block(node.orelse, sure)
            case ast.While():
                self.read(node.test, sure)
                self.block(node.body, sure)
                self.block(node.orelse, sure)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.read(item.context_expr, sure)
                    sure = self.bind(sure, *filter(None, (item.optional_vars,)))
                return self.block(node.body, sure)
            case ast.Assign():
                self.read(node.value, sure)
                return self.bind(sure, *node.targets)
            case ast.AnnAssign(value=ast.expr() as value):
                self.read(node.annotation, sure)
                self.read(value, sure)
                return self.bind(sure, node.target)
            case ast.Delete():
                self.read(node, frozenset(), stores=True)
            case ast.AugAssign():
                self.read(node, sure, stores=True)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                self.read(node, sure)
                if isinstance(node, ast.Break):
                    self.left.append(sure)
                return None
            case _ if isinstance(node, ast.Match) or hasattr(node, "handlers"):
                self._parts(node, sure)
            case _:
                self.read(node, sure)
        return sure

    def _parts(self, node: ast.AST, sure: frozenset[str]) -> None:
        """Read a statement of which any part may be left at any point."""
        for below in children(node):
            if isinstance(below, ast.stmt):
                self._statement(below, sure)
            elif isinstance(below, ast.expr):
                self.read(below, sure)
            else:
                self._parts(below, sure)

    def bind(self, sure: frozenset[str], *targets: ast.expr) -> frozenset[str]:
        """Add the names that an assignment binds for sure, and read what else stands in its targets."""
        found: set[str] = set()
        for node in targets:
            match node:
                case ast.Name(id=word):
                    found.add(word)
                case ast.Tuple(elts=parts) | ast.List(elts=parts):
                    found |= self.bind(sure, *parts)
                case ast.Starred(value=inner):
                    found |= self.bind(sure, inner)
                case _:
                    self.read(node, sure)
        return sure | found

    def read(self, node: ast.AST, sure: frozenset[str], stores: bool = False) -> None:
        """Note the names that a node reads before they are bound for sure; ``stores``: those that it binds too."""
        stack = [node]
        while stack:
            each = stack.pop()
            if isinstance(each, ast.Name):
                if each.id not in sure and (stores or isinstance(each.ctx, ast.Load)):
                    self.early.add(each.id)
                continue
            if isinstance(each, SCOPES):
                self.early.update(inner.id for inner in ast.walk(each) if isinstance(inner, ast.Name))
            stack += children(each)


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
