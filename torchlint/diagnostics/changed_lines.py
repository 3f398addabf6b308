"""Which rows of a file are new against a revision, and where they are after edits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlint.diagnostics.model import Edit, Finding
from torchlint.source.comments import read
from torchlint.source.edits import Replacement, replacements
from torchlint.source.text import Source

_UNPARSED = "TNS900"


@dataclass(frozen=True, slots=True)
class Changed:
    """Spans of rows, from 1, both ends included."""

    spans: tuple[tuple[int, int], ...]

    def touches(self, first: int, last: int) -> bool:
        """Return whether any of some rows is new."""
        return any(start <= last and first <= end for start, end in self.spans)

    def of(self, source: Source, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings in whose statement a row is new; a file that does not parse counts as a whole.

        Of a compound statement the header counts, not what stands in it.
        """
        # git ends no row with a bare CR, so its rows are others there
        if not findings or self is WHOLE or len(source.line_starts) != source.utf8.count(b"\n") + 1:
            return tuple(findings)
        reading = read(source)
        rows = [_stored(source, *reading.statement(source.position(each.start)[0])) for each in findings]
        return tuple(
            each for each, span in zip(findings, rows, strict=True) if each.code == _UNPARSED or self.touches(*span)
        )

    def after(self, source: Source, edits: Iterable[Edit]) -> Changed:
        """Return the rows that are new once edits were applied to the text: those that they write are."""
        ordered = sorted(set(edits), key=lambda each: (each.start, each.end))
        made = [_rows(each) for edit in ordered for each in replacements(source, [edit])]
        moved = [
            (start + sum(more for _, last, more in made if last < start), end + _grown(made, end))
            for start, end in self.spans
        ]
        written = [
            (first + _grown(made[:at], first), last + more + _grown(made[:at], first))
            for at, (first, last, more) in enumerate(made)
        ]
        return Changed(tuple(sorted(each for each in moved + written if each[0] <= each[1])))


WHOLE = Changed(((1, sys.maxsize // 2),))
"""A file that the revision does not have: every row is new."""


def _stored(source: Source, first: int, last: int) -> tuple[int, int]:
    """Return the rows of the file itself that two rows of the text stand in: git knows a notebook's JSON."""
    start, end = source.line_starts[first - 1], source.line_starts[last - 1]
    return source.stored(start)[0], source.stored(end, start)[0]


def _rows(change: Replacement) -> tuple[int, int, int]:
    """Return the first and last row that a change touches and how many rows it adds; whole rows end before the next."""
    first, last = change.start[0], change.end[0]
    more = change.text.count("\n") - (last - first)
    whole = change.start[1] == 1 == change.end[1] and change.text[-1:] in ("", "\n")
    return first, last - whole, more


def _grown(made: Iterable[tuple[int, int, int]], end: int) -> int:
    return sum(more for first, _, more in made if first <= end)
