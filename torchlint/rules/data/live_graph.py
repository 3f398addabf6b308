"""Whether a write may reach what a graph has saved: a computed value, or a parameter between forward and backward."""

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
_GRAPH_OF_GRADIENTS = re.compile(rb"create_graph")
"""What a file asks for that computes with gradients again; elsewhere no graph has saved one."""


def may_change_a_graph(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the code shows that a graph may hold the tensor of ``.data`` where it is written.

    It is what was computed with grad mode on, or the function runs a network before the write and goes backward after
    it. Without such evidence a write initialises, as nearly all do.
    """
    place = context.python(node)
    if not isinstance(place, ast.Attribute):
        return False
    if _is_computed(place.value, context):
        return True
    if (
        isinstance(place.value, ast.Attribute)
        and place.value.attr == "grad"
        and not context.matches(_GRAPH_OF_GRADIENTS)
    ):
        return False
    events = _events(context.function_around(place) or context.tree, context)
    at = context.span(place)[0]
    before, after = [word for start, word in events if start < at], [word for start, word in events if start > at]
    return before[-1:] == ["forward"] and after[:1] == ["backward"]


_OF_AUTOGRAD = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def is_input_of_function(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is, or is a part of, what the ``forward`` of an ``autograd.Function`` is given.

    Who hides a write there means to: one that is seen has to be told by ``ctx.mark_dirty``.
    """
    root = root_of_place(node)
    function = context.function_around(root)
    if not isinstance(root, ast.Name) or not isinstance(function, ast.FunctionDef) or function.name != "forward":
        return False
    owner = context.parent(function)
    if not isinstance(owner, ast.ClassDef) or not any(context.names(base) & _OF_AUTOGRAD for base in owner.bases):
        return False
    return root.id in {each.arg for each in positional_parameters(function)[1:]}


def _is_computed(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression, or all that a name is bound to, is the result of a recorded operation."""
    value = context.value(node)
    if not (value.is_tensor and value.grad & Grad.ATTACHED and context.mode(node) & Mode.ON):
        return False
    return _is_operation(context.definition(node) if isinstance(node, ast.Name) else node, context)


def _is_operation(node: ast.AST | None, context: FileContext) -> bool:
    """Whether an expression computes a tensor: it is no leaf and no view of one, nor detached."""
    match node:
        case ast.BinOp():
            return True
        case ast.Call(func=function, keywords=keywords):
            is_leaf = any(each.arg == "requires_grad" for each in keywords) or context.value(node).instance
            return not is_leaf and last_word_of_name(function) not in _NO_OPERATION
    return False


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
