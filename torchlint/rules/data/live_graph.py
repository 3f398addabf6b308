"""Whether what is written was computed, so that a graph may have saved it, or is hidden from autograd on purpose."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import FileContext, Grad, Mode, last_word_of_name, positional_parameters, root_of_place

_NO_OPERATION = frozenset({"detach", "Variable", "requires_grad_", "next", "getattr"})
"""What gives a leaf, or a tensor without its graph."""
_OF_AUTOGRAD = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def is_computed(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression, or all that a name is bound to, is the result of a recorded operation.

    Without such evidence a write through `.data` initialises or updates, as nearly all do.
    """
    value, place = context.value(node), context.python(node)
    if not (value.is_tensor and value.grad & Grad.ATTACHED and context.mode(node) & Mode.ON):
        return False
    return _is_operation(context.definition(place) if isinstance(place, ast.Name) else place, context)


def _is_operation(node: ast.AST | None, context: FileContext) -> bool:
    """Whether an expression computes a tensor: it is no leaf and no view of one, nor detached."""
    match node:
        case ast.BinOp():
            return True
        case ast.Call(func=function, keywords=keywords):
            is_leaf = any(each.arg == "requires_grad" for each in keywords) or context.value(node).instance
            return not is_leaf and last_word_of_name(function) not in _NO_OPERATION
    return False


def is_input_of_function(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is, or is a part of, what the ``forward`` of an ``autograd.Function`` is given.

    Who hides a write there means to: one that is seen has to be told by ``ctx.mark_dirty``.
    """
    place = context.python(node)
    root = root_of_place(place) if isinstance(place, ast.expr) else None
    function = context.function_around(root) if root is not None else None
    if not isinstance(root, ast.Name) or not isinstance(function, ast.FunctionDef) or function.name != "forward":
        return False
    owner = context.parent(function)
    is_operation = isinstance(owner, ast.ClassDef) and any(context.names(each) & _OF_AUTOGRAD for each in owner.bases)
    return is_operation and root.id in {each.arg for each in positional_parameters(function)[1:]}
