"""Which findings a comment silences: ``# noqa``, ``# torchlint: ignore[...]`` and their whole-file forms."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torchlint.model import Finding
from torchlint.selectors import EVERY_CODE, codes_of
from torchlint.source import Source

NEVER_SILENCED = frozenset({"TNS900"})
"""A file that does not parse cannot be trusted to say which of its findings do not matter."""

_TRIGGER = re.compile(rb"#[^\r\n]*(?:noqa|torchlint:)", re.IGNORECASE)
# As flake8 reads it: codes of any tool after the colon, and a colon without codes silences everything.
_CODES = r"[A-Z]+[0-9]+(?:(?:\s*,\s*|\s+)[A-Z]+[0-9]+)*"
_NOQA = re.compile(rf"#\s*noqa(?![\w-])(?::\s*(?P<codes>{_CODES}))?", re.IGNORECASE)
_FILE_NOQA = re.compile(rf"#\s*(?:flake8|ruff)[:=]\s*noqa(?![\w-])(?::\s*(?P<codes>{_CODES}))?\s*", re.IGNORECASE)
_OURS = re.compile(r"#\s*torchlint:\s*(?P<verb>ignore(?:-file)?)(?![\w-])(?:\s*\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
# What tokenize refuses to read is read by this: strings are stepped over, comments are kept.
_LEXEME = re.compile(
    r"(?P<string>(?:'''(?:\\.|(?!''').)*(?:'''|\Z))|(?:\"\"\"(?:\\.|(?!\"\"\").)*(?:\"\"\"|\Z))"
    r"|'(?:\\.|[^'\\\r\n])*'?|\"(?:\\.|[^\"\\\r\n])*\"?)|(?P<comment>\#[^\r\n]*)",
    re.DOTALL,
)
_QUIET = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that silences: its row, and the codes it silences on that row or in the whole file."""

    row: int
    codes: frozenset[str]
    whole_file: bool


@dataclass
class _Reading:
    """The comments of a file, and the first and last row of the logical line that each row belongs to."""

    comments: list[tuple[int, str, bool]] = field(default_factory=list)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)


def split(
    source: Source, findings: Sequence[Finding], noqa: bool = True
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Part findings into those to report and those that a comment silences, in the order given.

    A comment counts on the finding's own row and on the first and last row of its logical line. ``noqa=False``
    leaves out the ``noqa`` forms, for a host that honours them itself.
    """
    if not findings or not _TRIGGER.search(source.utf8):
        return tuple(findings), ()
    reading = _read(source.text)
    silenced, everywhere = _silenced(reading, noqa)
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        row = source.position(finding.start)[0]
        rows = {row, *reading.logical.get(row, ())}
        codes = everywhere.union(*(silenced[each] for each in rows if each in silenced))
        quiet = finding.code in codes and finding.code not in NEVER_SILENCED
        (suppressed if quiet else kept).append(finding)
    return tuple(kept), tuple(suppressed)


def comments(source: Source, noqa: bool = True) -> Iterator[Comment]:
    """Give every comment of the file that silences torchlint, in order."""
    if _TRIGGER.search(source.utf8):
        for row, text, alone in _read(source.text).comments:
            yield from _said(row, text, alone, noqa)


def _silenced(reading: _Reading, noqa: bool) -> tuple[dict[int, frozenset[str]], frozenset[str]]:
    rows: dict[int, frozenset[str]] = {}
    everywhere: frozenset[str] = frozenset()
    for row, text, alone in reading.comments:
        for comment in _said(row, text, alone, noqa):
            if comment.whole_file:
                everywhere |= comment.codes
            else:
                rows[row] = rows.get(row, frozenset()) | comment.codes
    return rows, everywhere


def _said(row: int, text: str, alone: bool, noqa: bool) -> Iterator[Comment]:
    for found in _OURS.finditer(text):
        whole_file = found["verb"].lower() == "ignore-file"
        codes = EVERY_CODE if found["codes"] is None else _meant(re.split(r"[,\s]+", found["codes"]))
        if alone or not whole_file:
            yield Comment(row, codes, whole_file)
    if not noqa:
        return
    file_wide = _FILE_NOQA.match(text) if alone else None
    if file_wide:
        yield Comment(row, _flagged(file_wide["codes"]), whole_file=True)
    for found in _NOQA.finditer(text):
        yield Comment(row, _flagged(found["codes"]), whole_file=False)


def _flagged(codes: str | None) -> frozenset[str]:
    return EVERY_CODE if codes is None else _meant(re.split(r"[,\s]+", codes))


def _meant(selectors: list[str]) -> frozenset[str]:
    return frozenset().union(*(codes_of(each) for each in selectors))


def _read(text: str) -> _Reading:
    """Read as far as tokenize gets, and the rest by a lexer that knows only strings and comments."""
    reading = _Reading()
    lines = io.StringIO(text, newline="")
    start: int | None = None
    try:
        for kind, string, begin, _, line in tokenize.generate_tokens(lines.readline):
            if kind == tokenize.COMMENT:
                reading.comments.append((begin[0], string, not line[: begin[1]].strip()))
            if kind == tokenize.NEWLINE and start is not None:
                for row in range(start, begin[0] + 1):
                    reading.logical[row] = (start, begin[0])
                start = None
            elif kind not in _QUIET and kind != tokenize.NEWLINE and start is None:
                start = begin[0]
    except (tokenize.TokenError, SyntaxError):
        return _Reading(list(_lexed(text)), reading.logical)
    return reading


def _lexed(text: str) -> Iterator[tuple[int, str, bool]]:
    row, at = 1, 0
    for found in _LEXEME.finditer(text):
        row += _rows(text, at, found.start())
        at = found.start()
        if found["comment"]:
            before = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
            yield row, found["comment"], not text[before:at].strip()


def _rows(text: str, start: int, end: int) -> int:
    return len(re.findall(r"\r\n|\r|\n", text[start:end]))
