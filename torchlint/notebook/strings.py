"""JSON's strings as they are spelled: which characters of the text make which character of the value, and back."""

from __future__ import annotations

import json
import re

from torchlint.notebook.document import Span

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
"""What spells one character of the value."""

_NEWLINE = re.compile(r"\\n|\\u000[aA]")


def positions(text: str, literal: Span) -> list[int]:
    """Give where each character of a string's value is spelled, and last where the string's closing quote stands."""
    start, end = literal[0] + 1, literal[1] - 1
    if text.find("\\", start, end) < 0:
        return list(range(start, end + 1))
    return [*(found.start() for found in _CHARACTER.finditer(text, start, end)), end]


def spelled(value: str, ascii_only: bool) -> str:
    """Spell text for a JSON string, without the quotes."""
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def rows(content: str) -> list[str]:
    """Part the spelled content of a string behind each newline of its value, as notebooks keep their lines."""
    found, last = [], 0
    for character in _CHARACTER.finditer(content):
        if _NEWLINE.fullmatch(character[0]):
            found.append(content[last : character.end()])
            last = character.end()
    return [*found, content[last:]] if last < len(content) else found
