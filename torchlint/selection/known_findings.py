"""The file of known findings: one a line, sorted, recognised by content, with the paths from its own folder."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

HEADER = '{"torchlint-baseline": 1}'
_CONFLICT = re.compile(r"(<{7}|>{7}|\|{7})( |$)|={7}$")


class BaselineError(Exception):
    """A baseline that cannot be used; the text names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """A finding that is known: its file, the definition around it, its rule, its confidence, its fingerprint."""

    path: str
    scope: str
    code: str
    confidence: str
    fingerprint: str


_FIELDS = [each.name for each in fields(Known)]


def parsed(name: str, raw: bytes) -> tuple[Known, ...]:
    """Read a baseline; lines that are there twice, as after a merge that kept both sides, count once.

    :raises BaselineError: where it is none, or a line is broken or the rest of a merge conflict.
    """
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise BaselineError(f"{name}: no baseline: byte {error.start} is not UTF-8") from None
    for number, line in enumerate(lines, 1):
        if _CONFLICT.match(line):
            remedy = "keep the lines of both sides, take out the marks, then run --write-baseline"
            raise BaselineError(f"{name}:{number}: an unresolved merge conflict: {remedy}")
    if not lines or lines[0].strip() != HEADER:
        raise BaselineError(f"{name}:1: no baseline of torchlint: the first line must be `{HEADER}`")
    found = {_entry(name, number, line) for number, line in enumerate(lines[1:], 2) if line.strip() not in ("", HEADER)}
    return tuple(sorted(found))


def rendered(entries: Iterable[Known]) -> bytes:
    """Return the bytes of a baseline."""
    # ASCII, so that a file name that is no valid text can still be written.
    lines = [json.dumps({name: getattr(each, name) for name in _FIELDS}) for each in sorted(set(entries))]
    return "\n".join([HEADER, *lines, ""]).encode("ascii")


def _entry(name: str, number: int, line: str) -> Known:
    try:
        table = json.loads(line)
        return Known(*(_text(table[key]) for key in _FIELDS))
    except (ValueError, KeyError, TypeError, RecursionError):
        remedy = "restore the line, or delete the file and run --write-baseline"
        expected = f"a JSON object with {', '.join(_FIELDS)}"
        raise BaselineError(f"{name}:{number}: no known finding ({expected}): {remedy}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


@dataclass(frozen=True, slots=True)
class Recognised:
    """Which findings are known, file by file in the order given, and the entries that no finding answers to."""

    known: tuple[tuple[bool, ...], ...]
    left: tuple[Known, ...]


def recognise(
    entries: Sequence[Known], present: Sequence[Sequence[Known]], exists: Callable[[str], bool]
) -> Recognised:
    """Match the findings of some files with the entries of a baseline.

    An entry answers to the finding of its own file with its fingerprint. Where its file is gone, it answers to a
    finding of any other file that has the fingerprint and no entry of its own: the file was renamed.
    """
    open_entries = {(each.path, each.fingerprint): each for each in entries}
    flags = [[open_entries.pop((each.path, each.fingerprint), None) is not None for each in file] for file in present]
    homeless: dict[str, list[Known]] = defaultdict(list)
    there: dict[str, bool] = {}
    for entry in open_entries.values():
        if entry.path not in there:
            there[entry.path] = exists(entry.path)
        if not there[entry.path]:
            homeless[entry.fingerprint].append(entry)
    for file, known in zip(present, flags, strict=True):
        for at, each in enumerate(file):
            if not known[at] and homeless.get(each.fingerprint):
                moved = homeless[each.fingerprint].pop(0)
                del open_entries[moved.path, moved.fingerprint]
                known[at] = True
    return Recognised(tuple(tuple(each) for each in flags), tuple(open_entries.values()))


def path_from(folder: str, path: str) -> str:
    """Return an absolute path as a baseline in an absolute folder names it: relative, with ``/``."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return path.replace(os.sep, "/")
