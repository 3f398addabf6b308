"""Lines as pylint prints them, for tools that read those: ``path:row: [CODE] message``."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.output.report import Report
from torchlint.output.screen import Screen, printable


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield one line per finding; in a notebook its row is that of the JSON."""
    del screen
    for place in report.places:
        row, _ = place.stored[0]
        yield f"{printable(place.path)}:{row}: [{place.finding.code}] {printable(place.finding.message)}"
