"""The legacy tensor types, ``torch.Tensor`` and ``torch.cuda.LongTensor`` among them, and what they stand for."""

from __future__ import annotations

import libcst as cst

from torchlint.rule import FileContext
from torchlint.rules.spelling import Spelled, torch_name
from torchlint.screening.legacy_types import TensorType, is_type_word, tensor_type


def type_of(node: cst.BaseExpression, context: FileContext) -> TensorType | None:
    """Give the legacy tensor type that a name or an attribute stands for; None where it stands for anything else."""
    word = name_node(node)
    if word is None or context.outline is None:
        return None
    if not is_type_word(word.value, context.outline):
        return None
    return tensor_type(context.names(node))


def name_node(node: cst.BaseExpression) -> cst.Name | None:
    """Give the last word of a name or an attribute."""
    match node:
        case cst.Name() | cst.Attribute(attr=cst.Name()):
            return node if isinstance(node, cst.Name) else node.attr
    return None


def spelled_like(node: cst.BaseExpression, name: str, context: FileContext) -> Spelled | None:
    """Spell ``torch.<name>`` the way a type beside it is spelled: ``th.cuda.FloatTensor`` gives ``th``."""
    base = node.value if isinstance(node, cst.Attribute) else None
    if isinstance(base, cst.Attribute) and base.attr.value == "cuda":
        base = base.value
    if isinstance(base, cst.Name) and context.names(base) == {"torch"}:
        return f"{base.value}.{name}", ()
    return torch_name(context, name, node)
