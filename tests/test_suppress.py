"""Suppressions: which comment silences which finding, and what is no comment."""

from __future__ import annotations

import pytest

from torchlint.diagnostics.model import Confidence, Finding
from torchlint.source.text import Source, decode
from torchlint.suppression.apply import split


def marked(source: Source, code: str = "TNS101") -> list[Finding]:
    """Return a finding at every ``HIT``."""
    at, found = source.utf8.find(b"HIT"), []
    while at >= 0:
        found.append(Finding(code, "x", at, at + 3, "m", Confidence.CERTAIN))
        at = source.utf8.find(b"HIT", at + 1)
    return found


def silenced(text: str, code: str = "TNS101", noqa: bool = True) -> list[bool]:
    source = decode("a.py", text.encode())
    findings = marked(source, code)
    kept, suppressed = split(source, findings, noqa)
    assert sorted((*kept, *suppressed), key=lambda each: each.start) == findings
    return [each in suppressed for each in findings]


@pytest.mark.parametrize(
    ("comment", "quiet"),
    [
        ("# noqa", True),
        ("#noqa", True),
        ("# NOQA", True),
        ("# noqa: TNS101", True),
        ("# noqa:TNS101", True),
        ("# noqa: tns101", True),
        ("# noqa: E501,TNS101", True),
        ("# noqa: E501, TNS101 and why", True),
        ("# noqa: E501 TNS101", True),
        ("# noqa: TNS1", True),
        ("# noqa: E501", False),
        ("# noqa: TNS102", False),
        ("# noqa: TNS2", False),
        ("# type: ignore # noqa: TNS101", True),
        ("# noqa : TNS999", True),
        ("# noqaish", False),
        ("# torchlint: ignore", True),
        ("# torchlint:ignore", True),
        ("# Torchlint: Ignore[TNS101]", True),
        ("# torchlint: ignore[TNS101, TNS2] it is a leaf", True),
        ("# torchlint: ignore[TNS2, tns1]", True),
        ("# torchlint: ignore[numpy-on-grad-tensor]", True),
        ("# torchlint: ignore[data-read]", False),
        ("# torchlint: ignore[]", False),
        ("# torchlint: ignored", False),
        ("# torchlint: ignore-file", False),
        ("# ruff: noqa", False),
        ("# flake8: noqa", False),
        ("# nothing", False),
    ],
)
def test_a_comment_behind_the_code(comment: str, quiet: bool) -> None:
    assert silenced(f"a = HIT  {comment}\nb = HIT\n") == [quiet, False]


@pytest.mark.parametrize(
    ("comment", "quiet"),
    [
        ("# torchlint: ignore-file", True),
        ("# torchlint: ignore-file[TNS101]", True),
        ("# torchlint: ignore-file[TNS2]", False),
        ("# flake8: noqa", True),
        ("# FLAKE8: NOQA", True),
        ("# flake8: noqa: TNS1", True),
        ("# flake8: noqa: E501", False),
        ("# ruff: noqa", True),
        ("# ruff: noqa: TNS101, E501", True),
        ("# ruff: noqa: TNS102", False),
        ("# noqa", False),
        ("# torchlint: ignore", False),
    ],
)
def test_a_comment_on_a_line_of_its_own(comment: str, quiet: bool) -> None:
    assert silenced(f"a = HIT\n{comment}\nb = HIT\n") == [quiet, quiet]


@pytest.mark.parametrize(
    ("text", "quiet"),
    [
        ("a = f(  # noqa\n    1,\n    HIT,\n)\n", [True]),
        ("a = f(\n    1,\n    HIT,\n)  # noqa\n", [True]),
        ("a = f(\n    1,  # noqa\n    HIT,\n    2,\n)\n", [False]),
        ("a = f(\n    HIT,  # noqa\n    HIT,\n)\n", [True, False]),
        ("a = HIT + \\\n    HIT  # noqa\n", [True, True]),
        ("if HIT:  # noqa\n    b = HIT\n", [True, False]),
        ("if (HIT and\n        HIT):  # noqa\n    pass\n", [True, True]),
        ("a = HIT  # noqa\r\nb = HIT\r\n", [True, False]),
        ("a = HIT  # noqa\rb = HIT\r", [True, False]),
        ('s = """\n# noqa\n"""; a = HIT\n', [False]),
        ('a = "# noqa", HIT\n', [False]),
        ('a = "# torchlint: ignore-file"\nHIT\n', [False]),
        ('"""\n# torchlint: ignore-file\n"""\nHIT\n', [False]),
        ("é = 'ü'; HIT  # noqa\nHIT\n", [True, False]),
        ("x = 1\n\x0cHIT  # noqa\n", [True]),
        ("HIT  # noqa", [True]),
    ],
)
def test_the_logical_line_counts_by_its_first_and_last_row(text: str, quiet: list[bool]) -> None:
    assert silenced(text) == quiet


@pytest.mark.parametrize(
    "broken",
    [
        "x = (\n",
        "  x = 1\n y = 2\n",
        'x = """\n',
        "x = 'abc\n",
        "\tif x:\n        y\n    z\n",
        "$ ? !\n",
        "x = 0777 08\n",
    ],
)
def test_what_tokenize_cannot_read_is_still_read_for_comments(broken: str) -> None:
    head = "a = HIT  # noqa\nb = HIT\n'# noqa'; c = HIT\n"
    assert silenced(head + broken) == [True, False, False]


def test_comments_behind_the_place_where_tokenize_gives_up_count() -> None:
    assert silenced("if 1:\n    a\n  b\nc = HIT  # noqa\nd = HIT\n'''\n# noqa\n'''\n") == [True, False]


def test_a_host_that_honours_noqa_gets_only_our_own_comments_applied() -> None:
    text = "# flake8: noqa\na = HIT  # noqa\nb = HIT  # torchlint: ignore\n"
    assert silenced(text, noqa=False) == [False, True]


def test_a_syntax_error_cannot_be_silenced() -> None:
    assert silenced("# torchlint: ignore-file\nHIT  # noqa\n", "TNS900") == [False]
