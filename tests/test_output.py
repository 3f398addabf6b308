"""The formats: every field, every escape, and the page for people at 80 columns."""

from __future__ import annotations

import json
import re

import pytest

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, IS_TENSOR, Decision
from torchlint.diagnostics.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, Severity
from torchlint.output import renderer, summary
from torchlint.output.diff import shown, unified
from torchlint.output.report import Report
from torchlint.output.screen import Screen, code, columns, printable
from torchlint.source.text import decode


def finding(text: str, word: str, **changes: object) -> tuple[bytes, Finding]:
    raw = text.encode()
    at = raw.index(word.encode())
    fields = {
        "message": "`.numpy()` may fail",
        "confidence": Confidence.CERTAIN,
        "why": ("first step", "second step"),
        "fix": Fix("insert `.detach()`", (Edit(at, at, "detach()."),)),
        **changes,
    }
    return raw, Finding("TNS101", "numpy-on-grad-tensor", at, at + len(word.encode()), **fields)  # type: ignore[arg-type]


def report(text: str, word: str = "numpy", path: str = "a.py", unsafe: bool = False, **changes: object) -> Report:
    raw, found = finding(text, word, **changes)
    return Report((FileResult(path, decode(path, raw), (found,)),), unsafe_fixes=unsafe)


def lines(output_format: str, given: Report, screen: Screen | None = None) -> list[str]:
    return "\n".join(renderer(output_format)(given, screen or Screen())).split("\n")


def test_concise() -> None:
    assert lines("concise", report("é = w.numpy()\n")) == [
        "a.py:1:7: TNS101 [*] `.numpy()` may fail [warning, certain]"
    ]


def of_several_files() -> Report:
    """Two findings in one file, on rows of unlike width, and one in another."""
    text = "w.numpy()\n" + "\n" * 9 + "  w.cpu()\n"
    raw, first = finding(text, "numpy")
    _, second = finding(text, "cpu", fix=None)
    both = FileResult("a.py", decode("a.py", raw), (first, second))
    return Report((both, FileResult("clean.py", decode("clean.py", b"")), *report("w.numpy()\n", path="b.py").results))


def test_grouped_aligns_the_findings_of_a_file_under_its_name() -> None:
    assert lines("grouped", of_several_files()) == [
        "a.py:",
        "  1:3   TNS101 [*] `.numpy()` may fail [warning, certain]",
        "  11:5  TNS101 `.numpy()` may fail [warning, certain]",
        "",
        "b.py:",
        "  1:3  TNS101 [*] `.numpy()` may fail [warning, certain]",
        "",
    ]
    plain = "\n".join(lines("grouped", of_several_files()))
    colored = "\n".join(lines("grouped", of_several_files(), Screen(color=True)))
    assert colored != plain == re.sub(r"\x1b\[[\d;]*m", "", colored)


def test_pylint_is_a_line_without_a_column() -> None:
    assert lines("pylint", of_several_files()) == [
        "a.py:1: [TNS101] `.numpy()` may fail",
        "a.py:11: [TNS101] `.numpy()` may fail",
        "b.py:1: [TNS101] `.numpy()` may fail",
    ]


def test_json_has_these_fields_and_counts_characters_from_1() -> None:
    (told,) = json.loads("\n".join(lines("json", report("x = 1\né = w.numpy()\n"))))
    assert told == {
        "cell": None,
        "code": "TNS101",
        "confidence": "certain",
        "end_location": {"column": 12, "row": 2},
        "filename": "a.py",
        "fix": {
            "applicability": "safe",
            "assumptions": [],
            "edits": [
                {"content": "detach().", "end_location": {"column": 7, "row": 2}, "location": {"column": 7, "row": 2}}
            ],
            "message": "insert `.detach()`",
        },
        "location": {"column": 7, "row": 2},
        "message": "`.numpy()` may fail",
        "name": "numpy-on-grad-tensor",
        "noqa_row": 2,
        "severity": "warning",
        "url": "https://torchlint.readthedocs.io/rules/TNS101/",
        "why": ["first step", "second step"],
    }


def test_json_of_nothing_is_an_empty_list_and_of_no_fix_is_null() -> None:
    assert lines("json", Report(())) == ["[]"]
    (told,) = json.loads("\n".join(lines("json", report("w.numpy()\n", fix=None, why=()))))
    assert (told["fix"], told["why"]) == (None, [])
    (told,) = json.loads("\n".join(lines("json", report("w.numpy()\n", path="\udcff.py"))))
    assert told["filename"] == "\udcff.py"


def test_github_escapes_what_its_commands_are_made_of() -> None:
    given = report("w.numpy()\n", path="a,b:c%d.py", message="50% of\n::error::x")
    assert lines("github", given) == [
        "::warning title=torchlint (TNS101),file=a%2Cb%3Ac%25d.py,line=1,col=3,endLine=1,endColumn=8"
        "::a,b:c%25d.py:1:3: TNS101 50%25 of%0A::error::x"
    ]
    given = report("w.numpy()\n", confidence=Confidence.POSSIBLE)
    assert lines("github", given)[0].startswith("::warning title=")


def test_full_shows_the_line_the_steps_and_the_fix() -> None:
    assert lines("full", report("x = 1\n\ty = w.numpy()  # é\n")) == [
        "TNS101 [*] `.numpy()` may fail",
        " --> a.py:2:8 numpy-on-grad-tensor (warning, certain)",
        "  |",
        "2 |     y = w.numpy()  # é",
        "  |           ^^^^^",
        "  = why: first step",
        "  = why: second step",
        "  = fix: insert `.detach()`",
        "    -     y = w.numpy()  # é",
        "    +     y = w.detach().numpy()  # é",
        "",
    ]


def test_full_in_color_differs_by_nothing_but_color() -> None:
    import re

    given = report("y = w.numpy()\n")
    colored = lines("full", given, Screen(color=True))
    assert colored[0] == "\x1b[33mTNS101\x1b[0m \x1b[36m[*]\x1b[0m `.numpy()` may fail"
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in colored] == lines("full", given)


_ASSUMING = "; assumes that `w` is a tensor of torch (unsafe: with --unsafe-fixes)"


@pytest.mark.parametrize(
    ("decision", "unsafe", "mark", "note"),
    [
        (IS_TENSOR.proven(of="w"), False, True, ""),
        (IS_TENSOR.open("w"), False, False, _ASSUMING),
        (IS_TENSOR.open("w"), True, True, _ASSUMING),
        (AUTHOR_MEANT_THIS.open(), True, False, "; assumes that this is what was meant (shown only, never applied)"),
    ],
)
def test_full_says_what_a_fix_promises(decision: Decision, unsafe: bool, mark: bool, note: str) -> None:
    fix = Fix("t", (Edit(2, 2, "detach()."),), (decision,))
    shown_lines = lines("full", report("w.numpy()\n", fix=fix, unsafe=unsafe))
    assert ("[*]" in shown_lines[0]) is mark
    assert f"  = fix: t{note}" in " ".join(" ".join(shown_lines).split()).replace(" = fix", "  = fix")


def test_full_keeps_to_80_columns() -> None:
    text = "    " + "alpha + " * 30 + "w.numpy() + " + "omega + " * 30 + "1\n"
    given = report(text, message="word " * 40, why=("step " * 40,))
    shown_lines = lines("full", given)
    assert max(columns(line) for line in shown_lines) <= 80
    source = next(line for line in shown_lines if line.startswith("1 |"))
    caret = shown_lines[shown_lines.index(source) + 1]
    assert source[caret.index("^") : caret.rindex("^") + 1] == "numpy"


def test_full_puts_the_caret_under_wide_characters_and_escapes() -> None:
    shown_lines = lines("full", report("'日本', '\x1b[31m'; w.numpy()\n"))
    assert shown_lines[3] == "1 | '日本', '\\x1b[31m'; w.numpy()"
    assert shown_lines[4] == "  | " + " " * columns("'日本', '\\x1b[31m'; w.") + "^^^^^"


def test_full_shows_a_fix_in_two_places_as_two_pieces() -> None:
    text = "import torch\n" + "x = 1\n" * 5 + "w.numpy()\n"
    at = text.index("numpy")
    fix = Fix("t", (Edit(at, at, "cpu()."), Edit(13, 13, "import os\n")))
    shown_lines = lines("full", report(text, fix=fix))
    assert shown_lines[-5:] == ["  = fix: t", "    + import os", "    - w.numpy()", "    + w.cpu().numpy()", ""]


def test_full_cuts_a_long_fix_short() -> None:
    fix = Fix("t", (Edit(0, 0, "x\n" * 40),))
    shown_lines = lines("full", report("w.numpy()\n", fix=fix))
    assert shown_lines[-2] == "    …"
    assert shown_lines.count("    + x") == 12


def test_hostile_text_is_escaped() -> None:
    assert printable("a\x1b]0;x\x07\r\n\u202e\udcff\x9b\ufeff") == "a\\x1b]0;x\\x07\\x0d\\x0a\\u202e\\udcff\\x9b\\ufeff"
    assert code("\tx\x00") == "    x\\x00"
    for output_format in ("full", "concise", "grouped", "pylint", "github"):
        told = "".join(lines(output_format, report("w.numpy()  # \x1b[2J\n", path="\x1b[2J.py", message="\x1b[2J")))
        assert "\x1b" not in told


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        (b"a\n", b"b\n", b"--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n"),
        (b"a", b"a\n", b"--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        (b"a\x0c\xff\r\n", b"b\r\n", b"--- x\n+++ x\n@@ -1 +1 @@\n-a\x0c\xff\r\n+b\r\n"),
        (b"", b"a\n", b"--- x\n+++ x\n@@ -0,0 +1 @@\n+a\n"),
        (b"a\n", b"a\n", b""),
    ],
)
def test_a_diff_is_byte_for_byte(before: bytes, after: bytes, patch: bytes) -> None:
    assert unified("x", before, after) == patch


def test_a_diff_on_a_terminal_is_colored_and_escaped() -> None:
    told = shown(b"--- x\n+++ x\n@@ -1 +1 @@\n-a\x1b\r\n+\tb\r\n", Screen(color=True))
    assert told == (
        "\x1b[1m--- x\x1b[0m\n\x1b[1m+++ x\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n"
        "\x1b[1;31m-a\\x1b\x1b[0m\n\x1b[32m+\tb\x1b[0m\n"
    )


def some(*applicabilities: Applicability | None) -> Report:
    fixes = [None if each is None else Fix("t", (), overruled=each) for each in applicabilities]
    found = tuple(Finding("TNS101", "n", 0, 0, "m", Confidence.CERTAIN, (), fix) for fix in fixes)
    return Report((FileResult("a.py", None, found),))


def parted(*kinds: tuple[Severity, Applicability | None, int]) -> Report:
    found = [
        Finding("TNS101", "n", 0, 0, "m", Confidence.CERTAIN, (), fix and Fix("t", (), overruled=fix), severity)
        for severity, fix, count in kinds
        for _ in range(count)
    ]
    return Report((FileResult("a.py", None, tuple(found)),))


SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (some(), "All checks passed!"),
        (some(None), "Found 1 hazard."),
        (
            parted(
                (Severity.WARNING, SAFE, 3),
                (Severity.ERROR, None, 9),
                (Severity.LEGACY, SAFE, 71),
                (Severity.LEGACY, UNSAFE, 6),
                (Severity.LEGACY, None, 8),
            ),
            "Found 12 hazards (3 fixable), 85 legacy (71 fixable): fix with --fix, 6 more with --unsafe-fixes.",
        ),
        (some(SAFE, SAFE, UNSAFE), "Found 3 hazards (2 fixable): fix with --fix, 1 more with --unsafe-fixes."),
        (some(UNSAFE, None, DISPLAY), "Found 3 hazards: 1 with --unsafe-fixes."),
    ],
)
def test_the_summary(given: Report, line: str) -> None:
    assert list(summary.render(given, Screen())) == [line]


def test_full_cuts_a_long_line_around_what_the_fix_changes() -> None:
    text = "alpha + " * 15 + "w.numpy() + " + "omega + " * 15 + "1\n"
    removed, added = lines("full", report(text))[-3:-1]
    assert "w.numpy()" in removed
    assert "w.detach().numpy()" in added
    assert max(columns(removed), columns(added)) <= 80
