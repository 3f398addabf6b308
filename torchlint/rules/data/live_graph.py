"""Whether a write may reach what a graph has saved, or is hidden from autograd on purpose."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torchlint.rules.api import (
    FileContext,
    Grad,
    Kind,
    Mode,
    last_word_of_name,
    positional_parameters,
    remembered,
    root_of_place,
)

_NO_OPERATION = frozenset({"detach", "Variable", "requires_grad_", "next", "getattr"})
"""What gives a leaf, or a tensor without its graph."""
_OF_AUTOGRAD = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


_GRAPH_OF_GRADIENTS = re.compile(rb"create_graph")
"""What a file asks for that computes with gradients again; elsewhere no graph has saved one."""


def may_change_a_graph(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the code shows that a graph may hold the tensor of ``.data`` where it is written.

    It is what was computed with grad mode on, or the function runs a network before the write and goes backward after
    it. Without such evidence a write initialises or updates, as nearly all do.
    """
    place = context.python(node)
    if place is None or _is_computed(node.value, context):
        return place is not None
    is_gradient = isinstance(node.value, cst.Attribute) and node.value.attr.value == "grad"
    if is_gradient and not context.matches(_GRAPH_OF_GRADIENTS):
        return False
    at = context.span(node)[0]
    events = _events(context.function_around(place) or context.tree, context)
    before, after = [word for start, word in events if start < at], [word for start, word in events if start > at]
    return before[-1:] == ["forward"] and after[:1] == ["backward"]


@remembered
def _events(scope: ast.AST, context: FileContext) -> tuple[tuple[int, str], ...]:
    """Return where a function runs networks, goes backward and steps, in the order of the text."""
    found = []
    for call in context.own(scope, ast.Call):
        word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        at = context.span(call)[0]
        if word in ("backward", "step"):
            found.append((at, word))
        elif context.value(call.func).must(Kind.MODULE) and context.mode(call) & Mode.ON:
            found.append((at, "forward"))
    return tuple(sorted(found))


def _is_computed(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression, or all that a name is bound to, is the result of a recorded operation."""
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
