"""`check --show-facts FILE:LINE`, in a notebook `FILE:CELL:LINE`: what is known of every expression on a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config import Config, Finder
from torchlint.output.screen import Screen
from torchlint.source import files
from torchlint.source.notebook import SUFFIX
from torchlint.source.notebook_module import Notebook
from torchlint.source.text import Source, SourceError
from torchlint.syntax.parse import OtherLanguage, ParsedFile, read

_IN_A_NOTEBOOK = re.compile(r"(?P<path>.+\.ipynb):(?:cell )?(?P<cell>[0-9]+):(?P<row>[0-9]+)", re.DOTALL)
_IN_A_FILE = re.compile(r"(?P<path>.+):(?P<row>[0-9]+)", re.DOTALL)


def show_facts(place: str, finder: Finder, session: Session) -> None:
    """Print what is known at ``FILE:LINE`` or ``FILE:CELL:LINE``.

    :raises UsageError: where the place is none: no such file, no such line, or text that is no Python.
    """
    folder = os.path.dirname(os.path.normpath(os.path.join(session.cwd, _path_of(place))))
    for line in _facts(place, finder.of_folder(folder), session.cwd, session.screen):
        print(line, file=session.stdout)


def _facts(place: str, config: Config, cwd: str, screen: Screen) -> Iterator[str]:
    from torchlint.linter.engine import analysis
    from torchlint.output.known_facts import render

    found = _IN_A_NOTEBOOK.fullmatch(place) or _IN_A_FILE.fullmatch(place)
    if found is None or not int(found["row"]):
        raise UsageError(f"--show-facts {place}: expected FILE:LINE, for example train.py:12")
    path = found["path"]
    reading = _reading(path, cwd)
    row = _row(place, found, reading)
    try:
        known = analysis(reading.source, config)
    except SyntaxError as error:
        raise UsageError(f"--show-facts {path}:{error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise UsageError(f"--show-facts {path}: the code cannot be parsed") from None
    return render(known, row, screen)


def _path_of(place: str) -> str:
    found = _IN_A_NOTEBOOK.fullmatch(place) or _IN_A_FILE.fullmatch(place)
    return found["path"] if found is not None else place


def _reading(path: str, cwd: str) -> ParsedFile:
    try:
        return read(path, files.read(os.path.join(cwd, path)))
    except OSError as error:
        raise UsageError(f"--show-facts {path}: cannot be read: {error.strerror or error}") from None
    except SourceError as error:
        raise UsageError(f"--show-facts {path}: {error.message}") from None
    except OtherLanguage as error:
        raise UsageError(f"--show-facts {path}: {error}") from None


def _row(place: str, found: re.Match[str], reading: ParsedFile) -> int:
    """Return the row of the text that a place means."""
    source, row = reading.source, int(found["row"])
    if found["path"].endswith(SUFFIX):
        assert isinstance(source, Notebook)
        return _row_of_cell(place, source, found.groupdict().get("cell"), row)
    return _existing(place, source, row)


def _existing(place: str, source: Source, row: int) -> int:
    if row > len(source.line_starts):
        raise UsageError(f"--show-facts {place}: the file has {len(source.line_starts)} lines")
    return row


def _row_of_cell(place: str, notebook: Notebook, cell: str | None, row: int) -> int:
    if cell is None:
        raise UsageError(f"--show-facts {place}: expected FILE:CELL:LINE for a notebook, for example train.ipynb:3:12")
    rows = notebook.rows_of(int(cell))
    if rows is None:
        raise UsageError(f"--show-facts {place}: cell {cell} holds no Python code")
    if row > len(rows):
        raise UsageError(f"--show-facts {place}: cell {cell} has {len(rows)} lines")
    return rows[row - 1]
