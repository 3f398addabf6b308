"""Where the simple statements of a function end, by its nodes."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Collection
from typing import NamedTuple

from torchlint.semantic.graph import FunctionGraph, Node


class _Statement(NamedTuple):
    """A simple statement."""

    start: tuple[int, int]
    end: tuple[int, int]


class StatementBounds:
    """The statements of functions, and how many nodes there are behind each."""

    def __init__(self, operations: Collection[str]) -> None:
        """Count nodes with these operations."""
        self._operations = operations
        self._statements: dict[FunctionGraph, tuple[list[_Statement], dict[int | None, int]]] = {}

    def end_of(self, place: Node) -> int:
        """Return how many nodes there are behind the simple statement of a node; behind all where it stands in none."""
        fn = place.fn
        if fn not in self._statements:
            statements, behind = _statements_of(fn), dict[int | None, int]()
            for each in fn.nodes:
                if each.op in self._operations:
                    behind[_around(each, statements)] = each.index + 1
            self._statements[fn] = statements, behind
        statements, behind = self._statements[fn]
        at = _around(place, statements)
        return behind.get(at, len(fn.nodes)) if at is not None else len(fn.nodes)


def _statements_of(fn: FunctionGraph) -> list[_Statement]:
    """Return the simple statements of a function in order, those of functions inside too."""
    simple = (
        each for each in ast.walk(fn.tree or fn.file.tree) if isinstance(each, ast.stmt) and not hasattr(each, "body")
    )
    return sorted(
        _Statement((each.lineno, each.col_offset), (each.end_lineno or 0, each.end_col_offset or 0)) for each in simple
    )


def _around(node: Node, statements: list[_Statement]) -> int | None:
    """Return the position of the statement that a node stands in; None where it stands in none."""
    if node.at is None:
        return None
    at = node.at.lineno, node.at.col_offset
    found = bisect_right(statements, at, key=lambda each: each.start) - 1
    return found if found >= 0 and at < statements[found].end else None
