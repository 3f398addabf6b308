"""The Python files of a project: which they are, what is in them, and their trees."""

from __future__ import annotations

import os
import re

from torchlint.source import files
from torchlint.source.notebook import SUFFIX
from torchlint.source.project_root import is_marked
from torchlint.source.text import Source, SourceError, decode
from torchlint.syntax.ast_index import AstIndex, index_of
from torchlint.syntax.parse import OtherLanguage, read

MOST_FILES = 10_000
MOST_ENTRIES = 400_000
"""Of a project with more Python files, or more files and folders of any kind, nothing is told."""
MOST_LOOSE_FILES = 3_000
"""The most Python files where nothing says that a project begins: a folder of downloads, or somebody's home."""
_MOST_BYTES = 64 * 1024 * 1024
_SUFFIXES = (".py", ".pyi", SUFFIX)
_NO_SOURCE = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "venv", "env", "virtualenv"})
"""Folders with code that is none of the project's; hidden ones and virtual environments besides."""


def tree_in(path: str, raw: bytes) -> AstIndex | None:
    """Return the tree of a file's bytes; None where Python does not parse them."""
    found = text_and_tree(path, raw)
    return found[1] if found is not None else None


def text_and_tree(path: str, raw: bytes, with_tree: bool = True) -> tuple[str, AstIndex | None] | None:
    """Return a file's text with all that is said in it, and its tree; None for what is no Python at all."""
    try:
        if not path.endswith(SUFFIX):
            source = decode(path, raw)
            return source.text, _parsed(source)
        source = read(path, raw).source
        return f"{source.text}\n{source.unread}", _parsed(source) if with_tree else None
    except (SourceError, OtherLanguage):
        return None


_OLD_ARGUMENT = re.compile(rb"\basync(?=\s*=(?!=))")
"""``x.cuda(async=True)``, which no Python since 3.7 parses: another word of that length says the same."""


def _parsed(source: Source) -> AstIndex | None:
    try:
        return index_of(source)
    except SyntaxError:
        raw, count = _OLD_ARGUMENT.subn(b"ASYNC", source.raw)
        return _parsed(decode(source.path, raw)) if count else None
    except (ValueError, RecursionError, MemoryError):
        return None


def read_whole(path: str) -> bytes | None:
    """Return a file's bytes; None where it cannot be read, or is too large to be code."""
    try:
        raw = files.read(path, _MOST_BYTES + 1)
    except OSError:
        return None
    return raw if len(raw) <= _MOST_BYTES else None


def code_in(path: str) -> bytes:
    """Return a file's bytes, and of a notebook those of its cells; none where it cannot be read."""
    raw = read_whole(path) or b""
    if not path.endswith(SUFFIX):
        return raw
    found = text_and_tree(path, raw, with_tree=False)
    return found[0].encode("utf-8", "replace") if found is not None else b""


def python_files(root: str) -> list[str] | None:
    """Return the Python files and notebooks below a folder; None where there are too many. Links are not followed."""
    found: list[str] = []
    entries = 0
    stack = [root]
    most = MOST_FILES if is_marked(root) else MOST_LOOSE_FILES
    while stack:
        try:
            listed = list(os.scandir(stack.pop()))
        except OSError:
            continue
        entries += len(listed)
        if entries > MOST_ENTRIES:
            return None
        for entry in listed:
            if (entry.name.endswith(_SUFFIXES) or "." not in entry.name) and _is_source(entry):
                found.append(entry.path)
            elif entry.is_dir(follow_symlinks=False) and _holds_source(entry):
                stack.append(entry.path)
        if len(found) > most:
            return None
    return found


def modules(root: str) -> list[str]:
    """Return the paths of the modules below a folder, in order; none where there are too many."""
    return sorted(path for path in python_files(root) or () if path.endswith(".py"))


def _is_source(entry: os.DirEntry[str]) -> bool:
    """Whether a file is Python: without a suffix it is where its first line says so."""
    try:
        return entry.is_file() and ("." in entry.name or _is_script(entry.path))
    except OSError:  # a link that leads back to itself, a file that may not be read
        return False


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        start = file.read(100)
    return start.startswith(b"#!") and b"python" in start.partition(b"\n")[0]


def _holds_source(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in _NO_SOURCE:
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
