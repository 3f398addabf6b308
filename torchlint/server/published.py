"""Findings as an editor's diagnostics: what is told of one open text, and what that rests on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

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

from torchlint.config import ConfigError
from torchlint.diagnostics.model import Finding, Severity
from torchlint.knowledge import look_again, still_answered
from torchlint.output.report import FAMILIES, LocatedFinding, Step, page, steps
from torchlint.server.checks import Checked, check
from torchlint.server.documents import Cells, Open, name_of, named_as_notebook, path_of
from torchlint.server.editor_text import Text
from torchlint.server.folders import Folders, Stamps, Wanted, changed, of_module, stamps
from torchlint.source.text import SourceError, decode

SOURCE = "torchlint"

_SEVERITIES = {
    Severity.ERROR: DiagnosticSeverity.Error,
    Severity.WARNING: DiagnosticSeverity.Warning,
    Severity.LEGACY: DiagnosticSeverity.Hint,
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
        """Return the diagnostics of one document."""
        return [diagnostic for each, _, diagnostic in self.found if each == uri]

    def _drawn(self) -> Iterator[tuple[str, Finding, Diagnostic]]:
        source = self._checked.source
        for finding in self._checked.result.findings if source is not None else ():
            assert source is not None
            where = self._opened.span(source, finding.start, finding.end)
            if where is not None:
                yield where.uri, finding, self._diagnostic(finding, where)

    def _diagnostic(self, finding: Finding, where: Location) -> Diagnostic:
        place = LocatedFinding(self._checked.wanted.name, self._checked.source, finding)
        told = steps(place)
        message = finding.message if self._trail else "\n".join([finding.message, *(f"why: {e.text}" for e in told)])
        return Diagnostic(
            range=where.range,
            message=message,
            severity=_SEVERITIES[finding.severity],
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
        """Return the row of another file, which is looked at as it is on disk, as it was when the step was taken."""
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


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a text; ``checked`` and ``drawn`` are None where it is left out or its options cannot be used.

    ``rests_on`` are the files after whose change it has to be judged again.
    """

    checked: Checked | None = None
    drawn: Drawn | None = None
    rests_on: Stamps = field(default_factory=dict)
    complaints: tuple[str, ...] = ()


def judge(opened: Open, folders: Folders, before: Judged, encoding: str, trail: bool) -> Judged:
    """Check a text, or take the last result where nothing has changed since."""
    if not opened.is_code:
        return Judged()
    path, name, raw = path_of(opened.uri), name_of(opened.uri), opened.raw
    sources = stamps(folders.sources(path))
    try:
        wanted = folders.wanted(path, named_as_notebook(name) if isinstance(opened, Cells) else name)
    except ConfigError as error:
        return Judged(None, None, sources, (str(error),))
    if wanted.left_out:
        return Judged(None, None, sources)
    known = before.checked
    look_again()
    if known is None or (known.raw, known.wanted) != (raw, wanted) or _is_outdated(known, before):
        known = check(raw, wanted)
    rests_on = {**sources, **stamps(_others(known, wanted))}
    return Judged(known, Drawn(opened, known, encoding, trail), rests_on, tuple(known.troubles))


def _is_outdated(known: Checked, before: Judged) -> bool:
    return changed(before.rests_on) or not still_answered(known.result.asked)


def _others(checked: Checked, wanted: Wanted) -> Iterable[str]:
    yield from (path for named, _ in checked.result.reads for path in of_module(named))
    if wanted.baseline is not None:
        yield wanted.baseline
