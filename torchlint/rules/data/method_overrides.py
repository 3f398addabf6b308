"""Which methods of a file's own classes may run in the place of torch's or Python's."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Function, methods_of
from torchlint.rules.data.building_methods import lineage
from torchlint.rules.evidence.called_definitions import Definitions

_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic", "Enum", "NamedTuple", "TypedDict"})
_MOVES = frozenset("to cuda xpu cpu float half double bfloat16".split())
_ANSWERED_BY = {"eval": frozenset({"eval", "train"})} | {word: frozenset({word, "_apply"}) for word in _MOVES}
"""The methods by which torch answers others, for a module and for all that it holds."""


def overrides_of(word: str, context: FileContext) -> list[Function]:
    """Return what the file's own modules may have in the place of a method of ``nn.Module``."""
    words = _ANSWERED_BY.get(word, frozenset({word}))
    return [each for each in methods_named(words, context) if _may_be_of_module(each, context)]


def methods_named(words: frozenset[str], context: FileContext) -> list[Function]:
    """Return the methods of some names that the file's classes define."""

    def find() -> list[Function]:
        return [each for owner in context.nodes(ast.ClassDef) for each in methods_of(owner) if each.name in words]

    return context.answer((methods_named, words), find)


def _may_be_of_module(method: Function, context: FileContext) -> bool:
    """Whether the class of a method may derive from ``nn.Module``, as one does that derives from what is elsewhere."""
    owner = context.parent(method)
    line = lineage(owner, context) if isinstance(owner, ast.ClassDef) else ()
    here = Definitions(context)
    bases = [base for one in line for base in one.bases if here.class_here(base) is None]
    return any(ast.unparse(base).partition("[")[0].rpartition(".")[2] not in _PLAIN_BASES for base in bases)
