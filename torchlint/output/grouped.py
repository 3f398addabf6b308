"""Findings under the name of their file, one line each: ``row:column CODE message``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from torchlint.output.concise import described
from torchlint.output.report import LocatedFinding, Report
from torchlint.output.screen import Screen, printable


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the lines of the report, an empty one behind each file."""
    for path, found in groupby(report.places, lambda place: place.path):
        yield screen.paint(printable(path), "bold") + screen.paint(":", "cyan")
        yield from _aligned(list(found), report, screen)
        yield ""


def _aligned(places: list[LocatedFinding], report: Report, screen: Screen) -> Iterator[str]:
    width = max(len(place.spot) for place in places)
    for place in places:
        spot = place.spot.replace(":", screen.paint(":", "cyan"))
        space = " " * (width - len(place.spot))
        yield f"  {spot}{space}  {described(place, screen, report.fixable(place.finding))}"
