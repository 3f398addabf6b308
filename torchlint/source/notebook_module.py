"""A notebook as one module's text: its cells in order, and from places in that text to cells and to the JSON."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from torchlint.source.cell_outputs import shown_rows
from torchlint.source.magics import Neutral, neutral, silenced
from torchlint.source.notebook_json import Cell, Span, positions
from torchlint.source.text import Source
from torchlint.source.valid_python import is_python

_LINE_END = re.compile(r"\r\n|\r|\n")
_ROWS = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_INDENT = re.compile(r"[ \t]+(?=\S)")
_PROMPTS = (
    (re.compile(r"^[ \t]*>>>", re.MULTILINE), re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |(?=[\r\n]|\Z))"), "... "),
    (re.compile(r"^In \[\d+\]: ", re.MULTILINE), re.compile(r"In \[\d+\]: |[ \t]*\.{3,}: ?"), "...: "),
)
"""Python's prompts and IPython's: how such a row begins, what is taken away, and how a row that is added begins."""
_OWN_LINE = re.compile(r"(?<=, )line (\d+)$")
"""How a sentence ends that names a row of the file at hand; rows of other files stand behind a path."""


@dataclass(frozen=True)
class Part:
    """A cell's share of the text: character for character its source, magics made neutral.

    ``margins`` says how many characters are left out at the beginning of each row, and ``margin`` with what a new row
    begins: IPython runs cells that are indented as a whole, and takes away prompts that were copied with the code.
    ``source`` is what is left, and ``shielded`` spans what of it is not read as it stands.
    """

    cell: Cell
    margin: str
    margins: tuple[int, ...]
    source: str
    neutral: Neutral

    @property
    def text(self) -> str:
        """The Python that is read, without the newline that ends the cell."""
        return self.neutral.text

    @property
    def shielded(self) -> tuple[Span, ...]:
        """The spans of :attr:`source` for which other text is read, which no edit may touch."""
        return self.neutral.shielded

    @cached_property
    def row_starts(self) -> list[int]:
        """Where the rows of the cell's source begin."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.cell.source))]

    def dropped(self, row: int) -> int:
        """Return how many characters were left out at the beginning of a row, counted from 0."""
        return self.margins[row] if row < len(self.margins) else 0

    @property
    def newline(self) -> str:
        """The newline of the cell's first row."""
        found = _LINE_END.search(self.cell.source)
        return found[0] if found is not None else "\n"


def part(cell: Cell) -> Part:
    """Make a cell's share of the text."""
    rows = _ROWS.findall(cell.source)
    first = next((_INDENT.match(row) for row in rows if row.strip()), None)
    margin = first[0] if first is not None else ""
    margins = [len(margin) if row.startswith(margin) else 0 for row in rows]
    made = _made(cell, margin, margins, rows)
    for begins, prompt, new_row in _PROMPTS:
        at_once = begins.match(made.source.lstrip())  # `In [1]: x` is Python, an annotation
        if at_once or (begins.search(made.source) and not is_python(made.text)):
            found = [prompt.match(row, start) for row, start in zip(rows, margins, strict=True)]
            behind = [each.end() if each is not None else start for each, start in zip(found, margins, strict=True)]
            without = _made(cell, margin + new_row, behind, rows)
            return without if is_python(without.text) else made
    return made


def _made(cell: Cell, margin: str, margins: Iterable[int], rows: Iterable[str]) -> Part:
    source = "".join(row[start:] for row, start in zip(rows, margins, strict=True))
    return Part(cell, margin, tuple(margins), source, neutral(source))


def quiet(cell: Cell) -> Part:
    """Make the share of a cell of which nothing is to be read: comments in as many rows."""
    return Part(cell, "", (), cell.source, silenced(cell.source))


@dataclass(frozen=True)
class Notebook(Source):
    """A notebook as it was read: offsets count bytes of the module's text, ``raw`` is the JSON."""

    parts: tuple[Part, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether the notebook may be fixed: JSON is written back byte for byte."""
        return True

    @cached_property
    def json(self) -> str:
        """The JSON, with its byte-order mark where it has one."""
        return self.raw.decode("utf-8")

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each part begins."""
        return list(accumulate((len(each.text.encode()) + 1 for each in self.parts[:-1]), initial=0))

    @cached_property
    def _rows(self) -> list[int]:
        return [self.position(start)[0] for start in self.starts]

    def index(self, offset: int) -> int:
        """Return the index of the part in which an offset stands."""
        return bisect.bisect_right(self.starts, offset) - 1

    def origin(self, index: int, offset: int) -> int:
        """Return the character of a cell's source at an offset; behind the last for the newline that ends the cell."""
        row, column = self.position(offset)
        if index + 1 < len(self.parts) and offset == self.starts[index + 1]:
            return len(self.parts[index].cell.source) + 1
        row -= self._rows[index]
        part = self.parts[index]
        if row >= len(part.row_starts):  # the end of the text
            return len(part.cell.source) + 1
        return min(part.row_starts[row] + column - 1 + part.dropped(row), len(part.cell.source) + 1)

    # ------------------------------------------------------------------ what the user sees
    def shows(self, offset: int) -> bool:
        """Whether what stands at an offset is of the expression whose value its cell shows."""
        index = self.index(offset)
        rows = shown_rows(f"{self.parts[index].text}\n".encode())
        return rows is not None and self.position(offset)[0] - self._rows[index] + 1 in rows

    @property
    def unread(self) -> str:
        """The magics, the shell commands and the cells that were left out."""
        return "\n".join(each.source[max(start, 0) : end] for each in self.parts for start, end in each.shielded)

    def is_code(self, offset: int) -> bool:
        """Whether what stands at an offset is read as the user wrote it."""
        index = self.index(offset)
        at = len(self.slice(self.starts[index], offset))
        return not any(first <= at < last for first, last in self.parts[index].shielded)

    @cached_property
    def original(self) -> Source:
        """The sources of the cells as the user wrote them, in the same rows."""
        return Source(self.path, b"", "".join(_ended(each.cell.source) for each in self.parts))

    def cell(self, row: int) -> int | None:
        """Return the number of the cell that a row belongs to."""
        return self._part_of(row).cell.number if self.parts else None

    def rows_of(self, number: int) -> range | None:
        """Return the rows of a cell; None where it is no cell of Python code."""
        for part, first in zip(self.parts, self._rows, strict=True):
            if part.cell.number == number:
                return range(first, first + len(part.row_starts))
        return None

    def _part_of(self, row: int) -> Part:
        return self.parts[bisect.bisect_right(self._rows, row) - 1]

    def address(self, offset: int, start: int | None = None) -> tuple[int, int]:
        """Return the row within the cell and the column of an offset."""
        index = self.index(offset if start is None else start)
        row, column = self.position(offset)
        row -= self._rows[index]
        return row + 1, column + self.parts[index].dropped(row)

    def stored(self, offset: int, start: int | None = None) -> tuple[int, int]:
        """Return the row and the column of an offset in the JSON."""
        index = self.index(offset if start is None else start)
        return self.row_and_column(spelled_at(self.json, self.parts[index].cell, self.origin(index, offset)))

    def stored_line(self, row: int) -> str:
        """Return the text of a row of the JSON."""
        starts = self._json_starts
        return self.json[starts[row - 1] : starts[row] if row < len(starts) else None].rstrip("\r\n")

    def row_and_column(self, at: int) -> tuple[int, int]:
        """Return the row and the column of a character of the JSON, both from 1."""
        row = bisect.bisect_right(self._json_starts, at)
        return row, at - self._json_starts[row - 1] + 1

    @cached_property
    def _json_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.json))]

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two offsets as the user wrote it."""
        return self.original.slice(self._in_original(start), self._in_original(end))

    def _in_original(self, offset: int) -> int:
        row, column = self.position(offset)
        if column > 1:
            column += self._part_of(row).dropped(row - self._rows[bisect.bisect_right(self._rows, row) - 1])
        line = self.original.line(row)
        return self.original.line_starts[row - 1] + len(line[: column - 1].encode())

    def cited(self, sentence: str) -> str:
        """Turn the row that a sentence ends with into a cell and a row of that."""
        return _OWN_LINE.sub(lambda found: self._cited_row(int(found[1])), sentence)

    def _cited_row(self, row: int) -> str:
        return f"cell {self.cell(row)}, line {row - self._rows[bisect.bisect_right(self._rows, row) - 1] + 1}"


def compose(path: str, raw: bytes, parts: Iterable[Part]) -> Notebook:
    """Make one module of the cells, each ended by a newline of its own."""
    listed = tuple(parts)
    return Notebook(path, raw, "".join(_ended(each.text) for each in listed), parts=listed)


def _ended(text: str) -> str:
    """End a cell with a newline of its own: behind a bare carriage return it would only be the second half of one."""
    return f"{text[:-1]}\n\n" if text.endswith("\r") else f"{text}\n"


def spelled_at(text: str, cell: Cell, character: int) -> int:
    """Return where in the JSON a character of a cell's source is spelled."""
    at = cell.array[0] if cell.array is not None else 0
    for literal in cell.literals:
        places = positions(text, literal)
        if character < len(places) - 1:
            return places[character]
        character -= len(places) - 1
        at = places[-1]
    return at
