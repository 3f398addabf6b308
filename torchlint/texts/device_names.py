"""Words by which texts speak of devices and settings."""

from __future__ import annotations

import ast
import re

_OTHERS = ("mps", "xpu", "xla", "npu", "hpu", "privateuseone", "ipu", "vulkan", "mtia", "mlu", "musa")

_SPEAKING = (b"cuda", b".to(", b"device", b"gpu", b"accelerat", b"lightning", b"mps", b"xpu")
_SPEAKING_CLEARLY = re.compile(
    rb"cuda|device|gpu|accelerat|lightning|\b(?:mps|xpu)\b"
    rb"|\.to\((?!\s*(?:dtype\s*=\s*)?(?:[\w.]+\.)?(?:dtype|bfloat16|float\d*|double|half|u?int\d*|long|short|bool)\s*\))"
)
"""Words of devices, and moves that are not to a dtype alone."""
_COMMENT = re.compile(rb"^[^\S\n]*#[^\n]*|^((?:[^\n]*['\"])?[^'\"\n#]*)#[^'\"\n]*$", re.MULTILINE)
"""A comment, and what stands before it: behind a ``#`` inside of a string there is a quote."""

_NAMING_OTHERS = re.compile(rf"(?<![a-z])(?:{'|'.join(_OTHERS)})(?![a-z])".encode(), re.IGNORECASE)

SETTINGS = "args?|opts?|options?|cfg|conf|configs?|configuration|settings|hparams|hps|flags"
"""Words for what holds a program's settings and nothing else, as a pattern."""
_SETTINGS = re.compile(rf"(^|_)({SETTINGS})$", re.IGNORECASE)


def says_accelerator(text: bytes) -> bool:
    """Whether a text speaks of a device at all, comments left out: a licence names the Lightning team."""
    lowered = text.lower()  # and a plain search: seven times faster than a pattern that leaves case open
    if not any(word in lowered for word in _SPEAKING):
        return False
    return _SPEAKING_CLEARLY.search(_COMMENT.sub(rb"\1", lowered)) is not None


def names_other_accelerators(text: bytes) -> bool:
    """Whether a text names an accelerator that is there without CUDA."""
    return _NAMING_OTHERS.search(text) is not None


def is_settings(word: str) -> bool:
    """Whether a name is one of a record of settings, whose fields are numbers and texts."""
    return _SETTINGS.search(word) is not None


def last_word_of_name(node: ast.AST | None) -> str:
    """Return the last identifier of an expression: ``device`` for ``self.args.device``, ``get_device`` for its call."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
        case ast.Subscript(slice=ast.Constant(value=str(word))):
            return word
        case ast.Subscript(value=inner) | ast.Call(func=inner):
            return last_word_of_name(inner)
    return ""
