"""What comments say about silence: ``# noqa``, ``# torchlint: ignore[...]``, and their forms for blocks and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from torchlint.config.selectors import EVERY_CODE, codes_of
from torchlint.source.comments import Comment

# As flake8 reads it: codes of any tool after the colon, and a colon without codes silences everything.
_CODES = r"[A-Z]+[0-9]+(?:(?:\s*,\s*|\s+)[A-Z]+[0-9]+)*"
_NOQA = re.compile(rf"#\s*noqa(?![\w-])(?::\s*(?P<codes>{_CODES}))?", re.IGNORECASE)
_FILE_NOQA = re.compile(rf"#\s*(?:flake8|ruff)[:=]\s*noqa(?![\w-])(?::\s*(?P<codes>{_CODES}))?", re.IGNORECASE)
_OURS = re.compile(
    r"#\s*torchlint:\s*(?P<verb>ignore-file|ignore|disable|enable)(?![\w-])(?:\s*(?P<open>\[)(?P<codes>[^\]\r\n]*)"
    r"(?P<close>\])?)?",
    re.IGNORECASE,
)


_ADDRESSED = re.compile(r"#\s*torchlint:\s*(?P<words>[^#\r\n]*?)\s*(?=#|$)", re.IGNORECASE)
VERBS = ("ignore", "ignore-file", "disable", "enable")


class Scope(Enum):
    """How far a directive reaches."""

    ROW = "ignore"
    FILE = "ignore-file"
    OPEN = "disable"
    CLOSE = "enable"


@dataclass(frozen=True, slots=True)
class Code:
    """One word of a directive's list, by its offsets in :attr:`Source.utf8`, and the rules it means, none at times."""

    text: str
    start: int
    end: int
    meant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Directive:
    """One order to be silent, from its ``#`` to its last code, as offsets in :attr:`Source.utf8`.

    ``codes`` is None where it names none and so means all. ``shared`` marks the ``noqa`` forms, which other tools
    read too. ``closed`` is False where a bracket is open to the end of the row: such a directive silences nothing.
    """

    comment: Comment
    start: int
    end: int
    scope: Scope
    codes: tuple[Code, ...] | None
    shared: bool
    closed: bool = True

    @property
    def placed(self) -> bool:
        """Whether it stands where it can count: all but those for a row need a row of their own."""
        return self.scope is Scope.ROW or self.comment.alone

    @property
    def every(self) -> tuple[Code, ...]:
        """The codes, or one that means all rules."""
        return (Code("", self.start, self.end, EVERY_CODE),) if self.codes is None else self.codes


def unread(comment: Comment) -> Iterator[tuple[str, int, int]]:
    """Yield what a comment says to torchlint in words that it does not know: the words, and where they stand."""
    for found in _ADDRESSED.finditer(comment.text):
        if not _OURS.match(comment.text, found.start()):
            start = comment.start + len(comment.text[: found.start()].encode())
            yield found["words"], start, start + len(found[0].rstrip().encode())


def directives(comment: Comment, noqa: bool = True) -> Iterator[Directive]:
    """Yield what a comment orders; ``noqa=False`` leaves out the ``noqa`` forms."""
    for found in _OURS.finditer(comment.text):
        closed = found["open"] is None or found["close"] is not None
        yield _directive(comment, found, Scope(found["verb"].lower()), r"[^,\s]+", closed)
    if not noqa:
        return
    if comment.alone and (whole := _FILE_NOQA.match(comment.text)):
        yield _directive(comment, whole, Scope.FILE, r"\w+")
    for found in _NOQA.finditer(comment.text):
        yield _directive(comment, found, Scope.ROW, r"\w+")


def _directive(comment: Comment, found: re.Match[str], scope: Scope, word: str, closed: bool = True) -> Directive:
    def offset(at: int) -> int:
        return comment.start + len(comment.text[:at].encode())

    codes = None
    if found["codes"] is not None:
        at = found.start("codes")
        words = re.finditer(word, found["codes"])
        codes = tuple(
            Code(each[0], offset(at + each.start()), offset(at + each.end()), codes_of(each[0])) for each in words
        )
    shared = "verb" not in found.re.groupindex
    return Directive(comment, offset(found.start()), offset(found.end()), scope, codes, shared, closed)
