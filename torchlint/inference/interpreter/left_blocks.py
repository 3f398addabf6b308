"""The ``with`` block around a generator or ``map`` that is left before anything goes through what they give."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.grad_mode import TURNING_OFF
from torchlint.inference.program.bindings import own
from torchlint.syntax.ast_index import AstIndex

Block = ast.With | ast.AsyncWith


def block_left(index: AstIndex, node: ast.expr) -> Block | None:
    """Return the outermost ``with`` block around a generator or ``map`` that is left before its values are read.

    The value is returned, or bound to a name that is asked for where no block turns grad mode off.
    """
    blocks = list(_blocks_around(index, node))
    statement = index.parents.get(node)
    if not blocks or isinstance(statement, ast.Return):
        return blocks[-1] if blocks else None
    match statement:
        case ast.Assign(targets=[ast.Name(id=word)]):
            scope = index.owner(node) or index.tree
            places = (
                each for each in own(index, scope, ast.Name) if each.id == word and isinstance(each.ctx, ast.Load)
            )
            left = [block for each in places for block in _left(index, each, blocks)]
            return next((each for each in reversed(blocks) if each in left), None)
    return None


def _left(index: AstIndex, place: ast.Name, blocks: list[Block]) -> list[Block]:
    """Return those of some blocks that a place is outside of; none where another one there turns grad mode off."""
    around = list(_blocks_around(index, place))
    others = [item.context_expr for each in around if each not in blocks for item in each.items]
    if any(last_word_of_name(each) in TURNING_OFF for each in others):
        return []
    return [each for each in blocks if each not in around]


def _blocks_around(index: AstIndex, node: ast.AST) -> Iterator[Block]:
    """Yield the blocks around a node in its own function, the innermost first."""
    for above in index.ancestors(node):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            return
        if isinstance(above, ast.With | ast.AsyncWith):
            yield above
