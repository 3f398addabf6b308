"""The report as a list of objects with ruff's field names."""

from __future__ import annotations

import json
from collections.abc import Iterator

from torchlint.diagnostics.model import Fix
from torchlint.output.report import LocatedFinding, Report, page
from torchlint.output.screen import Screen


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the document, one string per finding."""
    del screen
    # ASCII, so that a file name that is no valid text can still be written.
    objects = [json.dumps(described(each), indent=2).replace("\n", "\n  ") for each in report.places]
    yield "[\n  " + ",\n  ".join(objects) + "\n]" if objects else "[]"


def described(place: LocatedFinding) -> dict[str, object]:
    """Return one finding as plain data."""
    finding = place.finding
    return {
        "cell": place.cell,
        "code": finding.code,
        "confidence": str(finding.confidence),
        "end_location": _location(place.end),
        "filename": place.path,
        "fix": _fix(place, finding.fix) if finding.fix else None,
        "location": _location(place.start),
        "message": finding.message,
        "name": finding.name,
        "noqa_row": place.start[0],
        "severity": str(finding.severity),
        "url": page(finding.name),
        "why": list(finding.why),
    }


def _fix(place: LocatedFinding, fix: Fix) -> dict[str, object]:
    return {
        "applicability": str(fix.applicability),
        "assumptions": assumptions(fix),
        "edits": [
            {
                "content": edit.text,
                "end_location": _location(place.position(edit.end, edit.start)),
                "location": _location(place.position(edit.start)),
            }
            for edit in fix.edits
        ],
        "message": fix.title,
    }


def assumptions(fix: Fix) -> list[dict[str, str]]:
    """Return what a fix rests on as plain data."""
    return [
        {"name": each.name, "claim": each.claim, "status": each.status, "reason": each.reason}
        for each in fix.assumptions
    ]


def _location(position: tuple[int, int]) -> dict[str, int]:
    return {"column": position[1], "row": position[0]}
