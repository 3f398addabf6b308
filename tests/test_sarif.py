"""SARIF: what GitHub and others are told of findings, reasons, fixes and troubles."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from tests.documents import read
from tests.reports import PATHS, applied, document, everything, finding, several_edits, source
from torchlint.diagnostics.model import Confidence, FileResult, Finding
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.splice import splice
from torchlint.output.report import FAMILIES, LocatedFinding, Report, Step, steps


def results_of(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read("sarif", document("sarif", report))["runs"][0]["results"]
    return found


def test_sarif_knows_every_rule() -> None:
    run = read("sarif", document("sarif", Report(())))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [entry.code for entry in RULES]
    for rule, entry in zip(rules, RULES, strict=True):
        assert (rule["name"], rule["defaultConfiguration"]["enabled"]) == (entry.name, entry.default)
        assert rule["helpUri"] == f"https://torchlint.readthedocs.io/rules/{entry.code}/"
        assert rule["shortDescription"]["text"].endswith(".")
        assert len(rule["fullDescription"]["text"]) > 40
        assert rule["help"]["markdown"].startswith(rule["shortDescription"]["text"])
        assert not re.search(r"\]\([a-z0-9-]+\.md\)", rule["help"]["markdown"])
        assert "](" not in rule["help"]["text"]
        assert rule["properties"]["tags"][:2] == ["pytorch", "correctness"]
    assert set(FAMILIES) == {entry.code[:4] for entry in RULES}
    assert (run["columnKind"], run["results"]) == ("unicodeCodePoints", [])


def test_sarif_tells_a_finding_whole() -> None:
    of = source()
    why = ("`w` requires grad, line 2", "moved, other file.py line 7", "no `.detach()` on the way")
    given = FileResult("a.py", of, (finding(of, why=why, fix=several_edits(of)),))
    (told,) = results_of(Report((given,)))
    here = {"uri": "a.py", "uriBaseId": "SRCROOT"}
    word = {"startLine": 3, "startColumn": 18, "endLine": 3, "endColumn": 23}
    assert told.pop("partialFingerprints").keys() == {"torchlintContent/v1"}
    flow = told.pop("codeFlows")[0]["threadFlows"][0]["locations"]
    assert [
        (
            each["location"]["physicalLocation"]["artifactLocation"]["uri"],
            each["location"]["physicalLocation"]["region"]["startLine"],
            each["location"]["message"]["text"],
        )
        for each in flow
    ] == [
        ("a.py", 2, why[0]),
        ("other%20file.py", 7, why[1]),
        ("a.py", 3, why[2]),
        ("a.py", 3, "`.numpy()` may fail"),
    ]
    (fix,) = told.pop("fixes")
    assert (fix["description"]["text"], fix["properties"]) == (
        "in three places",
        {"applicability": "safe", "assumptions": []},
    )
    assert told == {
        "ruleId": "TNS101",
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": "`.numpy()` may fail"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": here,
                    "region": {**word, "snippet": {"text": "numpy"}},
                    "contextRegion": {
                        "startLine": 3,
                        "endLine": 3,
                        "snippet": {"text": "\ty = 'é𝒳'; z = w.numpy("},
                    },
                }
            }
        ],
        "properties": {
            "confidence": "certain",
            "severity": "warning",
            "fix": {"applicability": "safe", "assumptions": [], "title": "in three places"},
        },
    }


def test_sarif_says_what_is_silenced_and_what_is_only_shown() -> None:
    told = results_of(everything())[:6]
    by_rule = {each["ruleId"]: each for each in told}
    assert by_rule["TNS301"]["suppressions"] == [{"kind": "inSource", "status": "accepted"}]
    assert [code for code, each in by_rule.items() if "suppressions" in each] == ["TNS301"]
    assert [code for code, each in by_rule.items() if "fixes" in each] == ["TNS103", "TNS201"]
    assert by_rule["TNS203"]["properties"]["fix"]["applicability"] == "display"
    levels = {code: each["level"] for code, each in by_rule.items()}
    assert levels == {
        "TNS101": "warning",
        "TNS103": "warning",
        "TNS201": "note",
        "TNS203": "note",
        "TNS301": "note",
        "TNS900": "error",
    }
    places = [each["locations"][0]["physicalLocation"]["region"] for each in told]
    assert places == sorted(places, key=lambda each: (each["startLine"], each["startColumn"]))


def test_sarif_tells_of_troubles() -> None:
    (invocation,) = read("sarif", document("sarif", everything()))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    notes = invocation["toolExecutionNotifications"]
    assert [each["level"] for each in notes] == ["error"] * 3
    assert notes[0]["message"]["text"] == "rule TNS101 failed here"
    assert notes[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "plain.py"
    (invocation,) = read("sarif", document("sarif", Report(())))["runs"][0]["invocations"]
    assert invocation == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_sarif_addresses_lead_back_to_the_paths() -> None:
    seen = []
    for each in results_of(everything()):
        place = each["locations"][0]["physicalLocation"]["artifactLocation"]
        assert re.fullmatch(r"[\w/.~%-]+|file:///[\w/.~%-]+", place["uri"], re.ASCII)
        assert ("uriBaseId" in place) is not place["uri"].startswith("file:")
        seen.append(os.fsdecode(unquote_to_bytes(place["uri"].removeprefix("file://"))))
    assert list(dict.fromkeys(seen)) == [*PATHS, "unread.py"]


def test_sarif_fixes_do_what_fix_does() -> None:
    of = source()
    found = finding(of, fix=several_edits(of))
    (told,) = results_of(Report((FileResult("a.py", of, (found,)),)))
    (change,) = told["fixes"][0]["artifactChanges"]
    edits = [
        (
            (each["deletedRegion"]["startLine"], each["deletedRegion"]["startColumn"]),
            (each["deletedRegion"]["endLine"], each["deletedRegion"]["endColumn"]),
            each["insertedContent"]["text"],
        )
        for each in change["replacements"]
    ]
    assert len(edits) == 3
    assert applied(of.text, edits, str) == splice(of, [found]).raw.decode()


def test_fingerprints_of_files_that_are_alike() -> None:
    """SARIF's stay the same when a file is renamed; GitLab's are each of its own."""
    one, other = (FileResult(path, source(path), (finding(source(path)),)) for path in ("a.py", "b.py"))
    first, second = (each["partialFingerprints"] for each in results_of(Report((one, other))))
    assert first == second
    issues = read("gitlab", document("gitlab", Report((one, other))))
    assert len({each["fingerprint"] for each in issues}) == 2


def test_silencing_one_finding_does_not_rename_another() -> None:
    of = source(text="w.numpy()\nw.numpy()\n")
    first, second = finding(of), replace(finding(of), start=of.utf8.rindex(b"numpy"), end=of.utf8.rindex(b"numpy") + 5)
    both, one = FileResult("a.py", of, (first, second)), FileResult("a.py", of, (second,), (first,))
    for get in (
        lambda report: results_of(report)[1]["partialFingerprints"],
        lambda report: read("gitlab", document("gitlab", report))[-1]["fingerprint"],
    ):
        assert get(Report((both,))) == get(Report((one,)))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("`x`, line 3", ("a.py", 3)),
        ("`f(a, b)` is made here, line 12", ("a.py", 12)),
        ("`x` comes from, lib/some nets.py line 4", ("lib/some nets.py", 4)),
        ("`x` comes from, a,b.py line 4", ("a,b.py", 4)),
        ("`x`, line 0", ("a.py", None)),
        ("nothing tells what `x` is", ("a.py", None)),
        ("the baseline 3", ("a.py", None)),
    ],
)
def test_a_step_knows_where_it_stands(text: str, step: tuple[str, int | None]) -> None:
    place = LocatedFinding("a.py", None, Finding("TNS101", "n", 0, 0, "m", Confidence.CERTAIN, (text,)))
    assert steps(place) == (Step(text, *step),)
