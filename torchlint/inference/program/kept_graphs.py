"""Where a text asks for gradients that have a graph of their own: ``loss.backward(create_graph=True)``."""

from __future__ import annotations

import ast

from torchlint.inference.program.bindings import own
from torchlint.syntax.ast_index import AstIndex


def keeping_graphs(index: AstIndex, scope: ast.AST) -> tuple[ast.Call, ...]:
    """Return the backward passes of a function or a module that may keep a graph of the gradients they leave."""
    return tuple(each for each in own(index, scope, ast.Call) if _keeps(each))


def _keeps(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        return False
    asked = [each.value for each in call.keywords if each.arg == "create_graph"]
    return bool(asked) and not (isinstance(asked[0], ast.Constant) and not asked[0].value)


def is_asked(call: ast.Call) -> bool:
    """Whether a backward pass is told in so many words to keep a graph: ``create_graph=True``."""
    return any(each.arg == "create_graph" and ast.unparse(each.value) == "True" for each in call.keywords)
