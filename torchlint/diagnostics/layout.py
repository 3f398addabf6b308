"""How a fix is laid out: what was aligned with a bracket's content stays so, and lines that grew are broken."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from functools import cached_property

from torchlint.diagnostics.bracket_rows import CLOSING, OPENING, Continued, Rows, rows_of
from torchlint.diagnostics.line_breaks import with_breaks
from torchlint.diagnostics.splice import apart
from torchlint.diagnostics.stacked_arguments import may_be_stacked, stacked
from torchlint.source.text import Edit, Source

_NARROWEST, _WIDEST = 79, 120
"""What the limit is at least and at most where only the file's own lines tell it."""
_UNIT = "    "
_AS_IT_IS = "\f\r"


class Layout:
    """Lays out the fixes of one file; ``limit`` says how long its lines may be, None asks its longest line."""

    def __init__(self, source: Source, limit: int | None = None) -> None:
        self._source = source
        self._limit = limit
        self._known: dict[tuple[Edit, ...], tuple[Edit, ...]] = {}
        self._unbroken: dict[tuple[Edit, ...], tuple[Edit, ...]] = {}

    def of(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return the edits with those that keep the lines below them aligned and within the limit.

        They are as they are where that cannot be told.
        """
        if edits not in self._known:
            self._known[edits] = self._broken(self.unbroken(edits))
        return self._known[edits]

    def unbroken(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return the edits with those that keep the lines below them aligned alone."""
        if edits not in self._unbroken:
            self._unbroken[edits] = self._aligned(self._stacked(edits))
        return self._unbroken[edits]

    def together(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return the edits of several fixes, aligned already, with those that break the lines they make too long.

        One may take away what kept another from being broken: `Variable(torch.ones(...), requires_grad=False)`; and
        two that break the same bracket would do it twice.
        """
        return self._broken(edits)

    def _stacked(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        return tuple(
            stacked(self._source, self._rows, each, edits) if may_be_stacked(self._source, each) else each
            for each in edits
        )

    def _aligned(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        ordered = tuple(sorted(edits, key=lambda each: (each.start, each.end)))
        if not any(self._leaves_open(each) for each in ordered):
            return edits
        moves = tuple(Alignment(self._source, self._rows, ordered).moves())
        laid = tuple(sorted((*ordered, *moves), key=lambda each: (each.start, each.end)))
        return laid if moves and apart(laid) else edits

    def _broken(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        least = _NARROWEST if self._limit is None else self._limit
        touched = [
            row for row, by in self._growth(edits).items() if by > 0 and len(self._source.line(row)) + by > least
        ]
        if not touched:
            return edits
        limit = min(max(self._rows.widest, _NARROWEST), _WIDEST) if self._limit is None else self._limit
        laid = tuple(sorted(edits, key=lambda each: (each.start, each.end)))
        for rows in dict.fromkeys(self._rows.statement(row) for row in touched):
            laid = with_breaks(self._source, laid, rows, limit, self._rows.unit or _UNIT) if rows else laid
        return laid if len(laid) != len(edits) or set(laid) != set(edits) else edits

    def _growth(self, edits: tuple[Edit, ...]) -> dict[int, int]:
        """Return by how much rows may grow."""
        found: dict[int, int] = {}
        for each in edits:
            row = bisect.bisect_right(self._source.line_starts, each.start)
            found[row] = found.get(row, 0) + len(each.text.rpartition("\n")[2]) - (each.end - each.start)
        return found

    @cached_property
    def _rows(self) -> Rows:
        return rows_of(self._source)

    def _leaves_open(self, edit: Edit) -> bool:
        """Whether a bracket may be open at the end of the row of an edit; told without reading the file."""
        line = self._source.line(bisect.bisect_right(self._source.line_starts, edit.end))
        return any(line.count(one) > line.count(other) for one, other in zip(OPENING, CLOSING, strict=True))


class Alignment:
    """The rows that move along when edits are applied."""

    def __init__(self, source: Source, rows: Rows, edits: Sequence[Edit]) -> None:
        self._source = source
        self._rows = rows
        self._edits = edits
        self._moved: dict[int, int] = {}
        """By how many columns rows are moved, beside what the edits do to them."""

    def moves(self) -> Iterator[Edit]:
        """Yield the edits that move them."""
        done: set[int] = set()
        for edit in self._edits:
            for row in self._rows.statement(self._row(edit.end)):
                if row not in done and row in self._rows.continued:
                    yield from self._move(row, self._rows.continued[row])
                done.add(row)

    def _move(self, row: int, continued: Continued) -> Iterator[Edit]:
        first, bracket = continued.first, continued.inside
        start = self._source.line_starts[row - 1]
        if any(each.start < first and each.end > start for each in self._edits):
            return
        anchor = self._anchor(continued)
        if anchor is None:
            above = self._row(bracket.at)
            head = self._source.line_starts[above - 1]
            head += len(self._lead(above).encode())
            by = self._column(head) - self._old(head) - (self._column(first) - self._old(first))
        elif any(each.start < anchor < each.end for each in self._edits):
            return
        else:
            by = self._column(anchor) - self._column(first)
        lead = self._lead(row)
        if not by or (by < 0 and lead[by:].strip(" ")) or -by > len(lead) or set(lead) & set(_AS_IT_IS):
            return
        self._moved[row] = by
        # Inside the blanks: an edit may begin with the first word, and another one with the row.
        at = first - (lead[-1:] == " ")
        yield Edit(at, at, " " * by) if by > 0 else Edit(first + by, first, "")

    def _anchor(self, continued: Continued) -> int | None:
        """Return the offset that a row is aligned with; None for a row that hangs."""
        first, bracket = continued.first, continued.inside
        closes = self._source.slice(first, first + 1) in CLOSING
        for at in (bracket.content, bracket.at if closes else None):
            if at is not None and self._old(at) == self._old(first) and self._tabs(at) == self._tabs(first):
                return at
        return None

    def _tabs(self, offset: int) -> str:
        """Return the tabs that a row begins with, or all of what stands before an offset where there are others."""
        before = self._before(offset)
        tabs = before[: len(before) - len(before.lstrip("\t"))]
        return tabs if "\t" not in before[len(tabs) :] else before

    def _row(self, offset: int) -> int:
        return bisect.bisect_right(self._source.line_starts, offset)

    def _before(self, offset: int) -> str:
        return self._source.slice(self._source.line_starts[self._row(offset) - 1], offset)

    def _lead(self, row: int) -> str:
        line = self._source.line(row)
        return line[: len(line) - len(line.lstrip())]

    def _old(self, offset: int) -> int:
        return len(self._before(offset))

    def _column(self, offset: int, upto: int | None = None) -> int:
        """Return the column of an offset once the edits are applied, or the first of them, and rows above are moved."""
        row = self._row(offset)
        start = self._source.line_starts[row - 1]
        for at in reversed(range(len(self._edits) if upto is None else upto)):
            edit = self._edits[at]
            if edit.end < start:
                break
            # What is inserted right at the offset stands behind it, unless it is a line.
            if edit.end <= offset and (edit.start < offset or "\n" in edit.text):
                behind = len(self._source.slice(edit.end, offset))
                lines = edit.text.split("\n")
                begins = 0 if len(lines) > 1 else self._column(edit.start, at)
                return begins + len(lines[-1]) + behind
        return self._old(offset) + self._moved.get(row, 0)
