"""Whether reading attributes and items runs no code of the project's, such as a property that computes with gradients.

Under ``torch.no_grad()`` a cached property would keep what it computed there without a graph.
"""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import FileContext, Kind, semantic_children
from torchlint.rules.evidence.local_bindings import are_of_torch
from torchlint.rules.evidence.method_calls import call_of

_ITEMS = Kind.TENSOR | Kind.ARRAY | Kind.SEQUENCE | Kind.SIZE | Kind.STRING
"""What gives its items by code of torch, NumPy or Python."""


def reads_plainly(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether all attributes and items that are read in some code are plain ones."""
    match node:
        case cst.Attribute() if not _is_plain_attribute(node, context):
            return False
        case cst.Subscript(value=owner) if not _gives_items(owner, context):
            return False
    return all(reads_plainly(each, context) for each in semantic_children(node))


def _is_plain_attribute(node: cst.Attribute, context: FileContext) -> bool:
    """Whether an attribute is torch's, or no class of the project has a property of its name."""
    word = node.attr.value
    if word == "data" or call_of(node, context) is not None or context.names(node):
        return True
    owner = context.value(node.value)
    if owner.is_tensor or are_of_torch(owner.instance):
        return True
    return not context.is_defined(word)


def _gives_items(owner: cst.BaseExpression, context: FileContext) -> bool:
    """Whether what is indexed is torch's, NumPy's or Python's own, or no class of the project can be indexed."""
    known = context.value(owner)
    if known.must(_ITEMS) or are_of_torch(known.instance) or _is_data(context.python(owner)):
        return True
    if not (known.unknown or known.vague) or known.instance:
        return False
    return not context.is_defined("__getitem__")


def _is_data(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"
