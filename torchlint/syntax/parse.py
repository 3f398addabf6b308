"""Bytes to a source: a file of Python as it stands, a notebook as the module that its cells make together."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection
from dataclasses import dataclass

from torchlint.source.notebook import SUFFIX, as_notebook
from torchlint.source.text import Source, decode
from torchlint.syntax.regions import Region

_NEVER_PYTHON = ("(unicode error)", "(value error)", "bytes can only", "source code", "too many nested")
"""How the complaints begin that no other version of Python would withdraw, though LibCST has none."""


class OtherLanguage(Exception):
    """A notebook whose kernel runs another language; the text says which."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A cell that does not parse and is left out: where in the text, row and column from 1, and why."""

    row: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's text, and which of its cells are not in it."""

    source: Source
    faults: tuple[Fault, ...] = ()


def read(path: str, raw: bytes) -> ParsedFile:
    """Read a file's bytes; what the path ends with says whether it is a notebook.

    :raises SourceError: where the bytes are no text, or no notebook.
    :raises OtherLanguage: where the notebook is not in Python.
    """
    if not path.endswith(SUFFIX):
        return ParsedFile(decode(path, raw))
    from torchlint.source import notebook_json  # here and below: few runs meet a notebook
    from torchlint.source.magics import runs_by_itself
    from torchlint.source.notebook_module import compose, part, quiet

    found = notebook_json.read(raw)
    if not found.is_python:
        raise OtherLanguage(f"its language is {found.language}")
    parts = []
    faults: list[Fault] = []
    row = 1
    for cell in found.cells:
        made = part(cell)
        fault = _fault(made.text)
        if fault is not None:
            made = quiet(cell)
            if not runs_by_itself(cell.source):
                faults.append(Fault(row + fault.row - 1, fault.column, fault.message))
        parts.append(made)
        row += len(made.row_starts)
    return ParsedFile(compose(path, raw, parts), tuple(faults))


def reread(path: str, raw: bytes, left_out: Collection[int]) -> Source:
    """Return the source of bytes that :func:`read` was given before, without parsing any of it.

    ``left_out`` are the places of the cells, from 0, of which nothing was read then.

    :raises SourceError: as :func:`read` did.
    """
    if not path.endswith(SUFFIX):
        return decode(path, raw)
    from torchlint.source import notebook_json
    from torchlint.source.notebook_module import compose, part, quiet

    cells = enumerate(notebook_json.read(raw).cells)
    return compose(path, raw, [quiet(cell) if at in left_out else part(cell) for at, cell in cells])


def left_out(source: Source) -> tuple[int, ...]:
    """Return the places of the cells of which nothing was read, as :func:`reread` takes them."""
    notebook = as_notebook(source)
    if notebook is None:
        return ()
    from torchlint.source.notebook_module import quiet

    parts = notebook.parts
    return tuple(at for at, each in enumerate(parts) if each == quiet(each.cell))


def _fault(text: str) -> Fault | None:
    """Say why a cell does not parse on its own; code that is newer than the running Python is none of its faults."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        if not error.msg.startswith(_NEVER_PYTHON) and libcst_accepts(text):
            return None
        return Fault(error.lineno or 1, error.offset or 1, error.msg)
    except ValueError as error:
        return Fault(1, 1, str(error))
    except (RecursionError, MemoryError):
        return Fault(1, 1, "the code is nested too deeply to be checked")
    return None


def libcst_accepts(text: str) -> bool:
    """Whether LibCST reads a text, which may be newer than the running Python."""
    from torchlint.syntax.cst import Definition, NotParsed  # here: it imports LibCST

    source = Source("", b"", text)
    try:
        Definition(source, Region(0, len(source.utf8), ()))
    except NotParsed:
        return False
    return True
