"""The formats of GitLab, reviewdog, JUnit and GitHub: what each of them wants of a finding."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.documents import read
from tests.reports import PATHS, applied, document, everything, finding, several_edits, source
from torchlint.diagnostics.model import Applicability, FileResult
from torchlint.diagnostics.splice import splice
from torchlint.output.report import Report


def test_gitlab_grades_by_severity() -> None:
    issues = read("gitlab", document("gitlab", everything()))[:5]
    assert {each["check_name"]: each["severity"] for each in issues} == {
        "TNS101": "major",
        "TNS201": "info",
        "TNS203": "info",
        "TNS103": "major",
        "TNS900": "critical",
    }
    assert issues[1]["location"] == {
        "path": "plain.py",
        "lines": {"begin": 4, "end": 4},
        "positions": {"begin": {"line": 4, "column": 3}, "end": {"line": 4, "column": 7}},
    }
    every = read("gitlab", document("gitlab", everything()))
    assert len({each["fingerprint"] for each in every}) == len(every)
    assert "\\udcff\\udc80.py" in {each["location"]["path"] for each in every}


def test_rdjson_counts_bytes_and_its_suggestions_do_what_fix_does() -> None:
    of = source()
    unsafe = finding(of, fix=several_edits(of, Applicability.UNSAFE))
    shown = finding(of, "data", "TNS203", fix=several_edits(of, Applicability.DISPLAY))
    one, other = read("rdjson", document("rdjson", Report((FileResult("a.py", of, (unsafe, shown)),))))["diagnostics"]
    column = len("\ty = 'é𝒳'; z = w.".encode()) + 1
    assert one["location"]["range"]["start"] == {"line": 3, "column": column}
    assert (
        one["message"]
        == "`.numpy()` may fail\nFix (unsafe): in three places; counts as unsafe by this project's configuration"
    )
    (suggestion,) = one["suggestions"]
    start, end = (suggestion["range"][each] for each in ("start", "end"))
    edits = [((start["line"], start["column"]), (end["line"], end["column"]), suggestion["text"])]
    assert applied(of.text, edits, str.encode) == splice(of, [unsafe]).raw.decode()
    assert "suggestions" not in other


def test_junit_has_a_suite_for_each_file_and_an_error_for_each_trouble() -> None:
    root = read("junit", document("junit", everything()))
    suites = {suite.attrib["name"]: suite for suite in root}
    assert len(suites) == len(PATHS) + 3
    plain = suites["plain.py"]
    assert [plain.attrib[each] for each in ("tests", "failures", "errors")] == ["6", "5", "1"]
    assert [case.attrib["name"] for case in plain] == [
        "TNS101 3:18", "TNS201 4:3", "TNS203 4:3", "TNS103 3:16", "TNS900 1:3", "not checked",
    ]  # fmt: skip
    case = plain[1].find("failure")
    assert case is not None
    assert case.attrib == {"message": "`.numpy()` may fail", "type": "legacy"}
    assert (case.text or "").splitlines()[:3] == [
        "plain.py:4:3: TNS201 `.numpy()` may fail",
        "    ).data  # </script>\\x01",
        "fix (safe): in three places",
    ]
    error = suites["x.py"].find("testcase/error")
    assert error is not None
    assert error.attrib["message"] == "gone"
    total = {each: sum(int(suite.attrib[each]) for suite in root) for each in ("tests", "failures", "errors")}
    assert {key: int(value) for key, value in root.attrib.items() if key != "name"} == total


def test_junit_of_nothing_is_a_case_that_passed() -> None:
    root = read("junit", document("junit", Report((FileResult("a.py", None),))))
    assert root.attrib == {"name": "torchlint", "tests": "1", "failures": "0", "errors": "0"}
    (case,) = root.findall("testsuite/testcase")
    assert (case.attrib["name"], list(case)) == ("No findings", [])


def unescaped(text: str) -> str:
    """Undo escapes as the runner of GitHub Actions does, per cent last."""
    for escape, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, plain)
    return text


def test_github_commands_are_one_line_each_and_lead_to_the_file() -> None:
    lines = document("github", everything()).decode().splitlines()
    assert len(lines) == 5 * len(PATHS) + 1 + 3
    files = []
    for line in lines:
        found = re.fullmatch(r"::(error|warning|notice) ((?:[a-zA-Z]+=[^,:]*,)*[a-zA-Z]+=[^,:]*)::(.*)", line)
        assert found, line
        properties = dict(each.split("=", 1) for each in found[2].split(","))
        files.append(unescaped(properties["file"]))
        assert properties.keys() in (
            {"title", "file", "line", "endLine", "col", "endColumn"},
            {"title", "file"},
        )
    kept = [path.replace("\x1b", "\\x1b").encode("utf-8", "backslashreplace").decode() for path in PATHS]
    assert list(dict.fromkeys(files))[: len(kept)] == kept


def test_github_leaves_out_columns_over_several_rows() -> None:
    of = source()
    start, end = of.utf8.index(b"numpy"), of.utf8.index(b"data")
    wide = replace(finding(of), start=start, end=end)
    (line,) = document("github", Report((FileResult("a.py", of, (wide,)),))).decode().splitlines()
    assert line.startswith("::warning title=torchlint (TNS101),file=a.py,line=3,endLine=4::")
