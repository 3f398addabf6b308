"""Whether a graph records what is computed with a part of a module, or keeps the part itself."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Kind, Mode, operations
from torchlint.rules.evidence.aliasing import COMPUTING_ANEW
from torchlint.rules.evidence.method_calls import call_of

MEASURING = frozenset("size dim numel nelement item tolist numpy index count".split())
"""Methods of a part, or of a tuple of its sizes, that give numbers, and arrays that autograd knows nothing of."""
_FORGETTING = frozenset({"torch.nn.Parameter", "builtins.float", "builtins.int", "builtins.bool"})
"""What keeps the values that it is given, and nothing of how they were computed."""


def is_quiet(node: ast.expr, context: FileContext) -> bool:
    """Whether no graph records an expression, for grad mode is off, or because nothing in it may require grad."""
    if context.mode(node) == Mode.OFF:
        return True
    known = context.value(node)
    return known.must(Kind.TENSOR) and not known.may_require_grad


def leaves_no_graph(node: ast.expr, context: FileContext) -> bool | ast.expr:
    """Whether what an operation gives is recorded by no graph, or by one that goes with it: ``w.sum().item()``.

    The expression of which that has to be asked where none records it, but what it gives may share the part's memory:
    ``w.detach()``, of which a later graph keeps the same versions.
    """
    is_new = _computes_anew(node, context)
    while not is_quiet(node, context):
        match above := context.parent(node):
            case ast.Attribute(attr="data"):
                return True
            case ast.Attribute(attr=word):
                call = call_of(above, context)
                if call is None or word not in operations().methods:
                    return False
                if word in MEASURING:
                    return True
                node = call
            case ast.Call(func=function):
                return bool(names := context.names(function)) and names <= _FORGETTING
            case ast.BinOp() | ast.UnaryOp():
                node = above
            case _:
                return False
        is_new = is_new or _computes_anew(node, context)
    return is_new or node


def _computes_anew(node: ast.expr, context: FileContext) -> bool:
    """Whether what an operation on tensors gives has memory of its own."""
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return True
        case ast.Call(func=function) if names := context.names(function):
            out = any(each.arg in (None, "out") for each in node.keywords)
            return not out and all(each.rpartition(".")[2] in COMPUTING_ANEW for each in names)
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in COMPUTING_ANEW or word in MEASURING
    return False
