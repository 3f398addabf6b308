"""SARIF 2.1.0, the exchange format of static analysis, with rules, reason trails, fixes and fingerprints."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from urllib.parse import quote

from torchlint.diagnostics.model import Applicability, FileResult, Finding, Fix, Trouble
from torchlint.diagnostics.registry import BY_NAME, RULES
from torchlint.diagnostics.rule_docs import page as text_of
from torchlint.diagnostics.rule_docs import summary
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.output.json import assumptions
from torchlint.output.report import FAMILIES, LEVELS, PROJECT, LocatedFinding, Report, level, page, steps, unicode
from torchlint.output.screen import Screen
from torchlint.selection.fingerprints import Identity, identities
from torchlint.source.edits import Replacement, replacements
from torchlint.version import VERSION


def uri(path: str) -> str:
    """Return ``a%20b.py`` for ``a b.py`` and ``file:///tmp/a.py`` for ``/tmp/a.py``; names that are no text are kept.

    On Windows ``file:///C:/a.py`` for a drive, and ``file://server/share/a.py`` for a share.
    """
    drive, rest = os.path.splitdrive(path)
    address = quote(os.fsencode(rest.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return address
    place = drive.replace(os.sep, "/")
    return "file:" + (quote(place) if place.startswith("//") else f"///{place}" if place else "//") + address


_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md\)")
_MARKS = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def described(entry: RuleMetadata) -> dict[str, object]:
    """Return a rule's descriptor."""
    text = text_of(entry)
    return {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": summary(entry)},
        "fullDescription": {"text": what_it_does(text)},
        "help": {"text": _plain(text), "markdown": _LINK.sub(_addressed, text)},
        "helpUri": page(entry.name),
        "defaultConfiguration": {"enabled": entry.default, "level": LEVELS[entry.severity]},
        "properties": {"tags": ["pytorch", "correctness", FAMILIES[entry.code[:4]].tag]},
    }


def what_it_does(text: str) -> str:
    """Return the first paragraph of what a rule does, or the last of the page where it has no such part."""
    found = re.search(r"^## What it does\n+(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return _plain(" ".join((found[1] if found else text.rsplit("\n\n", maxsplit=1)[-1]).split()))


def _plain(text: str) -> str:
    return _MARKS.sub(r"\1", text)


def _addressed(found: re.Match[str]) -> str:
    return f"]({page(found[1])})" if found[1] in BY_NAME else found[0]


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "torchlintContent/v1"
ROOT = "SRCROOT"

_INDEX = {entry.code: number for number, entry in enumerate(RULES)}
_Object = dict[str, object]


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the document."""
    del screen
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}, indent=1)


def _run(report: Report) -> _Object:
    return {
        "tool": {
            "driver": {
                "name": "torchlint",
                "informationUri": PROJECT,
                "version": VERSION,
                "semanticVersion": VERSION,
                "rules": [described(entry) for entry in RULES],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not report.troubles,
                "toolExecutionNotifications": [_notification(each) for each in report.troubles],
            }
        ],
        # Without an address: the consumer knows where the code lies, and the report says nothing of the machine.
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which torchlint was run."}}},
        "defaultSourceLanguage": "python",
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [each for result in report.results for each in _results(result)],
    }


def _notification(trouble: Trouble) -> _Object:
    return {
        "level": "error",
        "message": {"text": unicode(trouble.message)},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(trouble.path)}}],
    }


def _results(result: FileResult) -> Iterator[_Object]:
    every = (*result.findings, *result.suppressed)
    told = zip(every, identities(result.source, every), strict=True)
    silent = set(range(len(result.findings), len(every)))
    for number, (finding, identity) in sorted(enumerate(told), key=lambda each: (each[1][0].start, each[0])):
        yield _result(LocatedFinding(result.path, result.source, finding), identity, number in silent)


def _result(place: LocatedFinding, identity: Identity, silent: bool) -> _Object:
    finding = place.finding
    told: _Object = {
        "ruleId": finding.code,
        "ruleIndex": _INDEX[finding.code],
        "level": level(finding),
        "message": {"text": finding.message},
        "locations": [_location(place, identity)],
        "partialFingerprints": {FINGERPRINT: identity.fingerprint},
        "properties": {
            "confidence": str(finding.confidence),
            "severity": str(finding.severity),
            **_proposal(finding),
            **_cell(place),
        },
    }
    if finding.why:
        told["codeFlows"] = [_flow(place)]
    # A consumer may apply what it is given, so what is only shown is told in the properties.
    if finding.fix is not None and finding.fix.applicability > Applicability.DISPLAY and place.source is not None:
        told["fixes"] = [_fix(place, finding.fix)]
    if silent:
        told["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
    return told


def _proposal(finding: Finding) -> _Object:
    if finding.fix is None:
        return {}
    return {"fix": {"title": finding.fix.title, **_trust(finding.fix)}}


def _trust(fix: Fix) -> _Object:
    return {"applicability": str(fix.applicability), "assumptions": assumptions(fix)}


def _cell(place: LocatedFinding) -> _Object:
    """Say where people find it in a notebook: the regions are those of the JSON."""
    return {} if place.cell is None else {"cell": place.cell, "row": place.start[0], "column": place.start[1]}


def _location(place: LocatedFinding, identity: Identity) -> _Object:
    finding, ((row, _), (end_row, _)) = place.finding, place.stored
    region = _region(*place.stored)
    physical: _Object = {"artifactLocation": _artifact(place.path), "region": region}
    if place.source is not None:
        region["snippet"] = {"text": place.source.excerpt(finding.start, finding.end)}
    if place.source is not None and place.cell is None:  # a row of JSON may be a whole notebook
        lines = "\n".join(place.source.line(each) for each in range(row, end_row + 1))
        physical["contextRegion"] = {"startLine": row, "endLine": end_row, "snippet": {"text": lines}}
    told: _Object = {"physicalLocation": physical}
    if identity.scope:
        told["logicalLocations"] = [{"fullyQualifiedName": identity.scope}]
    return told


def _flow(place: LocatedFinding) -> _Object:
    trail = [_step(step.text, step.path, {"startLine": step.row or place.stored[0][0]}) for step in steps(place)]
    end = _step(place.finding.message, place.path, _region(*place.stored))
    return {"threadFlows": [{"locations": [*trail, end]}]}


def _step(text: str, path: str, region: _Object) -> _Object:
    physical = {"artifactLocation": _artifact(path), "region": region}
    return {"location": {"physicalLocation": physical, "message": {"text": unicode(text)}}}


def _fix(place: LocatedFinding, fix: Fix) -> _Object:
    changes = replacements(place.source, fix.edits) if place.source is not None else ()
    changed = {"artifactLocation": _artifact(place.path), "replacements": [_replacement(each) for each in changes]}
    return {
        "description": {"text": fix.title},
        "artifactChanges": [changed],
        "properties": _trust(fix),
    }


def _replacement(change: Replacement) -> _Object:
    return {"deletedRegion": _region(change.start, change.end), "insertedContent": {"text": change.text}}


def _region(start: tuple[int, int], end: tuple[int, int]) -> _Object:
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _artifact(path: str) -> _Object:
    address = uri(path)
    return {"uri": address} if address.startswith("file:") else {"uri": address, "uriBaseId": ROOT}
