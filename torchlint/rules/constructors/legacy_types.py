"""The legacy tensor types by name, such as ``torch.Tensor`` and ``torch.cuda.LongTensor``, and what they stand for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, Decision
from torchlint.rules.api import FileContext, positional_parameters
from torchlint.rules.repairs import Spelled, torch_name

DTYPES: Final = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
}  # fmt: skip
"""The dtype that the first half of a type's name means."""
TYPES: Final[dict[str, tuple[str, str]]] = {
    "torch.Tensor": ("", "cpu"),
    **{f"torch.{word}Tensor": (dtype, "cpu") for word, dtype in DTYPES.items()},
    **{f"torch.cuda.{word}Tensor": (dtype, "cuda") for word, dtype in DTYPES.items()},
}
"""Dtype and device of each legacy type; ``torch.Tensor`` follows the default dtype."""
_ALIAS = re.compile(rb"Tensor\s+as\s+(\w+)|\b(\w+)\s*(?::[^=\n]*)?=[^=\n]*Tensor\b(?!\()")


@dataclass(frozen=True, slots=True)
class TensorType:
    """What an expression that names a legacy tensor type, or one of several, stands for."""

    names: tuple[str, ...]
    """The types it may be, sorted: ``("torch.FloatTensor", "torch.cuda.FloatTensor")``."""
    plain: bool
    """Whether it is ``torch.Tensor`` itself, which follows the default dtype."""
    dtype: str | None
    """``"float32"``; None for ``torch.Tensor``, and where the types differ in dtype."""
    device: str | None
    """``"cpu"`` or ``"cuda"``; None where it depends on which of the types it is."""

    @property
    def shown(self) -> str:
        """The types as a message names them."""
        return " or ".join(f"`{name}`" for name in self.names)


def tensor_type(names: Iterable[str]) -> TensorType | None:
    """Read the qualified names that an expression may be; None unless all of them are legacy tensor types."""
    found = sorted(names)
    if not found or not all(each in TYPES for each in found):
        return None
    dtypes, devices = zip(*(TYPES[each] for each in found), strict=True)
    plain = set(dtypes) == {""}
    return TensorType(tuple(found), plain, None if plain else _agreed(e or "float32" for e in dtypes), _agreed(devices))


def _agreed(words: Iterable[str]) -> str | None:
    """Return the one word that all are; None where they differ."""
    found = set(words)
    return found.pop() if len(found) == 1 else None


def is_type_word(word: str, context: FileContext) -> bool:
    """Whether a word names a legacy tensor type, or an import or an assignment may have made it stand for one."""
    return word.endswith("Tensor") or word in _aliases(context.source.utf8)


@lru_cache(maxsize=8)
def _aliases(text: bytes) -> frozenset[str]:
    return frozenset((one or other).decode() for one, other in _ALIAS.findall(text))


def type_of(node: cst.BaseExpression, context: FileContext) -> TensorType | None:
    """Return the legacy tensor type that a name, an attribute or a text stands for; None where it is anything else."""
    if isinstance(node, cst.SimpleString):
        return tensor_type([str(node.evaluated_value)])
    word = name_node(node)
    if word is None or not is_type_word(word.value, context):
        return None
    return tensor_type(context.names(node))


def kept_below(node: cst.BaseExpression, context: FileContext) -> Iterator[Decision]:
    """Decide whether an attribute of `self` is the same in classes below: nobody looks for these."""
    match node:
        case cst.Call(func=cst.Attribute() as method):
            yield from kept_below(method, context)
        case cst.Attribute(value=cst.Name(value=word) as owner):
            place = context.python(owner)
            function = context.function_around(place) if place is not None else None
            if function is None or not isinstance(context.parent(function), ast.ClassDef):
                return
            if word in {each.arg for each in positional_parameters(function)[:1]}:
                doubt = f"a class below may have another `{node.attr.value}`"
                yield AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True)


def name_node(node: cst.BaseExpression) -> cst.Name | None:
    """Return the last word of a name or an attribute."""
    match node:
        case cst.Name() | cst.Attribute(attr=cst.Name()):
            return node if isinstance(node, cst.Name) else node.attr
    return None


def spelled_like(node: cst.BaseExpression, name: str, context: FileContext) -> Spelled | None:
    """Spell ``torch.<name>`` the way a type beside it is spelled: ``th.cuda.FloatTensor`` gives ``th``."""
    base = node.value if isinstance(node, cst.Attribute) else None
    while isinstance(base, cst.Attribute) and base.attr.value == "cuda":
        base = base.value
    if isinstance(base, cst.Name) and context.names(base) == {"torch"}:
        return f"{base.value}.{name}", ()
    return torch_name(context, name, node)
