"""The lines of a file that begin inside a bracket, and which bracket that is."""

from __future__ import annotations

import bisect
import io
import tokenize
from dataclasses import dataclass, field

from torchlint.source.text import Source

_BREAKS = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
IN_STRING = ("FSTRING_START", "TSTRING_START"), ("FSTRING_END", "TSTRING_END")
_WORDS = frozenset({tokenize.NAME, tokenize.OP, tokenize.NUMBER})
OPENING, CLOSING = "([{", ")]}"


@dataclass
class Bracket:
    """An opening bracket, and the first word behind it on its row; offsets."""

    at: int
    content: int | None = None


@dataclass
class Continued:
    """A row that begins inside a bracket: where its first word stands, and the innermost bracket around it."""

    first: int
    inside: Bracket


@dataclass
class Rows:
    """The rows of a file as far as tokenize reads them."""

    continued: dict[int, Continued] = field(default_factory=dict)
    statements: list[tuple[int, int]] = field(default_factory=list)
    """The first and the last row of each logical line."""
    unit: str = ""
    """One level of indentation; empty where no block tells it."""
    widest: int = 0
    """How long the longest row is, what stands in strings and comments not counted."""

    def statement(self, row: int) -> range:
        """Return the rows of the logical line that a row belongs to; none where it is not known."""
        at = bisect.bisect_right(self.statements, (row, 1 << 62)) - 1
        first, last = self.statements[at] if at >= 0 else (0, 0)
        return range(first, last + 1) if first <= row <= last else range(0)


def rows_of(source: Source) -> Rows:
    """Read the rows of a file; what stands in strings is nobody's to move."""
    made = Rows()
    open_ones: list[Bracket] = []
    strings = seen = begun = 0
    try:
        for kind, text, (row, column), (end, behind), line in tokenize.generate_tokens(
            io.StringIO(source.text, newline="").readline
        ):
            if kind == tokenize.NEWLINE and begun:
                made.statements.append((begun, row))
                begun = 0
            if kind == tokenize.INDENT and not made.unit:
                made.unit = text
            if kind in _BREAKS:
                continue
            if kind in _WORDS:
                made.widest = max(made.widest, behind)
            at = source.offset(row, column if line.isascii() else len(source.line(row)[:column].encode()))
            if open_ones and not strings:
                if row != seen:
                    made.continued[row] = Continued(at, open_ones[-1])
                elif open_ones[-1].content is None and kind != tokenize.COMMENT and text not in CLOSING:
                    open_ones[-1].content = at
            begun = begun or (row if kind != tokenize.COMMENT else 0)
            seen = end
            strings += tokenize.tok_name[kind] in IN_STRING[0]
            strings -= tokenize.tok_name[kind] in IN_STRING[1]
            if kind == tokenize.OP and not strings:
                if text in OPENING:
                    open_ones.append(Bracket(at))
                elif text in CLOSING and open_ones:
                    open_ones.pop()
    except (tokenize.TokenError, SyntaxError):
        pass
    return made
