"""What has a ``data`` of its own: objects of the file's classes, packed sequences, records of libraries."""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import FileContext, last_word_of_name, remembered

RECORDS = re.compile(rb"^\s*(?:import|from)\s+(torch_geometric|dgl|mmcv|torchio|torchtext|ultralytics)\b", re.MULTILINE)
"""Libraries whose batches and fields are records with tensors as ``data``."""
PACKED = re.compile(rb"PackedSequence|\bpack_padded_sequence\b")
_NOTE = re.compile(r"Tensor|Variable|Parameter\b|Module|Any\b|Optimizer|^(int|float|bool|str)( \| None)?$")
"""Annotations of tensors, of what holds tensors without a ``data`` of its own, and of numbers and texts."""
_WORD = re.compile(r"\bdata\b")
_TENSORS = frozenset({"Parameter", "Variable", "Tensor", "DataFrame", "Series"})
"""What is made with ``data=`` and is a tensor, or has no ``data`` afterwards."""


def has_own_data(context: FileContext) -> bool:
    """Whether a class of the file has a ``data`` of its own, or an object is made with ``data=``."""
    return _has_own_data(context.tree, context)


@remembered
def _has_own_data(_: ast.Module, context: FileContext) -> bool:
    stored = (each.value for each in context.attributes_by_word().get("data", ()) if isinstance(each.ctx, ast.Store))
    is_kept = any(isinstance(owner, ast.Name) and owner.id == "self" for owner in stored)
    return is_kept or context.is_defined("data") or any(_gives_data(call) for call in context.nodes(ast.Call))


def _gives_data(call: ast.Call) -> bool:
    """Whether a call makes a class with a field ``data``, or an object with ``data=``."""
    word = last_word_of_name(call.func)
    if word.lower() == "namedtuple":
        return any(_WORD.search(ast.unparse(fields)) for fields in call.args[1:])
    return word[:1].isupper() and word not in _TENSORS and any(each.arg == "data" for each in call.keywords)


def works_with_others(place: ast.expr, context: FileContext) -> bool:
    """Whether a parameter of the function around is annotated as an object of another class, which may have a ``data``.

    It may be what is asked, or hold it.
    """
    function = context.function_around(place)
    given = context.inside(function.args, ast.arg) if function is not None else ()
    return any(each.annotation is not None and not _NOTE.search(ast.unparse(each.annotation)) for each in given)
