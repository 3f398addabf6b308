"""Where to begin: how often each rule spoke, in which folders and files, and what a flag does about it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torchlint.diagnostics.registry import BY_CODE
from torchlint.output.report import LocatedFinding, Report
from torchlint.output.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted, how often it was found, and how many of these ``--fix`` repairs in this run."""

    key: str
    count: int
    fixable: int


def by_rule(report: Report) -> tuple[Tally, ...]:
    """Count by rule code."""
    return _counted(report, lambda place: place.finding.code)


def by_folder(report: Report) -> tuple[Tally, ...]:
    """Count by the folder that holds the file."""
    return _counted(report, lambda place: os.path.dirname(place.path) or ".")


def by_file(report: Report) -> tuple[Tally, ...]:
    """Count by file."""
    return _counted(report, lambda place: place.path)


def by_confidence(report: Report) -> tuple[Tally, ...]:
    """Count by confidence."""
    return _counted(report, lambda place: str(place.finding.confidence))


def by_severity(report: Report) -> tuple[Tally, ...]:
    """Count by severity."""
    return _counted(report, lambda place: str(place.finding.severity))


def _counted(report: Report, key: Callable[[LocatedFinding], str]) -> tuple[Tally, ...]:
    places = [(key(place), place) for place in report.places]
    counts = Counter(each for each, _ in places)
    fixable = Counter(each for each, place in places if report.fixable(place.finding))
    return _sorted(Tally(each, count, fixable[each]) for each, count in counts.items())


def _sorted(tallies: Iterable[Tally]) -> tuple[Tally, ...]:
    return tuple(sorted(tallies, key=lambda tally: (-tally.count, tally.key)))


_MOST = 10
"""Folders and files that are listed for people; programs get them all."""


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield tables; ``[*]`` marks rules that ``--fix`` repairs everywhere, ``[-]`` those it repairs in places."""
    rules, folders, files = by_rule(report), by_folder(report), by_file(report)
    if not rules:
        return
    width = len(str(max(tally.count for tally in (*rules, *folders))))
    for tally in rules:
        mark = "[*]" if tally.fixable == tally.count else "[-]" if tally.fixable else "[ ]"
        code, name = screen.paint(tally.key, "red"), BY_CODE[tally.key].name
        yield f"{tally.count:>{width}}  {code}  {screen.paint(mark, 'cyan')} {name}"
    yield from _places("folder", folders, width, screen)
    yield from _places("file", files, width, screen)
    yield from _advice(report, screen)


def _places(kind: str, tallies: tuple[Tally, ...], width: int, screen: Screen) -> Iterator[str]:
    yield ""
    yield screen.paint(f"{kind.capitalize()}s with most findings", "bold")
    for tally in tallies[:_MOST]:
        fixable = screen.paint(f" ({tally.fixable} fixable)", "dim") if tally.fixable else ""
        yield f"{tally.count:>{width}}  {printable(tally.key)}{fixable}"
    if rest := tallies[_MOST:]:
        yield f"{sum(each.count for each in rest):>{width}}  in {len(rest)} more {kind}{'s' * (len(rest) != 1)}"


def advice(report: Report) -> Iterator[tuple[str, str]]:
    """Yield commands to begin with, and what each does about these findings."""
    counts = report.counts()
    if counts["fixable"]:
        flags = "--fix --unsafe-fixes" if report.unsafe_fixes else "--fix"
        yield f"torchlint {flags}", f"repairs {counts['fixable']:,} of {counts['found']:,}"
    if counts["hazards"] and counts["legacy"]:
        yield "torchlint --preset hazards", f"shows the {counts['hazards']:,} that may break a run"


def _advice(report: Report, screen: Screen) -> Iterator[str]:
    listed = list(advice(report))
    if listed:
        yield ""
        yield screen.paint("Where to begin", "bold")
    yield from (f"{command:<34}  {text}" for command, text in listed)
    yield ""


def as_json(report: Report) -> str:
    """Return the same as an object."""
    rules = [
        {"code": each.key, "name": BY_CODE[each.key].name, "count": each.count, "fixable_count": each.fixable}
        for each in by_rule(report)
    ]
    counts = report.counts()
    return json.dumps(
        {
            "count": counts["found"],
            "fixable_count": counts["fixable"],
            "severity": {each.key: each.count for each in by_severity(report)},
            "confidence": {each.key: each.count for each in by_confidence(report)},
            "rules": rules,
            "folders": [_as_json("folder", each) for each in by_folder(report)],
            "files": [_as_json("file", each) for each in by_file(report)],
        },
        indent=2,
    )


def _as_json(kind: str, tally: Tally) -> dict[str, object]:
    return {kind: tally.key, "count": tally.count, "fixable_count": tally.fixable}
