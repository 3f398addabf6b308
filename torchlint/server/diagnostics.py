"""Findings as an editor's diagnostics: severity by confidence, the rule's page, and the reason trail beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lsprotocol.types import (
    CodeDescription,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
)
from pygls.uris import from_fs_path

from torchlint.model import Confidence, Finding
from torchlint.output.report import FAMILIES, Place, page
from torchlint.output.trail import Step, steps
from torchlint.server.checks import Checked
from torchlint.server.documents import Open
from torchlint.server.text import Text
from torchlint.source import SourceError, decode

SOURCE = "torchlint"

_SEVERITIES = {
    Confidence.CERTAIN: DiagnosticSeverity.Error,
    Confidence.LIKELY: DiagnosticSeverity.Warning,
    Confidence.POSSIBLE: DiagnosticSeverity.Information,
}
_OLD_FAMILIES = frozenset({"legacy-constructor", "variable"})
_NOT_OLD = frozenset({"tensor-from-tensor"})
"""Of these families, but about a function that is still the one to use."""
_UNNECESSARY = frozenset({"unused-suppression", "unknown-code-in-suppression", "variable-import"})


class Drawn:
    """What came of a check, as the editor shows it: each finding with its document and its diagnostic."""

    def __init__(self, opened: Open, checked: Checked, encoding: str, trail: bool) -> None:
        """Draw the findings; without ``trail`` the editor shows no related places, so the message tells the reasons."""
        self._opened = opened
        self._checked = checked
        self._encoding = encoding
        self._trail = trail
        self.found = list(self._drawn())

    def of(self, uri: str) -> list[Diagnostic]:
        """Give the diagnostics of one document."""
        return [diagnostic for each, _, diagnostic in self.found if each == uri]

    def _drawn(self) -> Iterator[tuple[str, Finding, Diagnostic]]:
        source = self._checked.source
        for finding in self._checked.result.findings if source is not None else ():
            assert source is not None
            where = self._opened.span(source, finding.start, finding.end)
            if where is not None:
                yield where.uri, finding, self._diagnostic(finding, where)

    def _diagnostic(self, finding: Finding, where: Location) -> Diagnostic:
        place = Place(self._checked.wanted.name, self._checked.source, finding)
        told = steps(place)
        message = finding.message if self._trail else "\n".join([finding.message, *(f"why: {e.text}" for e in told)])
        return Diagnostic(
            range=where.range,
            message=message,
            severity=_SEVERITIES[finding.confidence],
            code=finding.code,
            code_description=CodeDescription(page(finding.name)),
            source=SOURCE,
            tags=list(_tags(finding)) or None,
            related_information=[self._related(step, where) for step in told] or None if self._trail else None,
        )

    def _related(self, step: Step, where: Location) -> DiagnosticRelatedInformation:
        own = step.path == self._checked.wanted.name
        location = self._opened.cited(step) if own else self._elsewhere(step)
        return DiagnosticRelatedInformation(location or where, step.text)

    def _elsewhere(self, step: Step) -> Location:
        """Give the row of another file, which is looked at as it is on disk, as it was when the step was taken."""
        path = os.path.normpath(os.path.join(self._checked.wanted.cwd, step.path))
        return Location(from_fs_path(path) or path, _row(path, step.row or 1, self._encoding))


def _tags(finding: Finding) -> Iterator[DiagnosticTag]:
    if finding.name in _UNNECESSARY:
        yield DiagnosticTag.Unnecessary
    elif FAMILIES[finding.code[:4]].tag in _OLD_FAMILIES and finding.name not in _NOT_OLD:
        yield DiagnosticTag.Deprecated


def _row(path: str, row: int, encoding: str) -> Range:
    try:
        with open(path, "rb") as stream:
            return Text(decode(path, stream.read()).text, encoding).row(row)
    except (OSError, SourceError):
        return Text("", encoding).row(1)
