"""The words everything else is said in: edits, fixes, findings, settings and the result for one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from torchlint.diagnostics.assumptions import Decision, told
from torchlint.source.text import Edit

__all__ = [
    "Applicability",
    "Confidence",
    "Edit",
    "FileResult",
    "Finding",
    "Fix",
    "Settings",
    "Severity",
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

    UNPROVEN = 0
    """Nothing is known that would exclude the fault, and nothing that brings it; shown only where it is asked for."""
    POSSIBLE = 1
    """An argument or a call of the function brings the value, and nothing excludes the fault."""
    LIKELY = 2
    """A source of the fault reaches the place, through functions, classes or files."""
    CERTAIN = 3
    """The function's own text shows the fault."""

    def __str__(self) -> str:
        return self.name.lower()


class Severity(IntEnum):
    """What happens where a finding is right, mildest first; independent of how sure it is."""

    LEGACY = 0
    """Works today: an old spelling that hides mistakes, or will."""
    WARNING = 1
    """Raises or is silently wrong under a condition that the code allows."""
    ERROR = 2
    """Raises, corrupts or never trains whenever it is reached as shown."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair: all of its edits are applied, or none.

    How far it may be trusted follows from what its equality with the old code rests on, and from that alone; a team may
    overrule it by code (``extend-safe-fixes``, ``extend-unsafe-fixes``).
    """

    action: str
    """What it does, in the imperative."""
    edits: tuple[Edit, ...]
    assumptions: tuple[Decision, ...] = ()
    overruled: Applicability | None = None
    otherwise: Fix | None = None
    """What to do by the other reading of the code, where its author alone can say which is meant: for an editor."""

    @property
    def applicability(self) -> Applicability:
        """Safe where all assumptions are proven, shown only where one leaves a choice to the author, else unsafe."""
        return self.earned if self.overruled is None else self.overruled

    @property
    def earned(self) -> Applicability:
        """What follows from the assumptions, whatever the configuration says."""
        if any(each.leaves_a_choice for each in self.assumptions):
            return Applicability.DISPLAY
        is_safe = all(each.is_proven for each in self.assumptions)
        return Applicability.SAFE if is_safe else Applicability.UNSAFE

    @property
    def title(self) -> str:
        """The action, and behind it what is assumed and not proven."""
        open_ones = told(self.assumptions)
        if not open_ones and self.overruled is Applicability.UNSAFE:
            open_ones = "counts as unsafe by this project's configuration"
        return f"{self.action}; {open_ones}" if open_ones else self.action

    def assuming(self, *decisions: Decision) -> Fix:
        """Return the fix as one that rests on more."""
        return replace(self, assumptions=(*self.assumptions, *decisions))


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
    severity: Severity = Severity.WARNING
    repeats: int | None = None
    """Where on the line the finding starts that says the same of the statement; None where none does."""


FORCE_SINCE = (1, 13)
"""The torch with which ``Tensor.numpy(force=True)`` came."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a rule may know of the user's configuration."""

    strict: bool = False
    """Report by the letter: every ``.numpy()`` without its own ``.detach()`` and ``.cpu()``."""
    numpy_style: str = "chain"
    """``"chain"`` writes ``.detach().cpu().numpy()``, ``"force"`` writes ``.numpy(force=True)``."""
    target_torch: tuple[int, int] | None = None
    """The oldest torch the code must run on, as (major, minor); None where it is not known."""

    @property
    def forces(self) -> bool:
        """Whether ``.numpy(force=True)`` is written: where it is asked for, and the oldest torch has it."""
        return self.numpy_style == "force" and (self.target_torch is None or self.target_torch >= FORCE_SINCE)


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

    :func:`torchlint.knowledge.ask`.
    """
    passed_over: str = ""
    """Why nothing was looked for in the file, though that is no failure."""
    newer: str = ""
    """Where the running Python could not read the file, though LibCST does: ``line 2``, ``cell 3, line 1``.

    Nothing is known of its values then: what is found rests on words alone.
    """


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by place, then by code."""
    return tuple(sorted(findings, key=lambda each: (each.start, each.code, each.end, each.message)))
