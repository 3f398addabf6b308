"""Workflow commands that GitHub Actions shows as annotations beside the code."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchlint.output.report import LocatedFinding, Report, level
from torchlint.output.screen import Screen, printable


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield one command per finding, and one for each file that could not be checked."""
    del screen
    for place in report.places:
        yield _finding(place)
    for trouble in report.troubles:
        yield _command(
            "error",
            {"title": "torchlint", "file": trouble.path.replace(os.sep, "/")},
            f"{trouble.path}: {trouble.message}",
        )


def _finding(place: LocatedFinding) -> str:
    finding, ((row, column), (end_row, end_column)) = place.finding, place.stored  # lines of the file are annotated
    properties = {
        "title": f"torchlint ({finding.code})",
        "file": place.path.replace(os.sep, "/"),  # GitHub compares it with git's own names
        "line": str(row),
        # GitHub refuses columns on an annotation of several lines.
        **({"col": str(column)} if row == end_row else {}),
        "endLine": str(end_row),
        **({"endColumn": str(end_column)} if row == end_row else {}),
    }
    return _command(_COMMANDS[level(finding)], properties, f"{place.where}: {finding.code} {finding.message}")


_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def _command(command: str, properties: dict[str, str], text: str) -> str:
    # Line ends are told by GitHub's own escapes; the controls that it has none for are written out.
    listed = ",".join(f"{key}={printable(_property(value))}" for key, value in properties.items())
    return f"::{command} {listed}::{printable(_data(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
