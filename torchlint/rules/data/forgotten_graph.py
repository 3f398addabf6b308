"""Whether a graph that an expression records is gone when its statement ends: nothing can go backward through it.

`w.data.copy_(rate * v + w)` writes into a tensor that only this statement knows, and `w.data = rate * v` takes over
the values alone. So what the graph saves is let go of, whatever `rate` is.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext
from torchlint.rules.evidence.tensor_proof import is_proven
from torchlint.rules.evidence.tensor_uses import ALIKE


def graph_ends_in_statement(node: ast.BinOp, context: FileContext) -> bool:
    """Whether the result of an operator goes through operators only into the values behind a tensor's `.data`."""
    value: ast.expr = node
    above = context.parent(value)
    while isinstance(above, ast.BinOp | ast.UnaryOp):
        value, above = above, context.parent(above)
    match above:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as written, attr=word)) if value in above.args:
            return word in ALIKE and isinstance(context.parent(above), ast.Expr) and _is_temporary(written, context)
        case ast.Assign(targets=[ast.Attribute() as written]) | ast.AugAssign(target=ast.Attribute() as written):
            return _is_temporary(written, context)
        case (
            ast.Assign(targets=[ast.Subscript(value=ast.Attribute() as written)])
            | ast.AugAssign(target=ast.Subscript(value=ast.Attribute() as written))
        ):
            return _is_temporary(written, context)
    return False


def _is_temporary(written: ast.Attribute, context: FileContext) -> bool:
    """Whether an attribute is the `.data` of a tensor: an object of its own, made anew whenever it is asked for."""
    return written.attr == "data" and is_proven(written.value, context)
