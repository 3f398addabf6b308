"""Lines of code as they are shown in a room of some columns: long ones are cut around what matters."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchlint.model import Fix
from torchlint.output.hunks import hunks
from torchlint.output.screen import code, columns
from torchlint.source import Source

_FOCUS = 24
"""Characters behind the first difference that are shown of a line too long to be shown whole."""


def changes(source: Source, fix: Fix, width: int) -> Iterator[tuple[int, str, str]]:
    """Give the lines that a fix takes away (``"-"``) and puts there (``"+"``), each cut to a width in columns.

    Before each of them stands the row at which its piece of the fix begins.
    """
    for hunk in hunks(source, fix):
        changed = list(hunk.lines())
        focus = len(os.path.commonprefix([line for _, line in changed])) if len(changed) > 1 else 0  # noqa: RUF071  # characters are meant
        for sign, line in changed:
            seen = (code(line[:focus]), code(line[focus : focus + _FOCUS]), code(line[focus + _FOCUS :]))
            yield hunk.row, sign, "".join(cropped(*seen, width))


def cropped(before: str, word: str, after: str, width: int) -> tuple[str, str, str]:
    """Cut a long line to a width in columns so that the word is seen, with an ellipsis where something was cut."""
    word = _head(word, width)
    room = width - columns(word)
    right = min(columns(after), max(room // 2, room - columns(before)))
    return _tail(before, room - right), word, _head(after, right)


def _head(text: str, room: int) -> str:
    if columns(text) <= room:
        return text
    while columns(text) > max(room - 1, 0):
        text = text[: max(room - 1, 0)] if len(text) > room else text[:-1]
    return f"{text}…" if room > 0 else ""


def _tail(text: str, room: int) -> str:
    return _head(text[::-1], room)[::-1]
