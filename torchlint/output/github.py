"""Workflow commands that GitHub Actions shows as annotations beside the code."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model import Confidence
from torchlint.output.report import Place, Report
from torchlint.output.screen import Screen, printable

_LEVELS = {Confidence.CERTAIN: "error", Confidence.LIKELY: "error", Confidence.POSSIBLE: "warning"}


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Give one command per finding."""
    del screen
    for place in report.places:
        yield _command(place)


def _command(place: Place) -> str:
    finding, (row, column), (end_row, end_column) = place.finding, place.start, place.end
    properties = {
        "title": f"torchlint ({finding.code})",
        "file": printable(place.path),
        "line": str(row),
        # GitHub refuses columns on an annotation of several lines.
        **({"col": str(column)} if row == end_row else {}),
        "endLine": str(end_row),
        **({"endColumn": str(end_column)} if row == end_row else {}),
    }
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    text = f"{place.path}:{row}:{column}: {finding.code} {finding.message}"
    return f"::{_LEVELS[finding.confidence]} {listed}::{printable(_data(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
