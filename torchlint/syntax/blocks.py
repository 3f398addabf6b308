"""Blocks of statements: the bodies of a node, and what stands beside a statement in its own."""

from __future__ import annotations

import ast
from itertools import takewhile


def blocks_of(node: ast.AST | None) -> list[list[ast.stmt]]:
    """Return the blocks right below a node, in the order of the text; those of handlers and cases are theirs."""
    found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return [block for block in found if isinstance(block, list) and block]


def block_with(statement: ast.AST, above: ast.AST | None) -> list[ast.stmt]:
    """Return the block right below a node that a statement is one of; an empty one where it is in none."""
    return next((block for block in blocks_of(above) if statement in block), [])


def earlier_in_block(statement: ast.AST, above: ast.AST | None) -> list[ast.stmt]:
    """Return the statements before one in its block, which is right below a node."""
    return list(takewhile(lambda each: each is not statement, block_with(statement, above)))


def leaves(block: list[ast.stmt]) -> bool:
    """Whether what stands behind a block is not reached through it: it ends by returning, raising or leaving a loop."""
    last = block[-1] if block else None
    if isinstance(last, ast.With | ast.AsyncWith):
        return leaves(last.body)
    return isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break)
