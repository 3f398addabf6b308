"""Where the steps of a reason stand: the file and row that a step's own words name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlint.notebook.module import Notebook
from torchlint.output.report import Place

_PLACED = re.compile(r"(?P<text>.*), (?:(?P<path>.+) )?line (?P<row>[1-9]\d*)", re.DOTALL)
_IN_CELL = re.compile(r".*, cell (?P<cell>\d+), line (?P<row>[1-9]\d*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """One step towards a finding: its words, and the file and row it speaks of; no row where it names none.

    In a notebook ``row`` is that of the JSON, and ``inside`` names the cell, from 1, and the row in it.
    """

    text: str
    path: str
    row: int | None
    inside: tuple[int, int] | None = None


def steps(place: Place) -> tuple[Step, ...]:
    """Give the steps that led to a finding, first cause first."""
    return tuple(_step(each, place) for each in place.finding.why)


def _step(text: str, place: Place) -> Step:
    in_cell = _IN_CELL.fullmatch(text) if isinstance(place.source, Notebook) else None
    if in_cell is not None and isinstance(place.source, Notebook):
        rows = place.source.rows_of(int(in_cell["cell"])) or range(1, 2)
        start = place.source.line_starts[rows[int(in_cell["row"]) - 1] - 1]
        inside = int(in_cell["cell"]), int(in_cell["row"])
        return Step(text, place.path, place.source.stored(start)[0], inside)
    found = _PLACED.fullmatch(text)
    if found is None:
        return Step(text, place.path, None)
    return Step(text, found["path"] or place.path, int(found["row"]))
