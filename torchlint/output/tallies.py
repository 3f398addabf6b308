"""How many findings there are by rule, family, folder and file, most first, and how many of them a flag repairs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from torchlint.output.report import Place, Report


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted, how often it was found, and how many of these ``--fix`` repairs in this run."""

    key: str
    count: int
    fixable: int


def by_rule(report: Report) -> tuple[Tally, ...]:
    """Count by rule code."""
    return _counted(report, lambda place: place.finding.code)


def by_family(report: Report) -> tuple[Tally, ...]:
    """Count by the first four characters of the code."""
    return _counted(report, lambda place: place.finding.code[:4])


def by_folder(report: Report) -> tuple[Tally, ...]:
    """Count by the folder that holds the file."""
    return _counted(report, lambda place: os.path.dirname(place.path) or ".")


def by_file(report: Report) -> tuple[Tally, ...]:
    """Count by file."""
    return _counted(report, lambda place: place.path)


def by_confidence(report: Report) -> tuple[Tally, ...]:
    """Count by confidence."""
    return _counted(report, lambda place: str(place.finding.confidence))


def _counted(report: Report, key: Callable[[Place], str]) -> tuple[Tally, ...]:
    places = [(key(place), place) for place in report.places]
    counts = Counter(each for each, _ in places)
    fixable = Counter(each for each, place in places if report.fixable(place.finding))
    return _sorted(Tally(each, count, fixable[each]) for each, count in counts.items())


def _sorted(tallies: Iterable[Tally]) -> tuple[Tally, ...]:
    return tuple(sorted(tallies, key=lambda tally: (-tally.count, tally.key)))
