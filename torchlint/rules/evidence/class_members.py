"""What the classes of a project define for all their objects: a copy of its own, a property in the place of a part."""

from __future__ import annotations

import ast

from torchlint.rules.api import FUNCTIONS, FileContext, remembered
from torchlint.rules.evidence.called_definitions import is_kept_by_class

_COPYING = ("__deepcopy__", "__reduce__", "__reduce_ex__")
"""Methods that say what ``copy.deepcopy`` gives."""


@remembered
def copies_are_new(_: ast.Module, context: FileContext) -> bool:
    """Whether no class of the project says itself what a deep copy of its objects is."""
    here = {each.name for each in context.nodes(ast.FunctionDef)}
    return here.isdisjoint(_COPYING)


def defines_for_all(owner: ast.ClassDef, word: str) -> bool:
    """Whether a class gives something by a name to all its objects: a property, a method, a layer that they share."""
    defined = any(isinstance(each, FUNCTIONS) and each.name == word for each in owner.body)
    return defined or is_kept_by_class(owner, word)


def may_be_computed(word: str, context: FileContext) -> bool:
    """Whether a class of the project may give something by a name in its own way, by a property say."""
    return any(defines_for_all(each, word) for each in context.nodes(ast.ClassDef))
