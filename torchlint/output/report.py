"""What the formats have to show: the findings of a run, in order, with their places resolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.model import Applicability, FileResult, Finding
from torchlint.source import Source

DOCS = "https://torchlint.readthedocs.io/rules"


@dataclass(frozen=True, slots=True)
class Place:
    """A finding in its file: rows and columns from 1, columns in characters."""

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

    def position(self, offset: int) -> tuple[int, int]:
        """Give the row and column of an offset; the first of the file where there is no text."""
        return self.source.position(offset) if self.source is not None else (1, 1)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings that remain, those that were fixed, and whether unsafe fixes are allowed in this run."""

    results: tuple[FileResult, ...]
    fixed: tuple[tuple[str, tuple[Finding, ...]], ...] = ()
    unsafe_fixes: bool = False

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


def page(name: str) -> str:
    """Give the address of a rule's page."""
    return f"{DOCS}/{name}"
