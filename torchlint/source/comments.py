"""Where the comments of a file stand, and which of its rows make up one logical line."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlint.source.text import Source

# What tokenize refuses to read is read by this: strings are stepped over, comments are kept.
_LEXEME = re.compile(
    r"(?P<string>(?:'''(?:\\.|(?!''').)*(?:'''|\Z))|(?:\"\"\"(?:\\.|(?!\"\"\").)*(?:\"\"\"|\Z))"
    r"|'(?:\\.|[^'\\\r\n])*'?|\"(?:\\.|[^\"\\\r\n])*\"?)|(?P<comment>\#[^\r\n]*)",
    re.DOTALL,
)
_ENDS = frozenset({tokenize.NL, tokenize.NEWLINE})
_QUIET = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its row, the offset of its ``#`` in :attr:`Source.utf8`, its text, and whether its row has no code."""

    row: int
    start: int
    text: str
    alone: bool


@dataclass
class CommentIndex:
    """The comments of a file, and the first and last row of the logical line that each row belongs to.

    ``joined`` gives the row on which a comment may stand for rows that end within a string or with a backslash.
    ``whole`` tells whether tokenize read the file to its end; where it did not, the logical lines behind the place are
    not known.
    """

    comments: list[Comment] = field(default_factory=list)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)
    joined: dict[int, int] = field(default_factory=dict)
    whole: bool = True

    def statement(self, row: int) -> tuple[int, int]:
        """Return the first and last row of the logical line that a row belongs to."""
        return self.logical.get(row, (row, row))

    def commented(self, row: int) -> int:
        """Return the row on which a comment on this row's code may stand: flake8 and ruff look for theirs there."""
        return self.joined.get(row, row)


def read(source: Source) -> CommentIndex:
    """Read as far as tokenize gets, and the rest by a lexer that knows only strings and comments.

    What stands for a notebook's magics is no comment.
    """
    reading = _read(source)
    reading.comments = [each for each in reading.comments if source.is_code(each.start)]
    return reading


def _read(source: Source) -> CommentIndex:
    reading = CommentIndex()
    lines = io.StringIO(source.text, newline="")
    start: int | None = None
    first = 0
    try:
        for kind, string, (row, column), _, _ in tokenize.generate_tokens(lines.readline):
            first = first or row
            if kind == tokenize.COMMENT:
                before = source.line(row)[:column]
                at = source.offset(row, len(before.encode()))
                reading.comments.append(Comment(row, at, string, not before.strip()))
            if kind in _ENDS:
                reading.joined.update(dict.fromkeys(range(first, row), row))
                first = 0
            if kind == tokenize.NEWLINE and start is not None:
                reading.logical.update(dict.fromkeys(range(start, row + 1), (start, row)))
                start = None
            elif kind not in _QUIET and kind != tokenize.NEWLINE and start is None:
                start = row
    except (tokenize.TokenError, SyntaxError):
        return CommentIndex(list(_lexed(source.text)), reading.logical, reading.joined, whole=False)
    return reading


def indentation(line: str) -> int:
    """Return the column at which a line's text begins, tabs counted as Python counts them."""
    blank = line[: len(line) - len(line.lstrip(" \t\f"))]
    return len(blank.rpartition("\f")[2].expandtabs(8))


def _lexed(text: str) -> Iterator[Comment]:
    row, at, offset = 1, 0, 0
    for found in _LEXEME.finditer(text):
        passed = text[at : found.start()]
        row += len(re.findall(r"\r\n|\r|\n", passed))
        offset += len(passed.encode())
        at = found.start()
        if found["comment"]:
            before = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
            yield Comment(row, offset, found["comment"], not text[before:at].strip())
