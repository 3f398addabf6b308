"""Which names a loop may read before it binds them: only those carry something from one round into the next."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.inference.lexical import loaded, shared
from torchlint.syntax.outline import Outline, children

Loop = ast.For | ast.AsyncFor | ast.While

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def rebound(outline: Outline, loop: Loop) -> frozenset[str]:
    """Give the names that a loop binds in each round before it reads them: what they were does not matter to it.

    Of what is read in a lambda or in a function inside the loop it is not known when, so that none of those names is
    given; nor is one that a ``break`` may leave unbound, or that a function declares to be of the scope around it.
    """
    reading = _Reading()
    if isinstance(loop, ast.While):
        reading.expression(loop.test)
        known: frozenset[str] = frozenset()
    else:
        known = frozenset(reading.target(loop.target))
    reading.block(loop.body, known)
    bound = {each.id for each in outline.within(loop) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    unbound = {word for sure in reading.left for word in bound - sure}
    bound -= reading.early
    return frozenset(bound - unbound - outline.told(_of_unknown_time, outline.tree))


def _of_unknown_time(outline: Outline, tree: ast.Module) -> frozenset[str]:
    """Give the names of a file that may be read or bound where their own function's text does not show it."""
    lambdas = (each for node in outline.nodes(ast.Lambda) for each in outline.told(loaded, node))
    return frozenset(lambdas).union(*outline.told(shared, tree).values())


class _Reading:
    """Collects the names that are read where it is not sure that they are bound in the same round."""

    def __init__(self) -> None:
        self.early: set[str] = set()
        self.left: list[frozenset[str]] = []
        """What is bound for sure at each ``break``."""
        self._sure: frozenset[str] = frozenset()

    def block(self, body: Iterable[ast.stmt], sure: frozenset[str]) -> frozenset[str] | None:
        """Read statements with some names bound for sure; give those that are behind them, None where nothing is."""
        known: frozenset[str] | None = sure
        for statement in body:
            # Code behind a `return` is walked too, in the environment that the `return` left.
            known = self._statement(statement, known if known is not None else frozenset())
        return known

    def _statement(self, node: ast.stmt, sure: frozenset[str]) -> frozenset[str] | None:
        self._sure = sure
        match node:
            case ast.If():
                self.expression(node.test)
                return _either(self.block(node.body, sure), self.block(node.orelse, sure))
            case ast.For() | ast.AsyncFor():
                self.expression(node.iter)
                self.block(node.body, sure.union(self.target(node.target)))
                self.block(node.orelse, sure)
                return sure
            case ast.While():
                self.expression(node.test)
                self.block(node.body, sure)
                self.block(node.orelse, sure)
                return sure
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._sure = sure
                    self.expression(item.context_expr)
                    if item.optional_vars is not None:
                        sure = sure.union(self.target(item.optional_vars))
                return self.block(node.body, sure)
            case ast.Assign():
                self.expression(node.value)
                return sure.union(*(self.target(each) for each in node.targets))
            case ast.AnnAssign(value=ast.expr() as value):
                self.expression(node.annotation)
                self.expression(value)
                return sure.union(self.target(node.target))
        if isinstance(node, ast.Try) or hasattr(node, "cases") or hasattr(node, "handlers"):
            self._parts(node, sure)
            return sure
        self._other(node)
        if isinstance(node, ast.Break):
            self.left.append(sure)
        ends = isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue)
        return None if ends else sure

    def _parts(self, node: ast.stmt, sure: frozenset[str]) -> None:
        """Read a statement of which any part may be left at any point."""
        for below in children(node):
            self._sure = sure
            if isinstance(below, ast.stmt):
                self._statement(below, sure)
            elif isinstance(below, ast.expr):
                self.expression(below)
            else:
                self._parts(below, sure)  # type: ignore[arg-type]

    def _other(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Delete):
            self._sure = frozenset()
        self._read(node, self._sure, bind=isinstance(node, ast.AugAssign | ast.Delete))

    def expression(self, node: ast.expr) -> None:
        """Read an expression."""
        self._read(node, self._sure)

    def target(self, node: ast.expr) -> list[str]:
        """Give the names that an assignment binds for sure, and read what else stands in its target."""
        match node:
            case ast.Name(id=word):
                return [word]
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                return [word for each in targets for word in self.target(each)]
            case ast.Starred(value=inner):
                return self.target(inner)
        self._read(node, self._sure)
        return []

    def _read(self, node: ast.AST, sure: frozenset[str], bind: bool = False) -> None:
        stack = [node]
        while stack:
            each = stack.pop()
            if isinstance(each, ast.Name):
                if each.id not in sure and (bind or isinstance(each.ctx, ast.Load)):
                    self.early.add(each.id)
            else:
                if isinstance(each, _SCOPES):
                    self._read_later(each)
                stack.extend(children(each))

    def _read_later(self, scope: ast.AST) -> None:
        self.early.update(each.id for each in ast.walk(scope) if isinstance(each, ast.Name))


def _either(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
