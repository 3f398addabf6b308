"""Splicing: every byte outside an edit is kept, nothing is taken twice, nothing is lost."""

from __future__ import annotations

import codecs
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.diagnostics.model import Confidence, Edit, Finding, Fix
from torchlint.diagnostics.splice import splice
from torchlint.source.text import Source, decode

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def finding(*edits: Edit) -> Finding:
    fix = Fix("repair", edits)
    return Finding("TNS201", "data-read", edits[0].start, edits[0].end, "message", Confidence.CERTAIN, (), fix)


def source(text: str, encoding: str = "utf-8", bom: bool = False) -> Source:
    raw = (codecs.BOM_UTF8 if bom else b"") + text.encode(encoding)
    return Source("some.py", raw, text, encoding, bom)


# ---------------------------------------------------------------------- one edit at a time
@pytest.mark.parametrize(
    "raw",
    [
        b"y = w.data\n",
        codecs.BOM_UTF8 + b"y = w.data\n",
        b"y = w.data",
        b"a = 1\r\ny = w.data\r\n",
        b"a = 1\ry = w.data\r",
        b"# coding: latin-1\n# \xe9\xe8\ny = w.data  # \xff\n",
        b"\fy = w.data\n\f\n",
        b"\fif a:\n\f\ty = w.data\n\n\n",
        "# 漢🔥\nz = '漢'; y = w.data  # 🔥\n\n".encode(),
        b"if a:\n\ty = w.data \t \n  \n\\\n\n",
        b"y = w.data\r\n\n\r",
    ],
    ids=[
        "plain", "mark", "no final newline", "crlf", "cr", "latin-1", "form feed", "form feed and tab",
        "wide", "odd blanks", "mixed newlines",
    ],
)  # fmt: skip
def test_bytes_outside_the_edit_are_kept(raw: bytes) -> None:
    read = decode("some.py", raw)
    at = read.utf8.index(b"data")
    outcome = splice(read, [finding(Edit(at, at + 4, "detach()"))])
    assert outcome.raw == raw.replace(b"w.data", b"w.detach()")


def test_findings_without_a_fix_change_nothing() -> None:
    bare = Finding("TNS303", "legacy-constructor-ambiguous", 0, 1, "message", Confidence.POSSIBLE)
    read = source("x = 1\n")
    outcome = splice(read, [bare])
    assert (outcome.raw, outcome.taken, outcome.held) == (read.raw, (), ())


def test_inserted_newlines_become_the_files_own() -> None:
    outcome = splice(source("a\r\nb\r\n"), [finding(Edit(3, 3, "c\nd\r\ne\n"))])
    assert outcome.raw == b"a\r\nc\r\nd\r\ne\r\nb\r\n"


def test_text_that_the_encoding_cannot_hold_is_an_error() -> None:
    with pytest.raises(UnicodeEncodeError):
        splice(source("abc", "latin-1"), [finding(Edit(0, 1, "漢"))])


def test_edits_count_utf8_bytes_whatever_the_encoding() -> None:
    read = source("é = w.data\n", "latin-1")
    outcome = splice(read, [finding(Edit(7, 11, "detach()"))])
    assert outcome.raw == "é = w.detach()\n".encode("latin-1")


# ---------------------------------------------------------------------- several edits
def test_edits_of_one_fix_are_all_applied_whatever_their_order() -> None:
    outcome = splice(source("abcdef"), [finding(Edit(4, 5, "E"), Edit(0, 1, "A"))])
    assert outcome.raw == b"AbcdEf"


def test_a_fix_on_taken_text_is_held_and_not_half_applied() -> None:
    first, second = finding(Edit(0, 3, "X")), finding(Edit(2, 4, "Y"), Edit(5, 6, "Z"))
    outcome = splice(source("abcdef"), [first, second])
    assert (outcome.raw, outcome.taken, outcome.held) == (b"Xdef", (first,), (second,))


def test_identical_edits_are_shared() -> None:
    shared = Edit(0, 0, "import torch\n")
    first, second = finding(shared, Edit(1, 2, "B")), finding(shared, Edit(3, 4, "D"))
    outcome = splice(source("abcd"), [first, second])
    assert (outcome.raw, outcome.taken) == (b"import torch\naBcD", (first, second))


def test_two_different_insertions_at_one_place_are_not_both_taken() -> None:
    first, second = finding(Edit(1, 1, "X")), finding(Edit(1, 1, "Y"))
    outcome = splice(source("ab"), [first, second])
    assert (outcome.raw, outcome.held) == (b"aXb", (second,))


def test_an_insertion_inside_taken_text_is_held() -> None:
    first, second = finding(Edit(0, 4, "X")), finding(Edit(2, 2, "Y"))
    outcome = splice(source("abcdef"), [first, second])
    assert (outcome.raw, outcome.held) == (b"Xef", (second,))


def test_text_around_an_insertion_is_not_taken_by_another_fix() -> None:
    first, second = finding(Edit(2, 2, "Y")), finding(Edit(0, 4, "X"))
    outcome = splice(source("abcdef"), [first, second])
    assert (outcome.raw, outcome.held) == (b"abYcdef", (second,))


def test_neighbours_that_only_touch_are_both_taken() -> None:
    first, second = finding(Edit(0, 2, "X")), finding(Edit(2, 4, "Y"))
    assert splice(source("abcdef"), [first, second]).raw == b"XYef"
    assert splice(source("abcdef"), [second, first]).raw == b"XYef"


def test_a_fix_whose_own_edits_overlap_is_held() -> None:
    wrong = finding(Edit(0, 3, "X"), Edit(2, 4, "Y"))
    outcome = splice(source("abcdef"), [wrong])
    assert (outcome.raw, outcome.taken, outcome.held) == (b"abcdef", (), (wrong,))


def test_edits_of_one_fix_at_one_place_lose_no_text() -> None:
    insertion, replacement = Edit(1, 1, "X"), Edit(1, 3, "Y")
    for edits in ((insertion, replacement), (replacement, insertion)):
        assert splice(source("abcdef"), [finding(*edits)]).raw in (b"aXYdef", b"abcdef")


def test_insertions_of_one_fix_at_one_place_keep_their_order() -> None:
    both = finding(Edit(1, 1, "X"), Edit(1, 1, "Y"))
    assert splice(source("ab"), [both]).raw in (b"aXYb", b"ab")


# ---------------------------------------------------------------------- properties
LETTERS = st.text(st.sampled_from("ab .é漢🔥\t\f\n"), min_size=1, max_size=40)


@st.composite
def texts_and_fixes(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    text = draw(LETTERS)
    ends = [0]
    for character in text:
        ends.append(ends[-1] + len(character.encode()))
    edit = st.tuples(st.sampled_from(ends), st.sampled_from(ends), st.sampled_from(["", "X", "é", "Y\n"])).map(
        lambda each: Edit(min(each[:2]), max(each[:2]), each[2])
    )
    fixes = draw(st.lists(st.lists(edit, min_size=1, max_size=3, unique_by=lambda each: each.start), max_size=6))
    return text, [finding(*each) for each in fixes]


@given(texts_and_fixes())
def test_every_fix_is_taken_or_held_and_only_once(case: tuple[str, list[Finding]]) -> None:
    text, findings = case
    outcome = splice(source(text), findings)
    assert len(outcome.taken) + len(outcome.held) == len(findings)
    assert all(each in findings for each in (*outcome.taken, *outcome.held))


@given(texts_and_fixes())
def test_the_result_is_the_text_with_exactly_the_taken_edits(case: tuple[str, list[Finding]]) -> None:
    text, findings = case
    read = source(text)
    outcome = splice(read, findings)
    edits = {edit for each in outcome.taken if each.fix for edit in each.fix.edits}
    wanted = read.utf8
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        wanted = wanted[: edit.start] + edit.text.encode() + wanted[edit.end :]
    assert outcome.raw == wanted


@given(texts_and_fixes())
def test_taken_edits_do_not_overlap(case: tuple[str, list[Finding]]) -> None:
    text, findings = case
    outcome = splice(source(text), findings)
    taken = {edit for each in outcome.taken if each.fix for edit in each.fix.edits}
    edits = sorted(taken, key=lambda each: (each.start, each.end))
    for one, other in itertools.pairwise(edits):
        assert one.end <= other.start
        assert one.start < other.start


@given(texts_and_fixes(), st.sampled_from(["utf-8", "utf-16-le", "utf-8 with mark"]))
def test_the_encoding_of_the_file_does_not_matter(case: tuple[str, list[Finding]], encoding: str) -> None:
    text, findings = case
    marked = encoding == "utf-8 with mark"
    other = source(text, "utf-8" if marked else encoding, bom=marked)
    plain = splice(source(text), findings).raw.decode()
    assert splice(other, findings).raw == other.encode(plain)


@given(texts_and_fixes(), st.sampled_from(["\r\n", "\r"]))
def test_newlines_outside_edits_are_untouched(case: tuple[str, list[Finding]], newline: str) -> None:
    text, findings = case
    converted = "\n" + text  # at least one newline, so that the file has a kind
    shifted = [
        finding(*(Edit(edit.start + 1, edit.end + 1, edit.text) for edit in each.fix.edits))
        for each in findings
        if each.fix
    ]
    plain = splice(source(converted), shifted)
    moved = []
    for each in shifted:
        assert each.fix
        moved.append(finding(*(_moved(converted, edit, newline) for edit in each.fix.edits)))
    other = splice(source(converted.replace("\n", newline)), moved)
    assert other.raw == plain.raw.replace(b"\n", newline.encode())


def _moved(text: str, edit: Edit, newline: str) -> Edit:
    extra = len(newline) - 1
    raw = text.encode()
    start = edit.start + extra * raw[: edit.start].count(b"\n")
    end = edit.end + extra * raw[: edit.end].count(b"\n")
    return Edit(start, end, edit.text)
