"""Which texts set torch's defaults: legacy constructors and those that replace them follow them differently."""

from __future__ import annotations

import re

from torchlint.texts.frameworks import OTHERS
from torchlint.texts.word_index import ProjectFile, WordIndex

DTYPE, DEVICE, TENSOR_TYPE = "default dtype", "default device", "default tensor type"
SETTERS = {"set_default_dtype": DTYPE, "set_default_device": DEVICE, "set_default_tensor_type": TENSOR_TYPE}

_OTHERS = "|".join(sorted(OTHERS)).encode()
_ENTERED = tuple(
    map(
        re.compile,
        (
            rb"with [^\n#]*(?<![\w.])(?!(?:%b|cuda)\.)(?:\w+\.)?\w*device\w*\(" % _OTHERS,
            rb"with (?:\w+\.)*\w*device\w*(?:[:,]| as\b)",
            rb"with \(\s*\n[^:]*device",
            rb"@[^\n#]*device\(",
            rb"enter_context\([^\n#]*device",
        ),
    )
)
"""What may enter a device, each with a beginning that is found fast."""
_BY_NAME = re.compile(rb"with ([\w.]+)(?:[:,]| as\b)")
_SPELLED = frozenset(each.encode() for each in SETTERS)
_NAMED = re.compile(rb"^[^#`\n]*\b(%b)\b" % b"|".join(_SPELLED), re.MULTILINE)


def setter(words: WordIndex, own: str, kind: str) -> str | None:
    """Return the clause about the first other file that sets a default."""
    setting = (each for each in words.holding_any((*SETTERS, "device")) if each.path != own and kind in each.told(_set))
    return next((f"`{each.shown}` sets the {kind}" for each in setting), None)


def _set(file: ProjectFile) -> frozenset[str]:
    return defaults_set(file.text) if b"torch" in file.words or not file.words.isdisjoint(_SPELLED) else frozenset()


def defaults_set(text: bytes) -> frozenset[str]:
    """Return which of torch's defaults a text may set, by its words, comments left out."""
    found = {SETTERS[word.decode()] for word in _NAMED.findall(text)} if b"set_default_" in text else set[str]()
    if b"device" in text and (any(each.search(text) for each in _ENTERED) or _enters_by_name(text)):
        found.add(DEVICE)
    return frozenset(found)


def _enters_by_name(text: bytes) -> bool:
    names = set(_BY_NAME.findall(text))
    return any(re.search(rb"\b%b\s*=\s*[\w.]*device\(" % re.escape(each), text) for each in names)
