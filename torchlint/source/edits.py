"""Edits of a source, by bytes, and the changes of the file that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchlint.source.notebook import as_notebook
from torchlint.source.text import Edit, Source


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a program that edits the file itself would do: rows and columns from 1, columns in characters."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def replacements(source: Source, edits: Iterable[Edit]) -> Iterator[Replacement]:
    """Yield edits of a source as changes of the file: in a notebook they are changes of its JSON."""
    notebook = as_notebook(source)
    if notebook is not None:
        from torchlint.source.notebook_edits import rewritten

        for start, end, text in rewritten(notebook, list(edits)):
            yield Replacement(notebook.row_and_column(start), notebook.row_and_column(end), text)
        return
    for edit in edits:
        yield Replacement(source.position(edit.start), source.position(edit.end), written(source, edit))


def written(source: Source, edit: Edit) -> str:
    """Return an edit's text as it will stand in the file, with the file's own newlines."""
    return re.sub(r"(?<!\r)\n", source.newline, edit.text)
