"""The words everything else is said in: edits, fixes, findings, settings and the result for one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from torchlint.source.text import Edit

__all__ = [
    "Applicability",
    "Confidence",
    "Edit",
    "FileResult",
    "Finding",
    "Fix",
    "Settings",
    "Trouble",
    "in_order",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source.text import Source


class Applicability(IntEnum):
    """How far a fix may be trusted, weakest first, in ruff's words."""

    DISPLAY = 0
    """Shown as a choice, never applied."""
    UNSAFE = 1
    """Better, but something observable may differ; applied with ``--unsafe-fixes`` only."""
    SAFE = 2
    """Wherever the old code ran the new code does the same; applied with ``--fix``."""

    def __str__(self) -> str:
        return self.name.lower()


class Confidence(IntEnum):
    """How strong the evidence behind a finding is, weakest first."""

    POSSIBLE = 0
    """A tensor for which the fault cannot be excluded."""
    LIKELY = 1
    """Evidence across functions, classes or files, or strong naming evidence."""
    CERTAIN = 2
    """The function's own text shows the fault."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair: all of its edits are applied, or none."""

    title: str
    edits: tuple[Edit, ...]
    applicability: Applicability

    def doubted(self, doubt: str | None) -> Fix:
        """Return the fix as one that is not safe, its title ending with what may differ; as it is without a doubt.

        ``doubt`` is one clause in plain words: "`x` may be `None`".
        """
        if doubt is None:
            return self
        return Fix(f"{self.title}; {doubt}", self.edits, min(self.applicability, Applicability.UNSAFE))


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at one place.

    ``start`` and ``end`` are byte offsets into :attr:`Source.utf8` and span the word at fault. ``why`` holds the steps
    that led to the finding, in reading order, one sentence each.
    """

    code: str
    name: str
    start: int
    end: int
    message: str
    confidence: Confidence
    why: tuple[str, ...] = ()
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a rule may know of the user's configuration."""

    strict: bool = False
    """Report by the letter: every ``.numpy()`` without its own ``.detach()`` and ``.cpu()``."""
    numpy_style: str = "chain"
    """``"chain"`` writes ``.detach().cpu().numpy()``, ``"force"`` writes ``.numpy(force=True)``."""
    target_torch: tuple[int, int] | None = None
    """The oldest torch the code must run on, as (major, minor); None where it is not known."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that kept the run itself from doing its work; the exit status is 2 where there is one."""

    path: str
    message: str
    """Names the cause and the remedy in one line."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """All that a check of one file gave.

    ``source`` is None only where the file could not be read, and then ``troubles`` says why, or was not to be read, and
    then ``passed_over`` does. ``suppressed`` holds the findings that a comment silenced.
    """

    path: str
    source: Source | None
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    reads: tuple[tuple[str, str | None], ...] = ()
    """What the result rests on beside the file itself: the SHA-256 of other files by absolute path.

    None stands for a file that could not be read or parsed. A path without ``.py`` is one where a module was looked
    for, with what is there: ``folder``, ``package``, ``module`` or several of them, None for nothing.
    """
    asked: tuple[tuple[tuple[str, ...], str | None], ...] = ()
    """What was asked about all texts of the project, with the answers.

    :mod:`torchlint.inference.program.project_texts`.
    """
    passed_over: str = ""
    """Why nothing was looked for in the file, though that is no failure."""


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by place, then by code."""
    return tuple(sorted(findings, key=lambda each: (each.start, each.code, each.end, each.message)))


__all__ = [
    "Applicability",
    "Confidence",
    "Edit",
    "FileResult",
    "Finding",
    "Fix",
    "Settings",
    "Trouble",
    "in_order",
]
