"""Whether a text holds the words of rules in the way in which they matter, told before anything is parsed."""

from __future__ import annotations

import functools
import keyword
import re

from torchlint.catalogue import CATALOGUE, Entry

_DOT = re.compile(rb"\.(?:[\s\\]|#[^\n]*\n)*\Z")
"""A dot, and what may stand between it and a word."""
_FARTHEST = 1000
"""Bytes between a dot and its word; one is not seen behind a longer comment, but behind any number of blanks.

Likewise between a word and the parenthesis of its call; behind more than that there may be one.
"""

_BLANKS = b" \t\f\r\n\\"
_LETTERS = bytes(each for each in range(256) if each >= 0x80 or chr(each).isalnum() or each == 0x5F)
"""What identifiers are made of, in UTF-8."""
_KEYWORDS = frozenset(map(str.encode, (*keyword.kwlist, *keyword.softkwlist)))
_GAP = re.compile(rb"(?:[\s\\)]|#[^\r\n]*[\r\n])*")
"""What may stand between a word and a call's parenthesis, or ``as``."""
_USE = re.compile(rb"\(|as\b|#")
"""These two; or a comment whose end was not looked for."""

_Condition = tuple[bytes, bool, bool, bool]
"""A word, and how it must stand: called, behind a dot, with more than a literal."""

_Family = tuple[bytes | None, frozenset[_Condition]]
"""Conditions whose words end with another word that is wanted; with None those whose words do not."""


@functools.lru_cache(maxsize=2)
def speaking(codes: frozenset[str], text: bytes) -> tuple[Entry, ...]:
    """Give those of the rules that may have something to say about a text; in doubt a rule is among them.

    What was said of the last text is kept: it is asked again where not all of them are silent.
    """
    families, entries = _wanted(codes)
    # Most words are not there at all, which a plain search tells many times faster than a pattern.
    met = {
        each
        for ending, family in families
        if ending is None or (ending in text and _any(ending, family).search(text))
        for each in family
        if each[0] in text and _stands(text, *each)
    }
    return tuple(entry for entry, enough in entries if not met.isdisjoint(enough)) if met else ()


@functools.lru_cache(maxsize=8)
def _wanted(codes: frozenset[str]) -> tuple[tuple[_Family, ...], tuple[tuple[Entry, frozenset[_Condition]], ...]]:
    """Give all conditions of some rules in families, and each rule with those of which one is enough."""
    entries = tuple(
        (entry, frozenset((word.encode(), entry.called, entry.attribute, entry.unless_literal) for word in entry.words))
        for entry in CATALOGUE
        if entry.code in codes
    )
    return _families(frozenset[_Condition]().union(*(enough for _, enough in entries))), entries


def _families(conditions: frozenset[_Condition]) -> tuple[_Family, ...]:
    words = {each[0] for each in conditions}
    families: dict[bytes | None, set[_Condition]] = {}
    for each in conditions:
        endings = [word for word in words if word != each[0] and each[0].endswith(word)]
        families.setdefault(min(endings, key=len, default=None), set()).add(each)
    return tuple((ending, frozenset(family)) for ending, family in families.items())


@functools.lru_cache(maxsize=8)
def _any(ending: bytes, family: frozenset[_Condition]) -> re.Pattern[bytes]:
    """Give what matches any word of a family; it begins with their common ending, which is looked for once for all."""
    return re.compile(ending + b"(?:" + b"|".join(b"(?<=" + word + b")" for word, *_ in sorted(family)) + b")")


def _stands(text: bytes, word: bytes, called: bool, attribute: bool, unless_literal: bool) -> bool:
    return any(
        (not attribute or _behind_a_dot(each))
        and (not called or _may_be_called(each))
        and not (unless_literal and _is_given_a_literal(each))
        for each in _pattern(word, called, attribute).finditer(text)
    )


def _may_be_called(found: re.Match[bytes]) -> bool:
    """Whether a word is called or gets another name; at the end of a row it may just as well end a sentence."""
    text, end = found.string, found.end()
    if _follows_a_word(found):
        return False
    if text[end - 1 : end] == b"(":
        return True
    if found[0].endswith(b"as"):
        return _may_be_imported(found)
    gap = _GAP.match(text, end - 1, end + _FARTHEST)
    if gap is None or gap.end() == end + _FARTHEST:
        return True
    if use := _USE.match(text, gap.end()):
        return use[0] != b"as" or _may_be_imported(found)
    if not found[0][:1].isupper():
        return False
    before = text[max(found.start() - _FARTHEST, 0) : found.start()].rstrip(_BLANKS)
    while before.endswith(b"."):
        before = before[:-1].rstrip(_BLANKS).rstrip(_LETTERS).rstrip(_BLANKS)
    return not before or before.endswith((b"=", b"(", b"else")) or b"#" in before.rpartition(b"\n")[2]


def _follows_a_word(found: re.Match[bytes]) -> bool:
    """Whether another word stands before it on its row, as in prose: in code that is a keyword."""
    before = found.string[max(found.start() - _FARTHEST, 0) : found.start()].rstrip(b" \t\f")
    word = before[len(before.rstrip(_LETTERS)) :]
    return bool(word) and word not in _KEYWORDS and not word[:1].isdigit()  # `1if`


def _may_be_imported(found: re.Match[bytes]) -> bool:
    """Whether a word before ``as`` may be one of those that an import names."""
    before = found.string[max(found.start() - _FARTHEST, 0) : found.start()].rstrip(_BLANKS)
    return not before or before.endswith((b"import", b",", b"(")) or b"#" in before.rpartition(b"\n")[2]


def _is_given_a_literal(found: re.Match[bytes]) -> bool:
    """Whether a number or a list is all of the first argument: ``tensor(1.0)``, ``tensor([[x, y]], ...)``."""
    text, end = found.string, found.end()
    return text[end - 1 : end] == b"(" and _literal().match(text, end) is not None


@functools.cache
def _literal() -> re.Pattern[bytes]:
    """Give what matches a number or a list, with lists in it but without calls, and what ends an argument."""
    inner = rb"\[[^\[\]()]*\]"
    for _ in range(5):
        inner = rb"\[(?:[^\[\]()]|" + inner + rb")*\]"
    return re.compile(rb"\s*(?:[-+]?\d[\w.]*(?:(?<=[eE])[-+]\d+)?|True\b|False\b|" + inner + rb")\s*[,)]")


def _behind_a_dot(found: re.Match[bytes]) -> bool:
    """Whether a word is an attribute: ``x.data``, and ``x. # why`` with the word on the next row."""
    text, at, end = found.string, found.start(), found.end()
    if text[end : end + _FARTHEST].lstrip(b" \t").startswith(b"import"):
        return False  # `from library.data import x`
    if text[at - 1 : at] == b".":
        return not (found[0] == b"data" and text[max(at - 7, 0) : at] == b".utils.")  # `torch.utils.data` is a package
    before = text[max(at - _FARTHEST, 0) : at]
    return _DOT.search(before) is not None or not (before.strip(_BLANKS) or at < _FARTHEST)


@functools.lru_cache(maxsize=256)
def _pattern(word: bytes, called: bool, attribute: bool) -> re.Pattern[bytes]:
    """Give what matches a word where it counts, or where another name is made of it.

    It begins with the word, so that it is looked for as fast as a plain text is.
    """
    behind = rb""
    if called:  # `f(...)`, `(f)(...)`, `import f as g`; :func:`_may_be_called` looks further where the row ends
        behind = rb"[ \t\f)\\]*(?:[(\r\n#]|as\b"
        behind += rb"|;|\Z|if\b|else\b)" if word[:1].isupper() else rb")"  # `T = torch.Tensor if c else ...`
    if attribute:
        return re.compile(word + rb"(?<=[.\s\\]" + word + rb")(?!\w)" + behind)
    return re.compile(word + rb"(?<!\w" + word + rb")(?!\w)" + behind)
