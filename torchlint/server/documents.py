"""What is open in the editor and checked as one file: a document of text, or a notebook with its cells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import unquote, urlsplit

from lsprotocol.types import Location, NotebookCellKind, Position, Range, TextEdit
from pygls.uris import to_fs_path

from torchlint.diagnostics.model import Finding
from torchlint.diagnostics.splice import splice
from torchlint.discovery.walk import SUFFIXES
from torchlint.output.report import Step
from torchlint.server.editor_text import Text
from torchlint.source import notebook_json as stored
from torchlint.source.edits import replacements
from torchlint.source.notebook import SUFFIX
from torchlint.source.notebook_module import Notebook
from torchlint.source.text import Source, decode, encoded

PYTHON = "python"
"""The protocol's name of the language."""

Edits = Mapping[str, list[TextEdit]]
"""What is to be changed in which document, by address."""


@dataclass
class Document:
    """One text that the editor holds: a file, or a cell."""

    uri: str
    language: str
    version: int
    text: Text


class Open(Protocol):
    """What is checked as one file."""

    @property
    def uri(self) -> str:
        """Its address."""

    @property
    def documents(self) -> Iterable[Document]:
        """The texts that it consists of: diagnostics are told for each."""

    @property
    def is_code(self) -> bool:
        """Whether it is anything to be checked."""

    @property
    def raw(self) -> bytes:
        """The bytes that would be on disk if it were saved now."""

    def kept(self) -> Open:
        """Return it as it is now, to be looked at while the editor goes on changing it."""

    def span(self, source: Source, start: int, end: int) -> Location | None:
        """Return the place of two offsets of a source; None where it is no place in what is open."""

    def cited(self, step: Step) -> Location | None:
        """Return the row that a step of a reason names, where it stands in what is open."""

    def offset(self, source: Source, uri: str, position: Position) -> int | None:
        """Return the offset of a place; None where linting does not read what stands there."""

    def repaired(self, source: Source, finding: Finding) -> Edits:
        """Return the edits of one finding's fix."""

    def rewritten(self, raw: bytes) -> Edits:
        """Return the edits that make what is open the same as bytes that linting has written."""


def path_of(uri: str) -> str | None:
    """Return the path of a file's address; None for a text that has no file, such as ``untitled:Untitled-1``."""
    return os.path.normpath(path) if uri.startswith("file:") and (path := to_fs_path(uri)) else None


def name_of(uri: str) -> str:
    """Return the name of a text that has no file."""
    return os.path.basename(unquote(urlsplit(uri).path)) or "untitled"


@dataclass
class Script:
    """A document of text; of a notebook that is open as text, its JSON."""

    document: Document

    @property
    def uri(self) -> str:
        """Its address."""
        return self.document.uri

    @property
    def documents(self) -> Iterable[Document]:
        """Itself."""
        return (self.document,)

    @property
    def is_code(self) -> bool:
        """Whether the editor, or the ending of its name, says that it is Python or a notebook."""
        return self.document.language == PYTHON or urlsplit(self.uri).path.endswith(SUFFIXES)

    def kept(self) -> Script:
        """Return it as it is now."""
        return Script(replace(self.document))

    @property
    def raw(self) -> bytes:
        """Its text in the encoding that it declares."""
        return encoded(self.document.text.text)

    def span(self, source: Source, start: int, end: int) -> Location | None:
        """Return the place of two offsets."""
        first, last = source.stored(start), source.stored(end, start)
        text = self.document.text
        return Location(self.uri, Range(text.position(*first), text.position(*last)))

    def cited(self, step: Step) -> Location | None:
        """Return the row that a step names."""
        return Location(self.uri, self.document.text.row(step.row)) if step.row is not None else None

    def offset(self, source: Source, uri: str, position: Position) -> int | None:
        """Return the offset of a place; None in the JSON of a notebook."""
        del uri
        return None if isinstance(source, Notebook) else _offset(source, *self.document.text.address(position))

    def repaired(self, source: Source, finding: Finding) -> Edits:
        """Return the edits of one finding's fix."""
        text, edits = self.document.text, finding.fix.edits if finding.fix is not None else ()
        changes = [
            TextEdit(Range(text.position(*each.start), text.position(*each.end)), each.text)
            for each in replacements(source, edits)
        ]
        return {self.uri: changes}

    def rewritten(self, raw: bytes) -> Edits:
        """Return the rows that differ."""
        source = decode(self.uri, raw)
        mark = "\ufeff" if self.document.text.text.startswith("\ufeff") else ""
        return {self.uri: self.document.text.edits(mark + source.text)}


@dataclass
class Cells:
    """A notebook: its cells make one module."""

    uri: str
    version: int
    kinds: list[tuple[NotebookCellKind, str]] = field(default_factory=list)
    """Of every cell, in order, what it is and its document's address."""
    texts: dict[str, Document] = field(default_factory=dict)

    @property
    def documents(self) -> Iterable[Document]:
        """The cells that hold Python."""
        return (self.texts[uri] for kind, uri in self.kinds if self._is_python(kind, uri))

    @property
    def is_code(self) -> bool:
        """A notebook always is."""
        return True

    def kept(self) -> Cells:
        """Return it as it is now."""
        return Cells(self.uri, self.version, [*self.kinds], {uri: replace(each) for uri, each in self.texts.items()})

    def _is_python(self, kind: NotebookCellKind, uri: str) -> bool:
        return kind is NotebookCellKind.Code and uri in self.texts and self.texts[uri].language == PYTHON

    @property
    def raw(self) -> bytes:
        """A notebook that holds these cells; those of other languages hold no code."""
        cells = [
            {"cell_type": "code", "source": self.texts[uri].text.text}
            if self._is_python(kind, uri)
            else {"cell_type": "raw", "source": ""}
            for kind, uri in self.kinds
        ]
        return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()

    def span(self, source: Source, start: int, end: int) -> Location | None:
        """Return the place of two offsets, which is in the cell of the first."""
        cell = source.cell(source.position(start)[0])
        if cell is None:
            return None
        document = self._cell(cell)
        first, last = source.address(start), source.address(end, start)
        return Location(document.uri, Range(document.text.position(*first), document.text.position(*last)))

    def cited(self, step: Step) -> Location | None:
        """Return the row of a cell that a step names."""
        if step.inside is None:
            return None
        document = self._cell(step.inside[0])
        return Location(document.uri, document.text.row(step.inside[1]))

    def _cell(self, number: int) -> Document:
        return self.texts[self.kinds[number - 1][1]]

    def offset(self, source: Source, uri: str, position: Position) -> int | None:
        """Return the offset of a place in a cell."""
        number = next((at for at, (_, each) in enumerate(self.kinds, start=1) if each == uri), 0)
        rows = source.rows_of(number) if isinstance(source, Notebook) else None
        if rows is None or not isinstance(source, Notebook):
            return None
        row, column = self.texts[uri].text.address(position)
        part = next(each for each in source.parts if each.cell.number == number)
        return _offset(source, rows[min(row, len(rows)) - 1], max(column - part.dropped(row - 1), 1))

    def repaired(self, source: Source, finding: Finding) -> Edits:
        """Return the edits of one finding's fix."""
        return self.rewritten(splice(source, [finding]).raw)

    def rewritten(self, raw: bytes) -> Edits:
        """Return the rows that differ, cell by cell."""
        found = {}
        for cell in stored.read(raw).cells:
            document = self._cell(cell.number)
            if edits := document.text.edits(cell.source):
                found[document.uri] = edits
        return found


def named_as_notebook(name: str) -> str:
    """Return a notebook's name with the ending by which notebooks are known."""
    return name if name.endswith(SUFFIX) else name + SUFFIX


def _offset(source: Source, row: int, column: int) -> int:
    """Return the offset of a row and a column, both from 1, the column in characters."""
    row = min(row, len(source.line_starts))
    return source.line_starts[row - 1] + len(source.line(row)[: column - 1].encode())
