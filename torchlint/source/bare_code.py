"""The code of a text without its comments and empty lines: what is known of one file to those that import it."""

from __future__ import annotations

import re
from collections.abc import Iterable


def _ended(quote: str, other: str) -> str:
    """Return a pattern for what follows the quote that opens a string, up to its end.

    Where a string may hold expressions, those may hold strings of their own. Since Python 3.12 these may be written
    with the same quote: such a string does not match, nor does one with braces that are not plainly paired.
    """
    plain = rf"[^{quote}\\\r\n]*(?:\\.[^{quote}\\\r\n]*)*{quote}"
    plain_lines = rf"{quote}{quote}[^{quote}\\]*(?:(?:\\.|{quote}(?!{quote}{quote}))[^{quote}\\]*)*{quote}{{3}}"
    field = rf"\{{(?:[^\"'{{}}\r\n]|{other}[^\"'{{}}\r\n]*{other}|\{{[^\"'{{}}\r\n]*\}})*\}}"
    filled = rf"(?!{quote}{quote})(?:[^{quote}\\{{}}\r\n]|\\.|{field})*{quote}"
    filled_lines = rf"{quote}{quote}(?:[^{quote}\\{{}}]|\\.|{quote}(?!{quote}{quote})|{field})*{quote}{{3}}"
    is_filled = rf"(?:(?<=[fFtT]{quote})|(?<=[fFtT][rR]{quote}))"
    return rf"(?<={quote})(?:{is_filled}(?:{filled_lines}|{filled})|(?!{is_filled})(?:{plain_lines}|{plain}))"


_STRINGS = rf"{_ended(chr(34), chr(39))}|{_ended(chr(39), chr(34))}"
_LEXEME = re.compile(
    rf"[\"'\#\\](?:(?<=\#)(?![ \t]*type:)[^\r\n]*|({_STRINGS}|(?<=\\)\s*|(?<=\#)[^\r\n]*|(?<=[\"']).*))".encode(),
    re.DOTALL,
)
"""A comment; or, as a group, a string, a continued line, a comment that states a type, or the rest of a text from the
first string on that is not followed to its end. One set of characters begins them all: others are passed over fast."""
_CODING = re.compile(rb"\A(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*coding[:=][^\r\n]*")


def without_comments(text: bytes) -> bytes:
    """Return a text with blanks in place of its comments, so that all else stands where it stood."""
    return _LEXEME.sub(lambda found: found[0] if found[1] is not None else b" " * len(found[0]), text)


def code_digest(raw: bytes, places: Iterable[int] = ()) -> str:
    """Return a SHA-256 that is the same for all texts with the same code, and with some lines of it in their places."""
    from hashlib import sha256  # here: it takes its time, and where nothing has changed nothing is hashed

    whole = sha256(_code(raw))
    lines = raw.splitlines(keepends=True)
    for each in places:
        above, through = (_code(b"".join(lines[:last])).count(b"\n") for last in (each - 1, each))
        whole.update(b"\0%d %d %d" % (each, above, through))
    return whole.hexdigest()


def _code(raw: bytes) -> bytes:
    """Return the lines of code, each ended, those of a string as one; a text that Python does not read as it is."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw
    if b"\0" in raw:
        return raw
    bare = _LEXEME.sub(lambda found: found[0].replace(b"\n", b"\0") if found[1] is not None else b"", raw)
    coding = _CODING.match(raw)
    lines = [coding[0] if coding else b"", *filter(None, map(bytes.rstrip, bare.splitlines()))]
    return b"\n".join(lines) + b"\n"
