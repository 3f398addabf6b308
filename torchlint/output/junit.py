"""JUnit's XML, as Jenkins and most CI servers read it: a suite for each file, a failed case for each finding."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from torchlint.diagnostics.model import Trouble
from torchlint.output.excerpts import hunks
from torchlint.output.report import LocatedFinding, Report, page
from torchlint.output.screen import Screen, code, printable

_NO_CHARACTER = re.compile("[\ufffe\uffff]")
"""What XML has no place for besides the controls that :func:`printable` writes as escapes."""


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the document.

    A run without findings has one case, which passed, because servers refuse a report of none.
    """
    del screen
    root = Element("testsuites", name="torchlint")
    for path, places in groupby(report.places, key=lambda each: each.path):
        _add_suite(root, path, list(places), [each for each in report.troubles if each.path == path])
    told = {each.path for each in report.places}
    for path, troubles in groupby(
        (each for each in report.troubles if each.path not in told), key=lambda each: each.path
    ):
        _add_suite(root, path, [], list(troubles))
    if not len(root):
        suite = SubElement(root, "testsuite", _counts(tests=1), name="torchlint")
        SubElement(suite, "testcase", classname="torchlint", name="No findings")
    cases = sum(int(suite.attrib["tests"]) for suite in root)
    failures = sum(int(suite.attrib["failures"]) for suite in root)
    root.attrib.update(_counts(tests=cases, failures=failures, errors=sum(int(each.attrib["errors"]) for each in root)))
    indent(root)
    # ASCII, so that the document is the same whatever the stream's encoding.
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield tostring(root, encoding="us-ascii", xml_declaration=False).decode()


def _counts(tests: int, failures: int = 0, errors: int = 0) -> dict[str, str]:
    return {"tests": str(tests), "failures": str(failures), "errors": str(errors)}


def _add_suite(root: Element, path: str, places: list[LocatedFinding], troubles: list[Trouble]) -> None:
    counts = _counts(len(places) + len(troubles), len(places), len(troubles))
    suite = SubElement(root, "testsuite", counts, name=_text(path), package="torchlint")
    classname = _text(os.path.splitext(path)[0])
    for place in places:
        finding = place.finding
        case = SubElement(suite, "testcase", classname=classname, name=f"{finding.code} {place.spot}")
        failure = SubElement(case, "failure", message=_text(finding.message), type=str(finding.severity))
        failure.text = "\n".join(map(_text, _details(place)))
    for trouble in troubles:
        case = SubElement(suite, "testcase", classname=classname, name="not checked")
        SubElement(case, "error", message=_text(trouble.message), type="trouble")


def _details(place: LocatedFinding) -> Iterator[str]:
    finding = place.finding
    yield f"{place.where}: {finding.code} {finding.message}"
    if place.source is not None:
        yield f"    {code(place.line)}"
    yield from (f"why: {step}" for step in finding.why)
    if finding.fix is not None:
        yield f"fix ({finding.fix.applicability}): {finding.fix.title}"
        for hunk in hunks(place.source, finding.fix) if place.source is not None else ():
            yield from (f"    {sign} {code(line)}" for sign, line in hunk.lines())
    yield page(finding.name)


def _text(text: str) -> str:
    return _NO_CHARACTER.sub(lambda found: f"\\u{ord(found.group()):04x}", printable(text))
