"""The text of one open document: lines and columns as the editor counts them, edits into it and out of it."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from lsprotocol.types import Position, PositionEncodingKind, Range, TextEdit

Difference = tuple[int, int, int, int]
"""From and up to a row of the old text, from and up to a row of the new one, counted from 0."""


def differences(old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """Yield what is different, in order.

    Rows that both texts have once are taken to be the same row, if they come in the same order; what lies between two
    of them is looked at in the same way, and where there are none, it differs as a whole.
    """
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        start, end, begin, stop = waiting.pop()
        head = _common(old[start:end], new[begin:stop])
        start, begin = start + head, begin + head
        tail = _common(old[start:end][::-1], new[begin:stop][::-1])
        end, stop = end - tail, stop - tail
        if (start, begin) == (end, stop):
            continue
        anchors = _anchors(old[start:end], new[begin:stop])
        if not anchors:
            yield start, end, begin, stop
            continue
        ends = [(-1, -1), *anchors, (end - start, stop - begin)]
        between = [
            (start + one + 1, start + next_one, begin + other + 1, begin + next_other)
            for (one, other), (next_one, next_other) in pairwise(ends)
        ]
        waiting += reversed(between)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the rows that both have once, as many as come in the same order."""
    known, counts = Counter(old), Counter(new)
    places = {row: at for at, row in enumerate(new) if counts[row] == 1 == known[row]}
    pairs = [(at, places[row]) for at, row in enumerate(old) if row in places]
    # The longest ascending run: of each length the one that ends lowest, each with the pair before it.
    lowest: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect.bisect_left(lowest, place)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [place]
        ends[length : length + 1] = [at]
    found = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


_LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a row for the protocol, and for Python: a form feed or a line separator does not."""

_MARK = "\ufeff"


@dataclass(frozen=True)
class Text:
    """A document's text; ``encoding`` says in which units the editor counts columns."""

    text: str
    encoding: str = PositionEncodingKind.Utf16.value

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def newline(self) -> str:
        """The newline of the first row, ``"\\n"`` in a text of one row."""
        found = _LINE_END.search(self.text)
        return found[0] if found is not None else "\n"

    @cached_property
    def _shift(self) -> int:
        """Characters at the beginning of the first row that linting does not count."""
        return int(self.text.startswith(_MARK))

    # ------------------------------------------------------------------ from linting to the editor
    def position(self, row: int, column: int) -> Position:
        """Return the editor's place of a row and a column, both from 1, the column in characters without the BOM."""
        if row > len(self._starts):
            return self._position(len(self.text))
        start, end = self._span(row - 1)
        return self._position(min(start + column - 1 + (self._shift if row == 1 else 0), end))

    def row(self, row: int) -> Range:
        """Return the span of the code of a row, from 1; the end of the text where there is no such row."""
        if row > len(self._starts):
            return Range(self._position(len(self.text)), self._position(len(self.text)))
        start, end = self._span(row - 1)
        line = self.text[start:end]
        first = start + len(line) - len(line.lstrip())
        return Range(self._position(first), self._position(start + max(len(line.rstrip()), first - start)))

    def span(self, start: int, end: int) -> Range:
        """Return the editor's range for two characters of the text."""
        return Range(self._position(start), self._position(end))

    def _span(self, line: int) -> tuple[int, int]:
        """Return where a row, from 0, begins and ends, its newline left out."""
        start = self._starts[line]
        stop = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:stop].rstrip("\r\n"))

    def _position(self, at: int) -> Position:
        line = bisect.bisect_right(self._starts, at) - 1
        return Position(line, self._units(self.text[self._starts[line] : at]))

    def _units(self, text: str) -> int:
        if self.encoding == PositionEncodingKind.Utf32.value:
            return len(text)
        if self.encoding == PositionEncodingKind.Utf8.value:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(each > "\uffff" for each in text)

    # ------------------------------------------------------------------ from the editor to linting
    def at(self, position: Position) -> int:
        """Return the character at an editor's place; what lies behind a row or the text is its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, end = self._span(position.line)
        units = 0
        for at in range(start, end):
            if units >= position.character:
                return at
            units += self._units(self.text[at])
        return end

    def address(self, position: Position) -> tuple[int, int]:
        """Return the row and the column of an editor's place as linting counts them, both from 1."""
        at = self.at(position)
        line = bisect.bisect_right(self._starts, at) - 1
        return line + 1, max(at - self._starts[line] - (0 if line else self._shift), 0) + 1

    # ------------------------------------------------------------------ edits
    def replaced(self, where: Range | None, text: str) -> Text:
        """Apply an edit of the editor; no range stands for the whole text."""
        if where is None:
            return Text(text, self.encoding)
        start, end = self.at(where.start), self.at(where.end)
        return Text(self.text[:start] + text + self.text[max(start, end) :], self.encoding)

    def edits(self, wanted: str) -> list[TextEdit]:
        """Return the edits, whole rows each, that make this text the wanted one."""
        old, new = _rows(self.text), _rows(wanted)
        return [
            TextEdit(self.span(self._start(start), self._start(end)), "".join(new[begin:stop]))
            for start, end, begin, stop in differences(old, new)
        ]

    def _start(self, line: int) -> int:
        return self._starts[line] if line < len(self._starts) else len(self.text)


def _rows(text: str) -> list[str]:
    starts = [0, *(found.end() for found in _LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(starts) if start < end]
