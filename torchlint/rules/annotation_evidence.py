"""Whether what is known of a value rests on an annotation alone: annotations are often wrong about ints and tensors."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rule import FileContext, parameters

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_TENSORS_ALONE = frozenset({"data", "grad", "T", "mT", "H", "mH"})


def is_parameter(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a node is the name of a parameter of a function around it: callers decide what it is."""
    if not isinstance(node, cst.Name):
        return False
    found = context.python(node)
    around = context.ancestors(found) if found is not None else ()
    return any(node.value in parameters(each) for each in around if isinstance(each, _FUNCTIONS))


def rests_on_annotation(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression that passes for a tensor does so by an annotation: a parameter, an attribute, their sum.

    A call does not: what a function of torch gives is a tensor, and so is what has a tensor's method.
    """
    match node:
        case cst.Name():
            return is_parameter(node, context)
        case cst.Call():
            return False
        case cst.Attribute(attr=cst.Name(value=word)):
            return word not in _OF_TENSORS_ALONE
        case cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
            return rests_on_annotation(inner, context)
        case cst.BinaryOperation(left=left, right=right):
            return all(rests_on_annotation(each, context) for each in (left, right) if context.value(each).is_tensor)
    return True
