"""Colours for a line of Python in a page: its comments, strings, numbers and keywords."""

from __future__ import annotations

import keyword
import re
from html import escape

_STRING = r"""(?:\b[rRbBuUfFtT]{1,2})?(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)"""
_TOKENS = re.compile(
    rf"(?P<com>#.*)|(?P<str>{_STRING})|(?P<num>\b\d[\w.]*)|(?P<key>\b(?:{'|'.join(keyword.kwlist)})\b)"
)


def highlighted(line: str) -> str:
    """Return a line as HTML; what is no token of interest stands there as it is.

    A line is read alone: inside a string of several lines it is coloured as if it were code.
    """
    parts, last = [], 0
    for token in _TOKENS.finditer(line):
        parts += [escape(line[last : token.start()]), f'<span class="{token.lastgroup}">{escape(token.group())}</span>']
        last = token.end()
    return "".join(parts) + escape(line[last:])
