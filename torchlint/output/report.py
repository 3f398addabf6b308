"""What the formats have to show: the findings of a run, in order, with their places resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.model import Applicability, Confidence, FileResult, Finding, Trouble
from torchlint.registry import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source import Source

PROJECT = "https://torchlint.readthedocs.io"
DOCS = f"{PROJECT}/rules"


@dataclass(frozen=True, slots=True)
class Family:
    """Rules that begin alike: a title for people and a tag for programs."""

    title: str
    tag: str


FAMILIES = {
    "TNS1": Family("Leaving torch for NumPy and Python", "numpy"),
    "TNS2": Family("Tensor.data", "data"),
    "TNS3": Family("Legacy constructors and conversions", "legacy-constructor"),
    "TNS4": Family("Variable", "variable"),
    "TNS9": Family("torchlint's own", "torchlint"),
}


@dataclass(frozen=True, slots=True)
class Place:
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
        """Give the row and column of an offset, as :meth:`Source.address` does; the first where there is no text."""
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

    ``known`` counts the findings that the baseline knows; they are not among those that remain.
    """

    results: tuple[FileResult, ...]
    fixed: tuple[tuple[str, tuple[Finding, ...]], ...] = ()
    unsafe_fixes: bool = False
    troubles: tuple[Trouble, ...] = ()
    known: int = 0

    @property
    def places(self) -> Iterator[Place]:
        """Every finding that remains, in order."""
        for result in self.results:
            for finding in result.findings:
                yield Place(result.path, result.source, finding)

    def fixable(self, finding: Finding) -> bool:
        """Tell whether this run's options let ``--fix`` apply the finding's fix."""
        least = Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE
        return finding.fix is not None and finding.fix.applicability >= least

    def counts(self) -> Counter[str]:
        """Count what remains: ``found``, ``fixable`` and ``unsafe`` (fixable with ``--unsafe-fixes`` only)."""
        counts: Counter[str] = Counter()
        for result in self.results:
            for finding in result.findings:
                counts["found"] += 1
                if self.fixable(finding):
                    counts["fixable"] += 1
                elif finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE:
                    counts["unsafe"] += 1
        return counts


def severity(finding: Finding) -> str:
    """Give ``"error"`` where there is evidence of a fault, ``"warning"`` where it only cannot be excluded."""
    return "warning" if finding.confidence is Confidence.POSSIBLE else "error"


def unicode(text: str) -> str:
    """Give text that every reader of UTF-8 takes: the half characters of a path that is no text become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def page(name: str) -> str:
    """Give the address of a rule's page, whose file is named by the code."""
    return f"{DOCS}/{BY_NAME[name].code}/" if name in BY_NAME else DOCS
