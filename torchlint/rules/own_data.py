"""Whether a file has classes of its own whose objects have a ``data`` that is no tensor's."""

from __future__ import annotations

import ast
import re

from torchlint.rule import FileContext, remembered

_WORD = re.compile(r"\bdata\b")
_TENSORS = frozenset({"Parameter", "Variable", "Tensor", "DataFrame", "Series"})
"""What is made with ``data=`` and is a tensor, or has no ``data`` afterwards."""


def has_own_data(context: FileContext) -> bool:
    """Whether a class of the file has a field, property or attribute ``data``, or an object is made with ``data=``."""
    return _has_own_data(context.tree, context)


@remembered
def _has_own_data(_: ast.Module, context: FileContext) -> bool:
    nodes = (*context.nodes(ast.ClassDef), *context.nodes(ast.Attribute), *context.nodes(ast.Call))
    return any(_speaks(node) for node in nodes)


def _speaks(node: ast.AST) -> bool:
    match node:
        case ast.ClassDef(body=body):
            return any(_declares(each) for each in body)
        case ast.Attribute(value=ast.Name(id="self"), attr="data", ctx=ast.Store()):
            return True
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=args, keywords=keywords):
            if word.lower() == "namedtuple":
                return any(_names_data(each) for each in args[1:])
            if word[:1].isupper() and word not in _TENSORS:
                return any(each.arg == "data" for each in keywords)
    return False


def _declares(statement: ast.stmt) -> bool:
    match statement:
        case ast.AnnAssign(target=ast.Name(id="data")) | ast.Assign(targets=[ast.Name(id="data")]):
            return True
        case ast.FunctionDef(name="data"):
            return True
    return False


def _names_data(fields: ast.expr) -> bool:
    return any(isinstance(each, ast.Constant) and _WORD.search(str(each.value)) for each in ast.walk(fields))
