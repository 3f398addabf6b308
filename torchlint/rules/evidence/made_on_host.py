"""Whether a tensor is on the host by the code's own text: made there, and computed with nothing that is elsewhere.

Who is handed an object or a container may move what is in it. So a fix that leaves out a move rests on tensors alone
which torch makes in sight.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, arguments_of, children
from torchlint.rules.evidence.local_bindings import are_of_torch, values_of

_HOLDING = Kind.TENSOR | Kind.SEQUENCE | Kind.MODULE
_DEEPEST = 8


def is_made_on_host(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor is on the host beyond doubt, where nothing sets a default device."""
    return context.value(node).is_proven_on_host and _is_made_in_sight(node, context, _DEEPEST)


def _is_made_in_sight(node: ast.AST, context: FileContext, depth: int) -> bool:
    """Whether torch makes all tensors that an expression computes with, or functions and methods of torch give them."""
    if not depth or not isinstance(node, ast.expr) or not context.value(node).may(_HOLDING):
        return depth > 0
    parts = children(node)
    match node:
        case ast.Name():
            values = values_of(node, context)
            return bool(values) and all(_is_made_in_sight(each, context, depth - 1) for each in values)
        case ast.Call(func=ast.Attribute(value=owner)) if context.value(owner).is_tensor:
            parts = [owner, *arguments_of(node)]
        case ast.Call(func=function) if not are_of_torch(context.names(function)):
            return False
        case ast.Attribute(value=owner) | ast.Subscript(value=owner) if not context.value(owner).is_tensor:
            return False
    return all(_is_made_in_sight(each, context, depth - 1) for each in parts)
