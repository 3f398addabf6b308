"""What may be written to a terminal: colours where wanted, and nothing that a file could smuggle in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_STYLES = {"bold": "1", "red": "1;31", "green": "32", "yellow": "33", "blue": "1;34", "cyan": "36", "dim": "2"}
# Controls, the deletions and breaks above ASCII, direction marks that reorder what is read, and half characters.
_HOSTILE = "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
_TAB = "    "


UNBOUNDED = 4_096
"""The width of what is no terminal: there no sentence is wrapped, so that a log can be searched."""

_LONGEST_LINE = 200
"""Columns of a line of code, however wide the output is: longer lines are data or were made by a program."""


@dataclass(frozen=True, slots=True)
class Screen:
    """How wide the output is, and whether it has colours."""

    color: bool = False
    width: int = 80

    @property
    def code_width(self) -> int:
        """The columns for a line of code, with its gutter: what is longer is cut."""
        return min(self.width, _LONGEST_LINE)

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style, unchanged where there are no colours."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text


def printable(text: str) -> str:
    """Return text that changes nothing on a terminal: controls and invisible characters are written as escapes."""
    # Not compiled above: few lines need it, and a run that prints nothing of a file needs it not at all.
    return text if text.isascii() and text.isprintable() else re.sub(_HOSTILE, _escape, text)


def code(text: str) -> str:
    """Return a line of source as :func:`printable`, tabs as four blanks."""
    return printable(text.replace("\t", _TAB))


def columns(text: str) -> int:
    """Count the terminal columns that printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(each) for each in text)


def _columns(character: str) -> int:
    import unicodedata  # here: few runs print what is no ASCII

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escape(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
