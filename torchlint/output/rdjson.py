"""Reviewdog's diagnostic format, whose columns count bytes of UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator

from torchlint.diagnostics.model import Applicability, Fix
from torchlint.output.report import PROJECT, LocatedFinding, Report, level, page, unicode
from torchlint.output.screen import Screen
from torchlint.source.edits import written
from torchlint.source.text import Source

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the document."""
    del screen
    document = {
        "source": {"name": "torchlint", "url": PROJECT},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(place) for place in report.places],
    }
    yield json.dumps(document, indent=2)


def _diagnostic(place: LocatedFinding) -> dict[str, object]:
    finding = place.finding
    told: dict[str, object] = {
        "message": "\n".join([finding.message, *(f"- {step}" for step in finding.why), *_remedy(finding.fix)]),
        "location": {"path": unicode(place.path), "range": _range(place.source, finding.start, finding.end)},
        "severity": _SEVERITIES[level(finding)],
        "code": {"value": finding.code, "url": page(finding.name)},
    }
    # A click applies a suggestion, so what is only shown is none.
    # Of a notebook people see cells, not JSON: no suggestion there.
    offered = finding.fix is not None and finding.fix.applicability > Applicability.DISPLAY and place.cell is None
    if offered and finding.fix is not None and place.source is not None:
        told["suggestions"] = [_suggestion(place.source, finding.fix)]
    return told


def _remedy(fix: Fix | None) -> Iterator[str]:
    if fix is not None:
        yield f"Fix ({fix.applicability}): {fix.title}"


def _suggestion(source: Source, fix: Fix) -> dict[str, object]:
    """Return a fix as one replacement: each suggestion is taken or left by itself, and half a fix is none."""
    edits = sorted(fix.edits, key=lambda edit: (edit.start, edit.end))
    start, stop = edits[0].start, max(edit.end for edit in edits)
    parts, last = [], start
    for edit in edits:
        parts += [source.slice(last, edit.start), written(source, edit)]
        last = max(last, edit.end)
    parts.append(source.slice(last, stop))
    return {"range": _range(source, start, stop), "text": "".join(parts)}


def _range(source: Source | None, start: int, end: int) -> dict[str, object]:
    return {"start": _position(source, start), "end": _position(source, end)}


def _position(source: Source | None, offset: int) -> dict[str, int]:
    if source is None:
        return {"line": 1, "column": 1}
    row, column = source.stored(offset)
    return {"line": row, "column": len(source.stored_line(row)[: column - 1].encode()) + 1}
