"""The ways that a run may take through a function or a module, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from torchlint.rules.api import FileContext, Function, remembered

Successors = dict[ast.stmt, list[ast.stmt]]
"""Which statements may run next; a compound statement stands for its header: its test, its iterable, its items."""


@remembered
def successors(scope: Function | ast.Module, _: FileContext) -> Successors:
    """Return what may run behind each statement of a scope, those of functions and classes inside it left out."""
    found: Successors = {}
    _Builder(found).block(scope.body, [], [], [])
    return found


class _Builder:
    """Goes through blocks from their end, so that what follows is known of each statement."""

    def __init__(self, found: Successors) -> None:
        self._found = found

    def block(
        self, body: Sequence[ast.stmt], after: list[ast.stmt], stop: list[ast.stmt], again: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Give where a block begins; ``stop`` and ``again`` are where ``break`` and ``continue`` lead."""
        for statement in reversed(body):
            self._found[statement] = self._next(statement, after, stop, again)
            after = [statement]
        return after

    def _next(
        self, node: ast.stmt, after: list[ast.stmt], stop: list[ast.stmt], again: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Return what may run next once a statement has begun: what its blocks begin with, or what follows it."""
        match node:
            case ast.Return() | ast.Raise():
                return []
            case ast.Break():
                return stop
            case ast.Continue():
                return again
            case ast.If():
                return [*self.block(node.body, after, stop, again), *self.block(node.orelse, after, stop, again)]
            case ast.While(test=ast.Constant(value=test)) if test:
                return self.block(node.body, [node], after, [node])
            case ast.For() | ast.AsyncFor() | ast.While():
                ends = self.block(node.orelse, after, stop, again)
                return [*self.block(node.body, [node], after, [node]), *ends]
            case ast.With() | ast.AsyncWith():
                return self.block(node.body, after, stop, again)
            case ast.Match():
                return [*(one for case in node.cases for one in self.block(case.body, after, stop, again)), *after]
            case ast.Try():
                ends = self.block(node.finalbody, after, stop, again)
                failed = [one for each in node.handlers for one in self.block(each.body, ends, stop, again)]
                fine = self.block(node.orelse, ends, stop, again)
                return [*self.block(node.body, [*fine, *failed], stop, again), *failed]
        return after


def comes_by(
    start: ast.stmt | None,
    place: ast.stmt,
    wanted: Collection[ast.stmt],
    scope: Function | ast.Module,
    context: FileContext,
) -> bool:
    """Whether each way from a statement, or from where the scope begins, to a place comes by a statement of some."""
    following = successors(scope, context)
    if place not in following or (start is not None and start not in following):
        return False
    seen: set[ast.stmt] = set()
    stack = list(following.get(start, [])) if start is not None else scope.body[:1]
    while stack:
        node = stack.pop()
        if node is place:
            return False
        if node not in seen and node not in wanted:
            seen.add(node)
            stack += following.get(node, [])
    return True
