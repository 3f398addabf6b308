"""How long the lines of a project may be, read from the configuration of its formatter or its linter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from torchlint.source import files

_IN_TABLES = (
    ("ruff", "line-length"),
    ("ruff", "lint", "pycodestyle", "max-line-length"),
    ("black", "line-length"),
    ("flake8", "max-line-length"),
    ("flake8", "max_line_length"),
    ("pycodestyle", "max-line-length"),
    ("pycodestyle", "max_line_length"),
)
"""Keys below `tool` in `pyproject.toml`, the one that counts first."""
_OF_RUFF = ("ruff.toml", ".ruff.toml")
_OF_FLAKE8 = (".flake8", "setup.cfg", "tox.ini")
_RUFF_LINE = re.compile(r"^line-length[ \t]*=[ \t]*([0-9_]+)[ \t]*(?:#.*)?$", re.MULTILINE)
_SECTION = re.compile(r"^\[(?:flake8|pycodestyle|pep8)\][ \t]*\r?$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
_KEY = re.compile(r"^max[-_]line[-_]length[ \t]*[=:][ \t]*([0-9]+)", re.MULTILINE)
_SHORTEST = 40
"""What is less is no limit that code is written by."""


def line_length(folder: str, document: Mapping[str, object]) -> int | None:
    """Return the limit that a folder's files tell, ``document`` being its ``pyproject.toml``; None where none does.

    A file that cannot be read says nothing: it is others' to complain of it.
    """
    found = (each for each in _told(folder, document) if each >= _SHORTEST)
    return next(found, None)


def _told(folder: str, document: Mapping[str, object]) -> Iterator[int]:
    for name in _OF_RUFF:
        said = _RUFF_LINE.search(_text(os.path.join(folder, name)))
        if said:
            yield int(said[1])
    tool = document.get("tool")
    for path in _IN_TABLES:
        value: object = tool
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if type(value) is int:
            yield value
    for name in _OF_FLAKE8:
        for section in _SECTION.finditer(_text(os.path.join(folder, name))):
            said = _KEY.search(section[1])
            if said:
                yield int(said[1])


def _text(path: str) -> str:
    try:
        return files.read(path).decode("utf-8", "replace") if os.path.isfile(path) else ""
    except OSError:
        return ""
