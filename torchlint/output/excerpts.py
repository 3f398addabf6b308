"""Code as reports show it: lines cut around what matters, and what a fix changes line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostics.model import Edit, Fix
from torchlint.output.screen import code, columns
from torchlint.source.text import Source


@dataclass(frozen=True, slots=True)
class Hunk:
    """Some neighbouring rows, the first by its number, before and after the edits that fall on them."""

    row: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what changes, without the rows that are alike at the top and the bottom."""
        shared = 0
        shortest = min(len(self.before), len(self.after))
        while shared < shortest and self.before[shared] == self.after[shared]:
            shared += 1
        tail = 0
        while tail < shortest - shared and self.before[-1 - tail] == self.after[-1 - tail]:
            tail += 1
        yield from (("-", line) for line in self.before[shared : len(self.before) - tail])
        yield from (("+", line) for line in self.after[shared : len(self.after) - tail])


def hunks(source: Source, fix: Fix) -> Iterator[Hunk]:
    """Apply a fix to the rows it touches and to no others: a report must not cost a copy of the file per finding."""
    group: list[Edit] = []
    last = 0
    for edit in sorted(fix.edits, key=lambda each: (each.start, each.end)):
        row = source.position(edit.start)[0]
        if group and row > last + 1:
            yield _hunk(source, group)
            group = []
        group.append(edit)
        last = max(source.position(edit.end)[0], last)
    if group:
        yield _hunk(source, group)


def _hunk(source: Source, edits: list[Edit]) -> Hunk:
    first = source.position(edits[0].start)[0]
    final = source.position(max(edit.end for edit in edits))[0]
    at = source.line_starts[first - 1]
    stop = source.line_starts[final] if final < len(source.line_starts) else len(source.utf8)
    parts, last = [], at
    for edit in edits:
        parts += [source.excerpt(last, edit.start), edit.text]
        last = max(last, edit.end)
    parts.append(source.excerpt(last, stop))
    return Hunk(first, _rows(source.excerpt(at, stop)), _rows("".join(parts)))


def _rows(text: str) -> tuple[str, ...]:
    rows = re.split(r"\r\n|\r|\n", text)
    return tuple(rows if rows[-1] else rows[:-1])


_FOCUS = 24
"""Characters behind the first difference that are shown of a line too long to be shown whole."""


def changes(source: Source, fix: Fix, width: int) -> Iterator[tuple[int, str, str]]:
    """Yield the lines that a fix takes away (``"-"``) and puts there (``"+"``), each cut to a width in columns.

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
