"""Whether a text holds the words of rules in the way in which they matter, told before anything is parsed."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from torchlint.catalogue import CATALOGUE, Entry

_GAP = rb"(?:[\s\\]|#[^\n]*\n)*"
"""What may stand between two parts of an expression."""


def speaking(codes: Iterable[str], text: bytes) -> list[Entry]:
    """Give those of the rules that may have something to say about a text; in doubt a rule is among them."""
    known: dict[re.Pattern[bytes], bool] = {}
    wanted = frozenset(codes)
    return [entry for entry in CATALOGUE if entry.code in wanted and _speaks(entry, text, known)]


def _speaks(entry: Entry, text: bytes, known: dict[re.Pattern[bytes], bool]) -> bool:
    for word in entry.words:
        if word.encode() in text:  # many times faster than the pattern, and most words are not there at all
            pattern = _pattern(word, entry.called, entry.attribute)
            if pattern not in known:
                known[pattern] = pattern.search(text) is not None
            if known[pattern]:
                return True
    return False


@functools.lru_cache(maxsize=256)
def _pattern(word: str, called: bool, attribute: bool) -> re.Pattern[bytes]:
    """Give what matches a word where it counts, or where another name is made of it."""
    before = rb"\." + _GAP if attribute else rb"(?<!\w)"
    behind = rb""
    if called:  # `f(...)`, `(f)(...)`, `import f as g`; what stands on the next row is not looked at
        behind = rb"[ \t\f)\\]*(?:[(\r\n#]|as\b"
        behind += rb"|;|\Z|if\b|else\b)" if word[:1].isupper() else rb")"  # `T = torch.Tensor if c else ...`
    return re.compile(before + word.encode() + rb"(?!\w)" + behind)
