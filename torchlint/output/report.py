"""What the formats have to show: a run's findings in order, and where they and their reasons stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.config import FILE_TOO_LARGE, SYNTAX_ERROR
from torchlint.diagnostics.model import Applicability, FileResult, Finding, Severity, Trouble
from torchlint.diagnostics.registry import BY_NAME
from torchlint.source.notebook import as_notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source.text import Source


PROJECT = "https://torchlint.readthedocs.io"
DOCS = f"{PROJECT}/rules"


@dataclass(frozen=True, slots=True)
class Family:
    """Rules that begin alike: a title for people and a tag for programs."""

    title: str
    tag: str


SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.LEGACY: "cyan"}
"""How a finding's severity is painted on a terminal."""

FAMILIES = {
    "TNS1": Family("Leaving torch for NumPy and Python", "numpy"),
    "TNS2": Family("Tensor.data", "data"),
    "TNS3": Family("Legacy constructors and conversions", "legacy-constructor"),
    "TNS4": Family("Variable", "variable"),
    "TNS5": Family("Silent and costly", "silent"),
    "TNS9": Family("torchlint's own", "torchlint"),
}


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding in its file: rows and columns from 1, columns in characters; in a notebook, rows of a cell."""

    path: str
    source: Source | None
    finding: Finding

    @property
    def start(self) -> tuple[int, int]:
        """The row and column of the first character of the word at fault."""
        return self.position(self.finding.start)

    @property
    def end(self) -> tuple[int, int]:
        """The row and column behind the last character of the word at fault."""
        return self.position(self.finding.end)

    def position(self, offset: int, start: int | None = None) -> tuple[int, int]:
        """Return the row and column of an offset, as :meth:`Source.address` does; the first where there is no text."""
        return self.source.address(offset, start) if self.source is not None else (1, 1)

    @property
    def cell(self) -> int | None:
        """The number of the notebook's cell, all cells counted from 1; None in a file that is no notebook."""
        return self.source.cell(self.source.position(self.finding.start)[0]) if self.source is not None else None

    @property
    def spot(self) -> str:
        """The place in its file: ``3:8``, in a notebook ``cell 2:1:8``."""
        row, column = self.start
        return f"cell {self.cell}:{row}:{column}" if self.cell is not None else f"{row}:{column}"

    @property
    def where(self) -> str:
        """The place with its file: ``a.py:3:8``, ``b.ipynb:cell 2:1:8``."""
        return f"{self.path}:{self.spot}"

    @property
    def line(self) -> str:
        """The row of the word at fault as the user wrote it."""
        source = self.source
        return source.original.line(source.position(self.finding.start)[0]) if source is not None else ""

    @property
    def stored(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rows and columns of the word at fault in the file itself: in a notebook those of the JSON."""
        if self.source is None:
            return (1, 1), (1, 1)
        return self.source.stored(self.finding.start), self.source.stored(self.finding.end)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings that remain, those that were fixed, whether unsafe fixes are allowed, and what kept the run back.

    ``known`` counts the findings that the baseline knows; they are not among those that remain. ``at_first`` counts the
    fixes that were there before any was applied, ``is_repaired`` says that they were applied as far as they could be.
    ``is_short`` asks for less of what is only old.
    """

    results: tuple[FileResult, ...]
    fixed: tuple[tuple[str, tuple[Finding, ...]], ...] = ()
    unsafe_fixes: bool = False
    troubles: tuple[Trouble, ...] = ()
    known: int = 0
    at_first: int = 0
    is_repaired: bool = False
    is_short: bool = False

    @property
    def places(self) -> Iterator[LocatedFinding]:
        """Every finding that remains, in order."""
        for result in self.results:
            for finding in result.findings:
                yield LocatedFinding(result.path, result.source, finding)

    def fixable(self, finding: Finding) -> bool:
        """Return whether this run's options let ``--fix`` apply the finding's fix."""
        least = Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE
        return finding.fix is not None and finding.fix.applicability >= least

    def counts(self) -> Counter[str]:
        """Count what remains: ``found``, ``fixable`` and ``unsafe`` (fixable with ``--unsafe-fixes`` only).

        ``broken`` (what does not parse), ``skipped``, ``hazards`` and ``legacy`` part what was found, ``hazards
        fixable`` and ``legacy fixable`` what is fixable.
        """
        counts: Counter[str] = Counter()
        for result in self.results:
            for finding in result.findings:
                counts["found"] += 1
                by_severity = "legacy" if finding.severity is Severity.LEGACY else "hazards"
                kind = _APART.get(finding.code, by_severity)
                counts[kind] += 1
                counts[f"{kind} fixable"] += self.fixable(finding)
                if self.fixable(finding):
                    counts["fixable"] += 1
                elif finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE:
                    counts["unsafe"] += 1
        return counts


_APART = {SYNTAX_ERROR: "broken", FILE_TOO_LARGE: "skipped"}
"""What is found of a file itself, and so is counted apart."""


def level(finding: Finding) -> str:
    """Return a finding's severity in the words of most services: ``error``, ``warning``, ``note`` for what is old."""
    return LEVELS[finding.severity]


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.LEGACY: "note"}


def unicode(text: str) -> str:
    """Return text that every reader of UTF-8 takes: the half characters of a path that is no text become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def page(name: str) -> str:
    """Return the address of a rule's page, whose file is named by the code."""
    return f"{DOCS}/{BY_NAME[name].code}/" if name in BY_NAME else DOCS


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


def steps(place: LocatedFinding) -> tuple[Step, ...]:
    """Return the steps that led to a finding, first cause first."""
    return tuple(_step(each, place) for each in place.finding.why)


def _step(text: str, place: LocatedFinding) -> Step:
    notebook = as_notebook(place.source) if place.source is not None else None
    in_cell = _IN_CELL.fullmatch(text)
    if notebook is not None and in_cell is not None:
        rows = notebook.rows_of(int(in_cell["cell"])) or range(1, 2)
        start = notebook.line_starts[rows[int(in_cell["row"]) - 1] - 1]
        inside = int(in_cell["cell"]), int(in_cell["row"])
        return Step(text, place.path, notebook.stored(start)[0], inside)
    found = _PLACED.fullmatch(text)
    if found is None:
        return Step(text, place.path, None)
    return Step(text, found["path"] or place.path, int(found["row"]))
