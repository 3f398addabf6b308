"""Whether a file has classes of its own whose objects have a ``data`` that is no tensor's."""

from __future__ import annotations

import ast
import re

from torchlint.rule import FileContext
from torchlint.syntax.outline import Outline

_WORD = re.compile(r"\bdata\b")
_TENSORS = frozenset({"Parameter", "Variable", "Tensor", "DataFrame", "Series"})
"""What is made with ``data=`` and is a tensor, or has no ``data`` afterwards."""


def has_own_data(context: FileContext) -> bool:
    """Whether a class of the file has a field, property or attribute ``data``, or an object is made with ``data=``."""
    return context.outline is not None and context.outline.told(_has_own_data, context.outline.tree)


def _has_own_data(outline: Outline, _: ast.Module) -> bool:
    nodes = (*outline.nodes(ast.ClassDef), *outline.nodes(ast.Attribute), *outline.nodes(ast.Call))
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
