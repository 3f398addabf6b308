"""How far moving a write from `.data` under `no_grad` may be trusted: no graph may hold the tensor yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Confidence
from torchlint.rule import FileContext, semantic_children
from torchlint.rules.data_use import DataUse, Way
from torchlint.rules.inplace_methods import ALIKE
from torchlint.rules.module_building import is_being_built

_HARMLESS_CALLS = frozenset("float int len min max abs round range tuple list sum isinstance bool".split())
_HARMLESS_MODULES = ("torch.", "math.", "numpy.", "random.")


def is_safe(node: cst.Attribute, use: DataUse, confidence: Confidence, context: FileContext) -> bool:
    """Whether the write does the same in both spellings, and nothing beside it cares for grad mode."""
    if confidence is not Confidence.CERTAIN or (use.way is Way.METHOD and use.word not in ALIKE):
        return False
    return is_new(node, context) and _is_plain_around(node, context)


def is_new(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the tensor belongs to a module that is being built."""
    place = context.python(node.value)
    return isinstance(place, ast.expr) and is_being_built(place, context)


def _is_plain_around(node: cst.Attribute, context: FileContext) -> bool:
    """Whether nothing else in the statement could care for grad mode: it calls only torch, math and tensors."""
    for above in context.ancestors(node):
        if isinstance(above, cst.BaseSmallStatement):
            return all(_is_harmless(call, context) for call in _calls(above))
    return False


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    if isinstance(node, cst.Call):
        yield node
    for child in semantic_children(node):
        yield from _calls(child)


def _is_harmless(call: cst.Call, context: FileContext) -> bool:
    names = context.names(call.func)
    if names:
        return all(name.startswith(_HARMLESS_MODULES) or name.rpartition(".")[2] in _HARMLESS_CALLS for name in names)
    match call.func:
        case cst.Name(value=word):
            return word in _HARMLESS_CALLS
        case cst.Attribute(value=receiver):
            return context.value(receiver).is_tensor or _is_on_data(receiver)
    return False


def _is_on_data(node: cst.BaseExpression) -> bool:
    while True:
        match node:
            case cst.Attribute(attr=cst.Name(value="data")):
                return True
            case cst.Attribute(value=inner) | cst.Subscript(value=inner) | cst.Call(func=inner):
                node = inner
            case _:
                return False
