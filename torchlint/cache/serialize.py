"""Results as plain data and back: nothing that is read is trusted to have the right form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from torchlint.cache.file_state import FileState, Reading, Stamp, digest
from torchlint.diagnostics.assumptions import BY_CLAIM, Decision
from torchlint.diagnostics.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, Severity
from torchlint.diagnostics.registry import BY_CODE
from torchlint.discovery.walk import Target
from torchlint.source.notebook import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from torchlint.source.text import Source

    Row = TypeVar("Row")


class Misread(ValueError):
    """Data that no version of this module wrote."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of the result for one file: what it rests on, and the result itself, still as plain data.

    ``files`` are other files, ``bases`` places of modules with what is there, ``homes``
    folders with what :meth:`FileState.home` gives of them.
    """

    digest: str
    stamp: Stamp | None
    files: tuple[Reading, ...]
    bases: tuple[tuple[str, str | None], ...]
    homes: tuple[tuple[str, str, str], ...]
    asked: tuple[tuple[tuple[str, ...], str | None], ...]
    """:attr:`FileResult.asked`"""
    found: list[object]
    """The findings, the suppressed ones, why the file was passed over, the cells that were left out, and
    :attr:`FileResult.newer`."""


# ---------------------------------------------------------------------- findings
def dump_result(result: FileResult) -> list[object]:
    """Return what was found as plain data."""
    left: tuple[int, ...] = ()
    if result.source is not None and result.path.endswith(SUFFIX):
        from torchlint.syntax.parse import left_out

        left = left_out(result.source)
    found, suppressed = ([_dump_finding(each) for each in some] for some in (result.findings, result.suppressed))
    return [found, suppressed, result.passed_over, list(left), result.newer]


def _dump_finding(finding: Finding) -> list[object]:
    fix = finding.fix
    packed = fix and [
        fix.action,
        [[each.start, each.end, each.text] for each in fix.edits],
        [[each.assumption.claim, each.is_proven, each.why, each.claim, each.is_likely] for each in fix.assumptions],
        None if fix.overruled is None else int(fix.overruled),
    ]
    span, levels = (finding.start, finding.end), (int(finding.confidence), int(finding.severity))
    return [finding.code, *span, finding.message, *levels, list(finding.why), packed]


def load_findings(packed: object, length: int) -> tuple[Finding, ...]:
    """Return findings back, of a text of so many bytes.

    :raises Misread: where they are none.
    """
    return tuple(_finding(each, length) for each in rows(packed))


def _finding(row: object, length: int) -> Finding:
    code, start, end, message, confidence, severity, why, fix = rows(row, 8)
    entry = BY_CODE.get(text(code))
    if entry is None:
        raise Misread
    span = _span(start, end, length)
    steps = tuple(text(each) for each in rows(why))
    level = Confidence(number(confidence))
    return Finding(
        entry.code, entry.name, *span, text(message), level, steps, _fix(fix, length), Severity(number(severity))
    )


def _fix(row: object, length: int) -> Fix | None:
    if row is None:
        return None
    action, edits, assumptions, overruled = rows(row, 4)
    made = []
    for each in rows(edits):
        start, end, written = rows(each, 3)
        made.append(Edit(*_span(start, end, length), text(written)))
    level = None if overruled is None else Applicability(number(overruled))
    return Fix(text(action), tuple(made), tuple(_decision(each) for each in rows(assumptions)), level)


def _decision(row: object) -> Decision:
    meant, is_proven, why, claim, is_likely = rows(row, 5)
    assumption = BY_CLAIM.get(text(meant))
    if assumption is None:
        raise Misread
    return Decision(assumption, flag(is_proven), text(why), text(claim), flag(is_likely))


def _span(start: object, end: object, length: int) -> tuple[int, int]:
    found = number(start), number(end)
    if not 0 <= found[0] <= found[1] <= length:
        raise Misread
    return found


# ---------------------------------------------------------------------- entries
def dump_entries(entries: dict[str, Entry]) -> dict[str, object]:
    """Return the entries of one folder, by file name; what several rest on is written once."""
    files: dict[Reading, int] = {}
    bases: dict[tuple[str, str | None], int] = {}
    homes: dict[tuple[str, str, str], int] = {}
    packed = {
        name: [
            each.digest,
            each.stamp,
            [files.setdefault(one, len(files)) for one in each.files],
            [bases.setdefault(two, len(bases)) for two in each.bases],
            [homes.setdefault(three, len(homes)) for three in each.homes],
            each.asked,
            each.found,
        ]
        for name, each in entries.items()
    }
    return {"files": [astuple(each) for each in files], "bases": list(bases), "homes": list(homes), "entries": packed}


def load_entries(data: object) -> dict[str, Entry]:
    """Return entries back.

    :raises Misread: where they are none.
    """
    if not isinstance(data, dict) or not isinstance(packed := data.get("entries"), dict):
        raise Misread
    files = [_reading(each) for each in rows(data.get("files"))]
    bases = [_base(each) for each in rows(data.get("bases"))]
    homes = [_home(each) for each in rows(data.get("homes"))]
    entries = {}
    for name, row in packed.items():
        known, stamp, at_files, at_bases, at_homes, asked, found = rows(row, 7)
        entries[name] = Entry(
            text(known),
            _stamp(stamp),
            _picked(at_files, files),
            _picked(at_bases, bases),
            _picked(at_homes, homes),
            tuple(_question(each) for each in rows(asked)),
            rows(found, 5),
        )
    return entries


def _question(row: object) -> tuple[tuple[str, ...], str | None]:
    question, answer = rows(row, 2)
    words = tuple(text(each) for each in rows(question))
    if len(words) < 3:
        raise Misread
    return words, None if answer is None else text(answer)


def _reading(row: object) -> Reading:
    path, known, stamp, code, places = rows(row, 5)
    return Reading(text(path), text(known), _stamp(stamp), text(code), tuple(numbers(places)))


def _stamp(row: object) -> Stamp | None:
    if row is None:
        return None
    size, changed, touched, place = rows(row, 4)
    return number(size), number(changed), number(touched), number(place)


def _base(row: object) -> tuple[str, str | None]:
    base, there = rows(row, 2)
    return text(base), None if there is None else text(there)


def _home(row: object) -> tuple[str, str, str]:
    folder, top, root = rows(row, 3)
    return text(folder), text(top), text(root)


def _picked(places: object, table: Sequence[Row]) -> tuple[Row, ...]:
    found = numbers(places)
    if found and not 0 <= min(found) <= max(found) < len(table):
        raise Misread
    return tuple(table[at] for at in found)


# ---------------------------------------------------------------------- results
def load_result(entry: Entry, target: Target, files: FileState) -> FileResult | None:
    """Return the result; None where the file is no longer the one that it is about, or the entry is none.

    Only a file with findings is read: they are shown with their lines, and never with those of another content.
    """
    try:
        found, suppressed, passed_over, left_out, newer = entry.found
        reads = (*entry.bases, *((each.path, each.digest) for each in entry.files))
        if not rows(found) and not rows(suppressed):
            without = FileResult(target.path, None, reads=reads, asked=entry.asked)
            return replace(without, passed_over=text(passed_over), newer=text(newer))
        raw = files.read(target.real)
        if raw is None or (files.stamp(target.real) != entry.stamp and digest(raw) != entry.digest):
            return None
        source = _source(target.path, raw, numbers(left_out))
        length = len(source.utf8)
        known = load_findings(found, length), load_findings(suppressed, length)
        return FileResult(target.path, source, *known, (), reads, entry.asked, newer=text(newer))
    except (Misread, ValueError):
        return None


def _source(path: str, raw: bytes, left_out: list[int]) -> Source:
    from torchlint.source.text import SourceError, decode, undecoded  # here: a run without findings needs no text

    try:
        if not path.endswith(SUFFIX):
            return decode(path, raw)
        from torchlint.syntax.parse import reread  # here: few runs meet a notebook with findings

        return reread(path, raw, left_out)
    except SourceError as error:
        return undecoded(path, raw, error.offset)


# ---------------------------------------------------------------------- forms
def text(value: object) -> str:
    """Hold a value to be a text."""
    if not isinstance(value, str):
        raise Misread
    return value


def number(value: object) -> int:
    """Hold a value to be a whole number."""
    if type(value) is not int:
        raise Misread
    return value


def flag(value: object) -> bool:
    """Hold a value to be true or false."""
    if not isinstance(value, bool):
        raise Misread
    return value


def numbers(value: object) -> list[int]:
    """Hold a value to be a list of whole numbers."""
    return [number(each) for each in rows(value)]


def rows(value: object, length: int | None = None) -> list[object]:
    """Hold a value to be a list, of some length where one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise Misread
    return value
