"""What became of a fix that was run before and after: plain values that travel between processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

PROVEN, REFUTED, NOT_TESTABLE = "proven", "refuted", "not testable"
DIFFERS_AS_ANNOUNCED, REPAIRED = "differs as announced", "repaired"
OUTCOMES = (PROVEN, DIFFERS_AS_ANNOUNCED, REPAIRED, REFUTED, NOT_TESTABLE)

ROW = "row \0"
"""Stands in a reason for a row."""


@dataclass(frozen=True)
class Difference:
    """A world in which the new code did something else, what was observed, and both values."""

    world: str
    observable: str
    before: str
    after: str
    given: str = ""
    """What the fragment's names stood for, where they could stand for several things."""
    announced_by: str = ""
    """The open assumption that says that this may differ; empty where none does."""

    def __str__(self) -> str:
        given = f"; {self.given}" if self.given else ""
        return f"[{self.world}{given}] {self.observable}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Verdict:
    """Whether a fix did the same in all the worlds that were tried."""

    outcome: str
    """One of :data:`OUTCOMES`."""
    reason: str = ""
    """Why it could not be tested; for a proof, what should be known of it."""
    worlds: int = 0
    """Worlds that were tried; each thing that a name may stand for has its own."""
    ran: int = 0
    """In how many of them the old code ran: where it raised, the new one may do anything."""
    differing: int = 0
    """In how many of them the new code did something else."""
    differences: tuple[Difference, ...] = ()
    """The first of what differed."""
    before: str = ""
    after: str = ""
    """The code that was run, before and after the fix."""
    given: tuple[tuple[str, str, str, bool], ...] = ()
    """For each free name: the name, the code it stands for, its kinds, and whether a kind was assumed."""
    passed_over: tuple[tuple[str, int], ...] = ()
    """Why worlds do not apply, most frequent first, each reason with their number."""

    announced: tuple[tuple[str, str], ...] = ()
    """The open assumptions that announce all that differed, each with what happens where it does not hold."""

    available: int = 0
    """Worlds that there are: more than were tried where a pairwise choice was, or where one of them refutes."""

    repaired: int = 0
    """Where the old code raises in every world, in how many of them the new one runs."""

    def plain(self) -> tuple[object, ...]:
        """Return the verdict as plain data, for :meth:`read`."""
        return astuple(self)

    @classmethod
    def read(cls, plain: object) -> Verdict | None:
        """Return a verdict that was plain data; None where it is none."""
        try:
            made = cls(*_tuples(plain))
            return replace(made, differences=tuple(Difference(*each) for each in made.differences))  # type: ignore[misc]
        except TypeError:
            return None

    @property
    def agreeing(self) -> int:
        """In how many worlds both did the same."""
        return self.ran - self.differing

    @property
    def is_accepted(self) -> bool:
        """Whether the fix may be used: it did nothing that its user was not told of, or ran where nothing did."""
        return self.outcome in (PROVEN, DIFFERS_AS_ANNOUNCED, REPAIRED)


def _tuples(plain: Any) -> Any:
    return tuple(map(_tuples, plain)) if isinstance(plain, list) else plain


def counted(verdicts: Iterable[Verdict]) -> Counter[str]:
    """Count the outcomes."""
    return Counter(each.outcome for each in verdicts)


def told_together(parts: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    """Add up why worlds do not apply."""
    total: Counter[str] = Counter()
    for each in parts:
        for reason, count in each:
            total[" ".join(reason.split())] += count
    return tuple(total.most_common())


def repairing(raising: int, running: int) -> str:
    """Say that old code always raised, and that the new code does not: that is no proof that it does what was meant."""
    if raising == 1:
        return "the old code raises in the one world that there is, and the new code runs in it"
    return f"the old code raises in all {raising} worlds; the new code runs in {running} of them"


def unable(reason: str) -> Verdict:
    """Make the verdict on a fix that cannot be run."""
    return Verdict(NOT_TESTABLE, reason)
