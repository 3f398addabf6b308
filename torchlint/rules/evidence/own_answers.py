"""What the classes of a project answer in their own way: a copy that is none, a part that a property gives."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, remembered

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COPYING = ("__deepcopy__", "__reduce__", "__reduce_ex__")
"""Methods that say what ``copy.deepcopy`` gives."""


@remembered
def copies_are_new(_: ast.Module, context: FileContext) -> bool:
    """Whether no class of the project says itself what a deep copy of its objects is."""
    here = {each.name for each in context.nodes(ast.FunctionDef)}
    return here.isdisjoint(_COPYING) and all(context.other_texts.defines(each) is None for each in _COPYING)
