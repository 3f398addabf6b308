"""What has a ``data`` of its own: objects of the file's classes, packed sequences, records of libraries."""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import FileContext, Value, remembered

RECORDS = re.compile(rb"^\s*(?:import|from)\s+(torch_geometric|dgl|mmcv|torchio|torchtext|ultralytics)\b", re.MULTILINE)
"""Libraries whose batches and fields are records with tensors as ``data``."""
PACKED = re.compile(rb"PackedSequence|\bpack_padded_sequence\b")
_NOTE = re.compile(r"Tensor|Variable|Parameter\b|Module|Any\b|Optimizer|^(int|float|bool|str)( \| None)?$")
"""Annotations of tensors, of what holds tensors without a ``data`` of its own, and of numbers and texts."""
_WORD = re.compile(r"\bdata\b")
_TENSORS = frozenset({"Parameter", "Variable", "Tensor", "DataFrame", "Series"})
"""What is made with ``data=`` and is a tensor, or has no ``data`` afterwards."""


def has_own_data(context: FileContext) -> bool:
    """Whether a class has a ``data`` of its own: one of the file, or one of the project that says it is a tensor.

    Of other files nothing else counts: data sets that keep a list in ``self.data`` are in most projects.
    """
    return _has_own_data(context.tree, context)


@remembered
def _has_own_data(_: ast.Module, context: FileContext) -> bool:
    """Whether a class of the file has a field, property or attribute ``data``, or an object is made with ``data=``."""
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


def is_packed(known: Value) -> bool:
    """Whether an object is a packed sequence."""
    return any("PackedSequence" in name for name in known.instance)


def works_with_others(place: ast.expr, context: FileContext) -> bool:
    """Whether a parameter of the function around is annotated as an object of another class, which may have a ``data``.

    It may be what is asked, or hold it.
    """
    function = context.function_around(place)
    given = context.inside(function.args, ast.arg) if function is not None else ()
    return any(each.annotation is not None and not _NOTE.search(ast.unparse(each.annotation)) for each in given)
