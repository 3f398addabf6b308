"""One line per finding, as compilers and editors read it: ``path:row:column: CODE message``."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.output.report import SEVERITY_STYLES, LocatedFinding, Report
from torchlint.output.screen import Screen, printable


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the lines of the report."""
    for place in report.places:
        yield line(place, screen, report.fixable(place.finding))


def line(place: LocatedFinding, screen: Screen, is_fixable: bool = False) -> str:
    """Return the line of one finding."""
    row, column = place.start
    colon = screen.paint(":", "cyan")
    path = screen.paint(printable(place.path), "bold")
    if place.cell is not None:
        path += f"{colon}cell {place.cell}"
    return f"{path}{colon}{row}{colon}{column}{colon} {described(place, screen, is_fixable)}"


def described(place: LocatedFinding, screen: Screen, is_fixable: bool) -> str:
    """Return what a line says behind the place: code, message, severity and confidence."""
    finding = place.finding
    rule = screen.paint(finding.code, SEVERITY_STYLES[finding.severity])
    mark = screen.paint("[*]", "cyan") + " " if is_fixable else ""
    rating = screen.paint(f"[{finding.severity}, {finding.confidence}]", "dim")
    return f"{rule} {mark}{printable(finding.message)} {rating}"
