"""The formats for programs: valid by their schemas whatever is reported, exact in place and text."""

from __future__ import annotations

import ast
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
import xmlschema

from tests.conftest import HEAVY
from tests.documents import MACHINE, read, texts
from torchlint.catalogue import CATALOGUE
from torchlint.edits import splice
from torchlint.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, Trouble
from torchlint.options import OUTPUT_FORMATS
from torchlint.output import renderer
from torchlint.output.report import FAMILIES, Place, Report
from torchlint.output.screen import Screen
from torchlint.output.trail import Step, steps
from torchlint.source import Source, decode

Program = Callable[..., Any]
WITH_SCHEMA = pytest.mark.parametrize("output_format", MACHINE)

HOSTILE = (
    "a\n\r\t\x1b[31m\x07\x85 %41 ::error::x]]> </script><!-- & \"quoted\" 'é日𝒳' "
    "\u202e\u2028\ufeff\ufffe\uffff {0} \\u0041"
)
PATHS = (
    "plain.py",
    "a b/c d.py",
    "new\nline.py",
    "a,b:c%41;d=e.py",
    "quote\"'<&>]]>.py",
    "é/日本.py",
    "\x1b[2J.py",
    "\udcff\udc80.py",
    "/outside/a b.py",
    "-",
)
TEXT = "# é日𝒳\r\nx = 1\r\n\ty = 'é𝒳'; z = w.numpy(\r\n).data  # </script>\x01\r\n"


def source(path: str = "a.py", text: str = TEXT) -> Source:
    return decode(path, text.encode())


def finding(of: Source, word: str = "numpy", code: str = "TNS101", **changes: Any) -> Finding:
    at = of.utf8.index(word.encode())
    names = {entry.code: entry.name for entry in CATALOGUE}
    fields = {"message": "`.numpy()` may fail", "confidence": Confidence.CERTAIN, **changes}
    return Finding(code, names[code], at, at + len(word.encode()), **fields)


def several_edits(of: Source, applicability: Applicability = Applicability.SAFE) -> Fix:
    """A fix in three places: two rows apart, one over a line end, one with line ends of its own."""
    numpy, end, one = (of.utf8.index(each) for each in (b"numpy", b"\r\n).data", b"1"))
    edits = (Edit(numpy, numpy, "detach().é𝒳"), Edit(end, end + 3, ")"), Edit(one, one + 1, "2\nv = '𝒳'\n"))
    return Fix("in three places", edits, applicability)


def everything() -> Report:
    """Findings of every kind under every path, and troubles with and without findings beside them."""
    results = []
    for path in PATHS:
        of = source(path)
        results.append(
            FileResult(
                path,
                of,
                (
                    finding(of, why=(HOSTILE, "a step, line 2", "another, other file.py line 7"), message=HOSTILE),
                    finding(of, "data", "TNS201", confidence=Confidence.LIKELY, fix=several_edits(of)),
                    finding(of, "data", "TNS203", fix=several_edits(of, Applicability.DISPLAY)),
                    finding(
                        of, "w.", "TNS103", confidence=Confidence.POSSIBLE, fix=several_edits(of, Applicability.UNSAFE)
                    ),
                    finding(of, "é", "TNS900"),
                ),
                (finding(of, "z", "TNS301", why=("silenced",)),),
            )
        )
    results.append(
        FileResult("unread.py", None, (Finding("TNS900", "syntax-error", 0, 0, HOSTILE, Confidence.CERTAIN),))
    )
    troubles = (
        Trouble("plain.py", "rule TNS101 failed here"),
        Trouble("\udcff\n.py", HOSTILE),
        Trouble("x.py", "gone"),
    )
    return Report(tuple(results), troubles=troubles)


def document(output_format: str, report: Report) -> bytes:
    text = io.StringIO()
    for line in renderer(output_format)(report, Screen()):
        print(line, file=text)
    return text.getvalue().encode("ascii" if output_format in (*MACHINE, "html") else "utf-8")


# ---------------------------------------------------------------------- valid, whatever is reported
@WITH_SCHEMA
def test_everything_is_valid(output_format: str) -> None:
    told = read(output_format, document(output_format, everything()))
    count = 5 * len(PATHS) + 1
    if output_format == "sarif":
        assert len(told["runs"][0]["results"]) == count + len(PATHS)
    elif output_format == "rdjson":
        assert len(told["diagnostics"]) == count
    elif output_format == "junit":
        assert len(told.findall("testsuite/testcase/failure")) == count
    else:
        assert len(told) == count


@WITH_SCHEMA
def test_nothing_is_valid(output_format: str) -> None:
    read(output_format, document(output_format, Report(())))
    clean = FileResult("a.py", None)
    read(output_format, document(output_format, Report((clean,), troubles=(Trouble("b.py", "gone"),))))


@pytest.mark.parametrize(
    ("output_format", "spoil"),
    [
        ("sarif", lambda told: told["runs"][0]["results"][0]["locations"][0].update(line=1)),
        ("sarif", lambda told: told["runs"][0]["tool"]["driver"].pop("name")),
        ("gitlab", lambda told: told[0].update(severity="error")),
        ("rdjson", lambda told: told["diagnostics"][0]["location"]["range"]["start"].update(column=0)),
        ("json", lambda told: told[0].pop("cell")),
    ],
)
def test_the_schemas_refuse_what_is_wrong(output_format: str, spoil: Callable[[Any], None]) -> None:
    told = json.loads(document(output_format, everything()))
    spoil(told)
    with pytest.raises(jsonschema.ValidationError):
        read(output_format, json.dumps(told).encode())


def test_the_schema_of_junit_refuses_what_is_wrong() -> None:
    raw = document("junit", everything())
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        read("junit", raw.replace(b"<failure ", b"<fault ").replace(b"</failure>", b"</fault>"))


@pytest.mark.parametrize("output_format", [each for each in OUTPUT_FORMATS if each not in ("json", "json-lines")])
def test_no_control_reaches_a_reader(output_format: str) -> None:
    """Only json tells names that are no text as they are; it does so in escapes."""
    raw = document(output_format, everything()).decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e\u2028\ufeff]", raw)
    if output_format in ("sarif", "gitlab", "rdjson"):
        assert not [each for each in texts(json.loads(raw)) if re.search("[\ud800-\udfff]", each)]


# ---------------------------------------------------------------------- SARIF
def results_of(report: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read("sarif", document("sarif", report))["runs"][0]["results"]
    return found


def test_sarif_knows_every_rule() -> None:
    run = read("sarif", document("sarif", Report(())))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [entry.code for entry in CATALOGUE]
    for rule, entry in zip(rules, CATALOGUE, strict=True):
        assert (rule["name"], rule["defaultConfiguration"]["enabled"]) == (entry.name, entry.default)
        assert rule["helpUri"] == f"https://torchlint.readthedocs.io/rules/{entry.code}/"
        assert rule["shortDescription"]["text"].endswith(".")
        assert len(rule["fullDescription"]["text"]) > 40
        assert rule["help"]["markdown"].startswith(rule["shortDescription"]["text"])
        assert not re.search(r"\]\([a-z0-9-]+\.md\)", rule["help"]["markdown"])
        assert "](" not in rule["help"]["text"]
        assert rule["properties"]["tags"][:2] == ["pytorch", "correctness"]
    assert set(FAMILIES) == {entry.code[:4] for entry in CATALOGUE}
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
    assert (fix["description"]["text"], fix["properties"]) == ("in three places", {"applicability": "safe"})
    assert told == {
        "ruleId": "TNS101",
        "ruleIndex": 0,
        "level": "error",
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
        "properties": {"confidence": "certain", "fix": {"applicability": "safe", "title": "in three places"}},
    }


def test_sarif_says_what_is_silenced_and_what_is_only_shown() -> None:
    told = results_of(everything())[:6]
    by_rule = {each["ruleId"]: each for each in told}
    assert by_rule["TNS301"]["suppressions"] == [{"kind": "inSource", "status": "accepted"}]
    assert [code for code, each in by_rule.items() if "suppressions" in each] == ["TNS301"]
    assert [code for code, each in by_rule.items() if "fixes" in each] == ["TNS103", "TNS201"]
    assert by_rule["TNS203"]["properties"]["fix"]["applicability"] == "display"
    assert {code: each["level"] for code, each in by_rule.items() if each["level"] != "error"} == {"TNS103": "warning"}
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


def applied(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], measure: Callable[[str], Any]) -> str:
    """Apply edits given by row and column, as a consumer does; ``measure`` gives a row in the columns' units."""
    lines = text.splitlines(keepends=True)
    starts = [sum(len(measure(line)) for line in lines[:row]) for row in range(len(lines) + 1)]
    whole = measure(text)
    for start, end, new in sorted(edits, reverse=True):
        at, stop = starts[start[0] - 1] + start[1] - 1, starts[end[0] - 1] + end[1] - 1
        whole = whole[:at] + measure(new) + whole[stop:]
    return whole if isinstance(whole, str) else whole.decode()


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
    place = Place("a.py", None, Finding("TNS101", "n", 0, 0, "m", Confidence.CERTAIN, (text,)))
    assert steps(place) == (Step(text, *step),)


# ---------------------------------------------------------------------- GitLab, reviewdog, JUnit, GitHub
def test_gitlab_grades_by_confidence() -> None:
    issues = read("gitlab", document("gitlab", everything()))[:5]
    assert {each["check_name"]: each["severity"] for each in issues} == {
        "TNS101": "critical",
        "TNS201": "major",
        "TNS203": "critical",
        "TNS103": "minor",
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
    assert one["message"] == "`.numpy()` may fail\nFix (unsafe): in three places"
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
    assert case.attrib == {"message": "`.numpy()` may fail", "type": "likely"}
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
        found = re.fullmatch(r"::(error|warning) ((?:[a-zA-Z]+=[^,:]*,)*[a-zA-Z]+=[^,:]*)::(.*)", line)
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
    assert line.startswith("::error title=torchlint (TNS101),file=a.py,line=3,endLine=4::")


# ---------------------------------------------------------------------- through the program
@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of files with hostile names and contents, one of which cannot be read as Python."""
    names = [
        os.fsdecode(name) for name in (b"a b.py", b"new\nline.py", b"a,b:c%41.py", b"q\"'<&>]]>.py", b"\xff\xfe.py")
    ]
    for name in (*names, "\x1b[2J.py", "é日.py"):
        try:
            (tmp_path / name).write_text(
                "é = '𝒳</script>]]>'; a = w.numpy(), w.data\nw.numpy()  # noqa\n", encoding="utf-8"
            )
        except OSError:
            pytest.skip(f"this file system refuses {name!r} as a name")
    (tmp_path / "broken.py").write_bytes(b"def f(:\x0c\x1b ]]>\n")
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\r\n'\xe9'; w.numpy()")
    (tmp_path / "clean.py").write_bytes(b"x = 1\n")
    return tmp_path


@WITH_SCHEMA
def test_the_program_writes_valid_documents(output_format: str, project: Path, stand_in: Program) -> None:
    done = stand_in("--output-format", output_format)
    assert (done.status, done.stderr) == (1, "")
    read(output_format, done.raw)
    done = stand_in("--output-format", output_format, "--output-file", "out", "none.py", ".")
    assert done.status == 2
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"
    read(output_format, (project / "out").read_bytes())
    done = stand_in("--output-format", output_format, "clean.py")
    assert (done.status, done.stderr) == (0, "")
    read(output_format, done.raw)
    done = stand_in("--output-format", output_format, "-", stdin=b"w.numpy()")
    assert done.status == 1
    read(output_format, done.raw)


def test_silenced_findings_are_told_with_their_code_even_where_nothing_else_is_found(
    tmp_path: Path, stand_in: Program
) -> None:
    (tmp_path / "a.py").write_text("x = 1\nw.numpy()  # noqa\n")
    done = stand_in("--output-format", "sarif")
    assert done.status == 0
    (told,) = read("sarif", done.raw)["runs"][0]["results"]
    assert told["suppressions"] == [{"kind": "inSource", "status": "accepted"}]
    assert told["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pool's processes inherit the stand-in by fork")
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_every_format_is_the_same_for_any_number_of_processes(
    output_format: str, tmp_path: Path, stand_in: Program
) -> None:
    for number in range(24):
        (tmp_path / f"f{number:02}.py").write_text(
            HEAVY + ("CRASH\n" if number == 5 else "w.numpy(); w.data\n" * (number % 4))
        )
    alone = stand_in("--jobs", "1", "--output-format", output_format, "--no-cache")
    assert alone.status == 2
    for jobs in ("2", "3"):
        pooled = stand_in("--fork", "--jobs", jobs, "--output-format", output_format, "--no-cache")
        assert (pooled.status, pooled.raw, pooled.stderr) == (2, alone.raw, alone.stderr)


@WITH_SCHEMA
def test_real_findings_are_valid_and_their_fixes_parse(output_format: str, tmp_path: Path, torchlint: Program) -> None:
    code = (
        "import torch\nfrom torch.autograd import Variable\n\n\ndef f(net, x, 名):\n"
        "    y = Variable(torch.FloatTensor(['</script>', ']]>', '\\x01é𝒳']), volatile=True)\n"
        "    net.weight.data.normal_()\n    net.weight.data = y\n    return net(x).numpy(), torch.Tensor(名)\n"
    )
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    done = torchlint("--output-format", output_format, "--select", "ALL")
    assert (done.status, done.stderr) == (1, "")
    told = read(output_format, done.raw)
    if output_format == "sarif":
        fixes = [each for result in told["runs"][0]["results"] for each in result.get("fixes", ())]
        assert len(fixes) >= 3
        for fix in fixes:
            edits = [
                (
                    (each["deletedRegion"]["startLine"], each["deletedRegion"]["startColumn"]),
                    (each["deletedRegion"]["endLine"], each["deletedRegion"]["endColumn"]),
                    each["insertedContent"]["text"],
                )
                for each in fix["artifactChanges"][0]["replacements"]
            ]
            ast.parse(applied(code, edits, str))


def test_the_flow_of_a_real_finding_leads_through_the_files_it_speaks_of(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "nets.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
        "def predict(x):\n    net = Net()\n    return net(x)\n"
    )
    (tmp_path / "b.py").write_text(
        "from lib.nets import predict\n\n\ndef f(x):\n    y = predict(x)\n    return y.numpy()\n"
    )
    done = torchlint("--output-format", "sarif")
    (told,) = read("sarif", done.raw)["runs"][0]["results"]
    flow = [each["location"]["physicalLocation"] for each in told["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in flow] == [
        ("lib/nets.py", 10),
        ("lib/nets.py", 15),
        ("b.py", 5),
        ("b.py", 6),
    ]
    assert told["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "f"}]
