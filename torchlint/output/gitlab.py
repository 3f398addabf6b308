"""GitLab's Code Quality report, which merge requests show beside the code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from torchlint.diagnostics.model import Severity
from torchlint.output.report import LocatedFinding, Report, page, unicode
from torchlint.output.screen import Screen
from torchlint.selection.fingerprints import digest, identities

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.LEGACY: "info"}


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the document."""
    del screen
    issues = []
    for result in report.results:
        known = identities(result.source, (*result.findings, *result.suppressed))
        for finding, identity in zip(result.findings, known, strict=False):  # those of the suppressed come last
            place = LocatedFinding(result.path, result.source, finding)
            # GitLab takes two issues with one fingerprint for one, and the same code may stand in two files.
            issues.append(_issue(place, digest(result.path, identity.fingerprint)))
    yield json.dumps(issues, indent=2)


def _issue(place: LocatedFinding, fingerprint: str) -> dict[str, object]:
    finding, ((row, column), (end_row, end_column)) = place.finding, place.stored
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code}: {finding.message}",
        "content": {"body": _body(place)},
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {
            "path": unicode(place.path.replace(os.sep, "/")),  # GitLab compares it with git's own names
            "lines": {"begin": row, "end": end_row},
            "positions": {
                "begin": {"line": row, "column": column},
                "end": {"line": end_row, "column": end_column},
            },
        },
    }


def _body(place: LocatedFinding) -> str:
    finding = place.finding
    lines = [f"* {step}" for step in finding.why]
    if finding.fix is not None:
        lines.append(f"* Fix ({finding.fix.applicability}): {finding.fix.title}")
    return "\n".join([*lines, f"* [{finding.name}]({page(finding.name)})"])
