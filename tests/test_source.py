"""A file's bytes and text: encodings, marks, newlines, and positions that agree with Python's own."""

from __future__ import annotations

import ast
import codecs
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlint.source.text import Source, SourceError, decode

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

UTF8_TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\0") | st.sampled_from("\n\r\f\t é漢🔥"), max_size=80
)
LATIN1_TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\0"), max_size=80)


def read(raw: bytes) -> Source:
    return decode("some.py", raw)


# ---------------------------------------------------------------------- decoding
def test_plain_utf8() -> None:
    source = read("x = 'é'\n".encode())
    assert (source.text, source.encoding, source.bom) == ("x = 'é'\n", "utf-8", False)
    assert source.lossless


def test_empty_file() -> None:
    source = read(b"")
    assert (source.text, source.line_starts, source.newline, source.position(0)) == ("", [0], "\n", (1, 1))
    assert source.line(1) == ""
    assert source.lossless


def test_byte_order_mark_is_no_text_and_is_written_back() -> None:
    source = read(codecs.BOM_UTF8 + b"x = 1\n")
    assert (source.text, source.bom, source.encoding) == ("x = 1\n", True, "utf-8")
    assert source.encode("y = 2\n") == codecs.BOM_UTF8 + b"y = 2\n"
    assert source.lossless


def test_latin_1_by_coding_line() -> None:
    source = read(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n")
    assert source.text.splitlines()[1] == "x = 'é'"
    assert source.encode(source.text) == source.raw
    assert source.lossless


def test_coding_line_on_the_second_row() -> None:
    assert read(b"#!/usr/bin/python\n# coding: cp1252\nx = '\x80'\n").line(3) == "x = '€'"


def test_utf_8_sig_coding_line_with_its_mark() -> None:
    source = read(codecs.BOM_UTF8 + b"# coding: utf-8-sig\nx = 1\n")
    assert source.text == "# coding: utf-8-sig\nx = 1\n"
    assert source.lossless


@pytest.mark.parametrize(
    ("raw", "words", "offset"),
    [
        (b"x = 1\ny = '\0'\n", "NUL", 11),
        (b"x = '\xe9'\n", "utf-8", 5),
        (b"x = 1\n\n\ny = '\xff'\n", "utf-8", 13),
        (b"# coding: no-such-codec\n", "no-such-codec", 0),
        (codecs.BOM_UTF8 + b"# coding: latin-1\nx = 1\n", "utf-8", 0),
        (codecs.BOM_UTF8 + b"x = 1\n\n\ny = '\xff'\n", "utf-8", 16),
        ("x = 1\n".encode("utf-16"), "", 0),
    ],
    ids=["nul", "no utf-8", "late byte", "unknown codec", "contradiction", "late byte behind a mark", "utf-16"],
)
def test_bytes_that_are_no_python_text(raw: bytes, words: str, offset: int) -> None:
    with pytest.raises(SourceError) as caught:
        read(raw)
    assert words.lower() in caught.value.message.lower()
    assert 0 <= caught.value.offset <= len(raw)
    if offset:
        assert caught.value.offset == offset


def test_a_codec_that_does_not_round_trip_is_noticed() -> None:
    raw = b"# coding: utf-7\nx = '+AGE-'\n"
    source = read(raw)
    assert source.text.endswith("x = 'a'\n")
    assert not source.lossless


@pytest.mark.parametrize("codec", ["rot13", "hex", "punycode", "undefined"])
def test_a_codec_that_is_no_text_codec_is_a_source_error(codec: str) -> None:
    with pytest.raises(SourceError):
        read(f"# coding: {codec}\nk = 1\n".encode())


def test_a_lone_surrogate_is_a_source_error_and_no_crash_later() -> None:
    with pytest.raises(SourceError):
        _ = read(b"# coding: utf-7\nk = '+2AA-'\n").utf8


# ---------------------------------------------------------------------- rows and columns
def test_columns_count_characters_and_offsets_count_bytes() -> None:
    source = read("é漢🔥 = x.data\n".encode())
    assert source.utf8.index(b"data") == 2 + 3 + 4 + 5
    assert source.position(source.utf8.index(b"data")) == (1, 9)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_each_kind_of_newline_ends_a_line(newline: str) -> None:
    source = read(newline.join(["a", "bb", "", "c"]).encode())
    assert source.newline == newline
    assert [source.line(row) for row in range(1, 5)] == ["a", "bb", "", "c"]
    assert source.position(source.utf8.index(b"c")) == (4, 1)


def test_mixed_newlines() -> None:
    source = read(b"a\r\nb\nc\rd")
    assert source.line_starts == [0, 3, 5, 7]
    assert source.newline == "\r\n"


def test_form_feed_and_other_separators_end_no_line() -> None:
    source = read("a\fb\x0bc\x1cd\x85e\u2028f\n".encode())
    assert source.line_starts == [0, len(source.utf8)]


@given(UTF8_TEXT)
def test_utf8_round_trip(text: str) -> None:
    raw = codecs.BOM_UTF8 + text.encode()
    try:
        source = read(raw)
    except SourceError:
        return  # the text happens to begin with a coding line
    assert source.text == text
    assert source.lossless


@given(LATIN1_TEXT)
def test_latin1_round_trip(text: str) -> None:
    raw = b"# coding: latin-1\n" + text.encode("latin-1")
    source = read(raw)
    assert source.text == "# coding: latin-1\n" + text
    assert source.lossless


@given(UTF8_TEXT)
def test_position_and_offset_are_each_others_inverse(text: str) -> None:
    source = Source("some.py", text.encode(), text)
    at = 0
    for index, character in enumerate(text):
        row, column = source.position(at)
        line_start = source.line_starts[row - 1]
        assert source.offset(row, at - line_start) == at
        assert source.slice(line_start, at) == text[index - (column - 1) : index]
        at += len(character.encode())


@given(UTF8_TEXT)
def test_lines_and_slices_cover_the_text(text: str) -> None:
    source = Source("some.py", text.encode(), text)
    bounds = [*source.line_starts, len(source.utf8)]
    assert "".join(source.slice(*pair) for pair in itertools.pairwise(bounds)) == text
    for row in range(1, len(source.line_starts) + 1):
        assert "\n" not in source.line(row)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n\fy = w.data\n",
        "def f():\n\tif a:\n\t\ty = w.data\n",
        "é = '漢'; y = w.data",
        "a = '''\r\n\r\n'''\r\ny = w.data\r\n",
        "class A:\n\f    def f(self):\n        y = w.data\n",
        "x = '\x0b\x1c\x85\u2028'\ny = w.data\n",
        "if a:\r    y = w.data\r",
    ],
    ids=["form feed", "tabs", "wide characters", "crlf in a string", "form feed and indent", "separators", "cr"],
)
def test_offsets_agree_with_the_stdlib_parser(text: str) -> None:
    source = read(text.encode())
    nodes = [node for node in ast.walk(ast.parse(source.text)) if isinstance(node, ast.Attribute)]
    assert len(nodes) == 1
    start = source.offset(nodes[0].lineno, nodes[0].col_offset)
    assert nodes[0].end_lineno is not None
    assert nodes[0].end_col_offset is not None
    end = source.offset(nodes[0].end_lineno, nodes[0].end_col_offset)
    assert source.slice(start, end) == "w.data"
