"""A notebook's JSON: its code cells in order, and where each line of their source stands in the text."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchlint.source.text import SourceError

Span = tuple[int, int]
"""From and up to a character of the JSON text."""

_BLANK = re.compile(r"[ \t\n\r]*")
_PYTHON = re.compile(r"i?python[\d.]*|pyspark|micropython", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which JSON can spell and Python cannot read."""

_NO_NOTEBOOK = "this is no Jupyter notebook"
_NO_JSON = "this notebook is no valid JSON"
_EMPTY = "this notebook is empty: remove it, or save it from Jupyter again"
_POINTER = "this is a pointer of Git LFS where a notebook should be: run `git lfs pull`"
_BEGINS_A_POINTER = "version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of Python code: its number among all cells, from 1, its source, and the JSON strings that hold it.

    ``literals`` span the strings with their quotes; ``array`` spans the list around them with its brackets and is
    None where the source is one string.
    """

    number: int
    source: str
    literals: tuple[Span, ...]
    array: Span | None


@dataclass(frozen=True, slots=True)
class NotebookJson:
    """A notebook as it was read; ``language`` is that of its kernel, None where the notebook does not say."""

    text: str
    cells: tuple[Cell, ...]
    language: str | None

    @property
    def is_python(self) -> bool:
        """Whether the kernel runs Python, as far as the notebook says."""
        return self.language is None or _PYTHON.fullmatch(self.language) is not None


def read(raw: bytes) -> NotebookJson:
    """Read a notebook of the formats 2 to 4.

    :raises SourceError: where the bytes are no UTF-8, no JSON or no notebook, at the byte where that shows.
    """
    text = _decoded(raw)
    if not text.strip():
        raise SourceError(_EMPTY)
    if text.startswith(_BEGINS_A_POINTER):
        raise SourceError(_POINTER)
    try:
        return _Reader(text).document()
    except _Refused as refused:
        raise SourceError(refused.message, len(text[: refused.at].encode())) from None


def _decoded(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or raw[:2] in (b"{\0", b"\0{"):
        raise SourceError("this notebook is UTF-16 or UTF-32, not UTF-8: save it as UTF-8")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8, which notebooks are stored in: save it as UTF-8"
        raise SourceError(message, error.start) from None


class _Refused(Exception):
    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message, self.at = message, at


@dataclass(frozen=True, slots=True)
class _Lines:
    """The value of a `source`: its text and where it stands."""

    text: str
    literals: tuple[Span, ...]
    array: Span | None
    at: int


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A value that is not what a notebook has in its place; it matters only where the value is asked for."""

    expected: str
    at: int


_Read = tuple[object, int]
"""A value and the position behind it."""


class _Reader:
    """Walks the JSON down to the sources of the cells; what lies beside the way is stepped over by the stdlib."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Numbers stay as spelled: nothing is asked of them, and one of ten thousand digits is none of Python's.
        self._decode = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode).raw_decode

    def document(self) -> NotebookJson:
        start = self._step(1 if self._text.startswith("\ufeff") else 0)
        if self._text[start : start + 1] != "{":
            self._value(start)  # says what is wrong with the JSON, if that is what is wrong
            raise _Refused(f"{_NO_NOTEBOOK}: it begins with no object", start)
        top, end = self._object(start, {"cells": self._cells, "worksheets": self._worksheets})
        if (rest := self._step(end)) != len(self._text):
            raise _Refused(f"{_NO_JSON}: something follows behind its end", rest)
        version = top.get("nbformat")
        if version not in (None, b"2", b"3", b"4"):
            named = version.decode() if isinstance(version, bytes) else str(version)
            raise _Refused(f"this notebook is of format {named[:20]}; formats 2 to 4 can be read", start)
        key = "worksheets" if version in (b"2", b"3") or "cells" not in top else "cells"
        if key not in top:
            raise _Refused(f"{_NO_NOTEBOOK}: it has no `cells`", start)
        cells = _elements(top[key])
        code = [cell for number, each in enumerate(cells, 1) if (cell := _code_cell(number, each)) is not None]
        return NotebookJson(self._text, tuple(code), _language(top.get("metadata")))

    # ------------------------------------------------------------------ JSON
    def _step(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        assert found is not None
        return found.end()

    def _value(self, at: int) -> _Read:
        try:
            return self._decode(self._text, at)
        except json.JSONDecodeError as error:
            raise _Refused(f"{_NO_JSON}: {error.msg}", error.pos) from None
        except RecursionError:
            raise _Refused("the notebook's JSON is nested too deeply", at) from None

    def _mark(self, at: int, *expected: str) -> tuple[str, int]:
        """Step over blanks to one of some marks; give it and the position behind it."""
        at = self._step(at)
        mark = self._text[at : at + 1]
        if mark not in expected:
            raise _Refused(f"{_NO_JSON}: Expecting {' or '.join(map(repr, expected))}", at)
        return mark, at + 1

    def _object(self, at: int, readers: Mapping[str, Callable[[int], _Read]]) -> tuple[dict[str, object], int]:
        """Read an object, some keys by readers of their own; of a key that comes twice the last counts."""
        found: dict[str, object] = {}
        at = self._step(at + 1)
        if self._text[at : at + 1] == "}":
            return found, at + 1
        while True:
            self._mark(at, '"')
            key, at = self._value(at)
            _, at = self._mark(at, ":")
            found[str(key)], at = readers.get(str(key), self._value)(self._step(at))
            mark, at = self._mark(at, ",", "}")
            if mark == "}":
                return found, at
            at = self._step(at)

    def _array(self, at: int, reader: Callable[[int], _Read]) -> tuple[list[object], list[Span], int]:
        """Read a list by a reader of its elements; give them, where they stand, and the position behind the list."""
        found: list[object] = []
        spans: list[Span] = []
        start = self._step(at + 1)
        if self._text[start : start + 1] == "]":
            return found, spans, start + 1
        while True:
            value, end = reader(start)
            found.append(value)
            spans.append((start, end))
            mark, at = self._mark(end, ",", "]")
            if mark == "]":
                return found, spans, at
            start = self._step(at)

    # ------------------------------------------------------------------ notebooks
    def _cells(self, at: int) -> _Read:
        if self._text[at : at + 1] != "[":
            return _Unreadable("`cells` is no list", at), self._value(at)[1]
        cells, _, end = self._array(at, self._cell)
        return cells, end

    def _worksheets(self, at: int) -> _Read:
        if self._text[at : at + 1] != "[":
            return _Unreadable("`worksheets` is no list", at), self._value(at)[1]
        sheets, _, end = self._array(at, self._sheet)
        return [cell for cells in sheets for cell in _elements(cells)], end

    def _sheet(self, at: int) -> _Read:
        if self._text[at : at + 1] != "{":
            return _Unreadable("a worksheet is no object", at), self._value(at)[1]
        sheet, end = self._object(at, {"cells": self._cells})
        return sheet.get("cells", []), end

    def _cell(self, at: int) -> _Read:
        if self._text[at : at + 1] != "{":
            return _Unreadable("a cell is no object", at), self._value(at)[1]
        return self._object(at, {"source": self._lines, "input": self._lines})

    def _lines(self, at: int) -> _Read:
        if self._text[at : at + 1] != "[":
            value, end = self._value(at)
            if not isinstance(value, str):
                return _Unreadable("the source of a cell is neither text nor a list of texts", at), end
            return _Lines(value, ((at, end),), None, at), end
        lines, spans, end = self._array(at, self._value)
        if not all(isinstance(each, str) for each in lines):
            return _Unreadable("the source of a cell holds what is no text", at), end
        return _Lines("".join(map(str, lines)), tuple(spans), (at, end), at), end


def _elements(value: object) -> list[object]:
    if isinstance(value, _Unreadable):
        raise _Refused(f"{_NO_NOTEBOOK}: {value.expected}", value.at)
    assert isinstance(value, list)
    return value


def _code_cell(number: int, cell: object) -> Cell | None:
    """Make a cell; None for what holds no Python: text, raw cells, and code that the cell itself says is other."""
    if isinstance(cell, _Unreadable):
        raise _Refused(f"{_NO_NOTEBOOK}: {cell.expected}", cell.at)
    assert isinstance(cell, dict)
    if cell.get("cell_type") != "code" or not _speaks_python(cell):
        return None
    lines = cell.get("source", cell.get("input"))
    if isinstance(lines, _Unreadable):
        raise _Refused(f"{_NO_NOTEBOOK}: {lines.expected}", lines.at)
    if lines is None:
        return None
    assert isinstance(lines, _Lines)
    return Cell(number, _SURROGATE.sub("\ufffd", lines.text), lines.literals, lines.array)


def _speaks_python(cell: Mapping[str, object]) -> bool:
    """Whether nothing in a cell names another language: format 3 has a key for it, editors with many languages too."""
    editor = _within(cell.get("metadata"), "vscode")
    named = (cell.get("language"), _within(editor, "languageId"))
    return all(_PYTHON.fullmatch(each) for each in named if isinstance(each, str))


def _language(metadata: object) -> str | None:
    named = (
        _within(_within(metadata, "language_info"), "name"),
        _within(_within(metadata, "kernelspec"), "language"),
        _within(metadata, "language"),
    )
    return next((each for each in named if isinstance(each, str)), None)


def _within(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
"""What spells one character of the value."""

_NEWLINE = re.compile(r"\\n|\\u000[aA]")


def positions(text: str, literal: Span) -> list[int]:
    """Return where each character of a string's value is spelled, and last where the string's closing quote stands."""
    start, end = literal[0] + 1, literal[1] - 1
    if text.find("\\", start, end) < 0:
        return list(range(start, end + 1))
    return [*(found.start() for found in _CHARACTER.finditer(text, start, end)), end]


def spelled(value: str, ascii_only: bool) -> str:
    """Spell text for a JSON string, without the quotes."""
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def rows(content: str) -> list[str]:
    """Part the spelled content of a string behind each newline of its value, as notebooks keep their lines."""
    found, last = [], 0
    for character in _CHARACTER.finditer(content):
        if _NEWLINE.fullmatch(character[0]):
            found.append(content[last : character.end()])
            last = character.end()
    return [*found, content[last:]] if last < len(content) else found
