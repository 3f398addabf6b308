"""Whether a text gives any rule something to look at, told before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from torchlint.config import Config
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_metadata import RuleMetadata, Triggers
from torchlint.source.notebook import SUFFIX
from torchlint.source.text import SourceError, decode
from torchlint.source.valid_python import is_python

_OF_SUPPRESSIONS = (b"tns", b"torchlint:")
"""In small letters, what a comment holds that may be found at fault itself."""

_FARTHEST = 1000
"""Bytes around a word that are looked at."""
_DOT = re.compile(rb"\.(?:[\s\\]|#[^\r\n]*[\r\n])*\Z")
"""A dot, and what may stand between it and its word."""
_GAP = re.compile(rb"(?:[\s\\)]|#[^\r\n]*[\r\n])*")
"""What may stand between a word and the parenthesis of its call."""
_CALL = re.compile(rb"\(|as\b|#")
"""What calls a word or gives it another name; or a comment whose end is too far away."""
_ROW_END = re.compile(rb";|if\b|else\b|\Z")
_ASSIGNMENT = re.compile(rb"(?:=|\(|\belse)(?:[\w.\s\\]|#[^\r\n]*[\r\n])*\Z")
"""What stands before the class in ``T = torch.FloatTensor`` and ``T = a.FloatTensor if c else b.FloatTensor``."""
_LITERAL = re.compile(rb"\s*\(\s*[-+]?[\"'\d]")
_IMPORT = re.compile(rb"[ \t]+import\b")

_TENSORS = re.compile(rb"(?i)torch|tensor")
"""What a text holds that works with tensors: the name of a library, or an annotation."""

_Test = Callable[["re.Match[bytes]"], bool]


def is_plain(path: str, raw: bytes, config: Config) -> bool:
    """Return whether the engine would find nothing at all: no finding, no suppressed one, nothing that went wrong.

    False where that takes the engine to tell, as it does for notebooks and for text that does not parse.
    """
    if path.endswith(SUFFIX):
        return False
    try:
        source = decode(path, raw)
    except SourceError:
        return False
    lowered = source.utf8.lower()
    if any(word in lowered for word in _OF_SUPPRESSIONS) or triggered(config.codes(path), source.utf8):
        return False
    return is_python(source.text)


def triggered(codes: frozenset[str], text: bytes) -> tuple[RuleMetadata, ...]:
    """Return those of the rules that may have something to say about a text; in doubt a rule is among them."""
    rules = [rule for rule in RULES if rule.code in codes]
    present = {each for each in {rule.triggers for rule in rules} if _is_present(each, text)}
    return tuple(rule for rule in rules if rule.triggers in present)


@lru_cache(maxsize=64)  # more than the rules have: a text is asked about several times in a row
def _is_present(triggers: Triggers, text: bytes) -> bool:
    if triggers.packages:
        return _any_stands(triggers.packages, text) and _TENSORS.search(text) is not None
    return (
        _any_stands(triggers.names, text)
        or _any_stands(triggers.attributes, text, _is_attribute)
        or _any_stands(triggers.functions, text, _is_called)
        or _any_stands(triggers.methods, text, _is_attribute, _is_called)
        or _any_stands(triggers.builtins, text, _is_plain_name, _takes_no_literal, _is_called)
    )


def _any_stands(words: tuple[str, ...], text: bytes, *tests: _Test) -> bool:
    return any(_stands(word.encode(), text, tests) for word in words)


def _stands(word: bytes, text: bytes, tests: tuple[_Test, ...]) -> bool:
    """Whether a word stands somewhere in a text as all the tests want it."""
    if word not in text:
        return False
    # What stands before the word is looked at behind it: a pattern that begins with plain text is found much faster.
    whole = re.compile(word + rb"(?<!\w" + word + rb")(?!\w)")
    return any(all(test(found) for test in tests) for found in whole.finditer(text))


def _is_attribute(found: re.Match[bytes]) -> bool:
    """Whether a word stands behind a dot: ``x.data``, and ``x. # why`` with the word on the next row."""
    text, start = found.string, found.start()
    if _IMPORT.match(text, found.end()):
        return False  # `from library.data import x`
    if text[start - 1 : start] == b".":
        return not (found[0] == b"data" and text[max(start - 7, 0) : start] == b".utils.")  # a package of torch's
    before = text[max(start - _FARTHEST, 0) : start]
    return _DOT.search(before) is not None or (len(before) == _FARTHEST and not before.strip())


def _is_plain_name(found: re.Match[bytes]) -> bool:
    """Whether no dot stands right before a word."""
    return found.string[found.start() - 1 : found.start()] != b"."


def _takes_no_literal(found: re.Match[bytes]) -> bool:
    """Whether no string or number stands right behind a word's parenthesis."""
    return _LITERAL.match(found.string, found.end()) is None


def _is_called(found: re.Match[bytes]) -> bool:
    """Whether a word is called or gets another name by which it may be called."""
    text, end = found.string, found.end()
    gap = _GAP.match(text, end, end + _FARTHEST)
    if gap is None or len(gap[0]) == _FARTHEST or _CALL.match(text, gap.end()):
        return True
    ends_row = b"\n" in gap[0] or b"\r" in gap[0] or _ROW_END.match(text, gap.end())
    return bool(ends_row) and found[0][:1].isupper() and _is_assigned(text, found.start())


def _is_assigned(text: bytes, start: int) -> bool:
    """Whether the class at some place may get another name by an assignment."""
    return _ASSIGNMENT.search(text, max(start - _FARTHEST, 0), start) is not None
