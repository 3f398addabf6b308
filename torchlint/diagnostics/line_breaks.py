"""Lines that a fix makes too long are broken: what stands in a bracket goes on a line of its own, as black has it."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from torchlint.diagnostics.bracket_rows import CLOSING, IN_STRING, OPENING
from torchlint.diagnostics.splice import apart
from torchlint.source.text import Edit, Source

_BARE_RETURN = re.compile(r"\r(?!\n)")
_LAST = re.compile(r"[)\]},:;\s]*|[)\]}](?:\.\w+(?:\([^()\[\]{}]*\))?)+[)\]},:;\s]*")
"""What may stand behind the bracket that is broken, attributes and methods of the result among it.

More code there would hang between the lines.
"""
_OF_ONE_PART = frozenset({"for", "lambda"})
"""A comma beside these words is none between the parts of a bracket."""


@dataclass
class _Piece:
    """A piece of the new text: what an edit writes, or what is kept; ``old`` is where that begins in the file."""

    start: int
    text: str
    old: int
    edit: Edit | None = None
    changes: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def edits(self) -> Iterator[Edit]:
        """Yield the edits that make of the file what it is now to be."""
        if self.edit is None:
            for start, end, text in self.changes:
                first = self.old + len(self.text[:start].encode())
                yield Edit(first, first + len(self.text[start:end].encode()), text)
            return
        text = self.text
        for start, end, more in sorted(self.changes, reverse=True):
            text = text[:start] + more + text[end:]
        yield Edit(self.edit.start, self.edit.end, text)


@dataclass(frozen=True)
class _Pair:
    """A bracket and its counterpart on the same row, and the commas between its parts: positions in the new text."""

    open: int
    close: int
    commas: tuple[int, ...] = ()


@dataclass
class _Tokens:
    """What is to be known of the rows of a new text, from 0."""

    pairs: dict[int, list[_Pair]] = field(default_factory=dict)
    left_open: dict[int, list[int]] = field(default_factory=dict)
    whole: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Rows that hold all of what stands in a bracket around them, with the commas between its parts."""
    kept: set[int] = field(default_factory=set)
    """Rows that hold a comment or a part of a string of several rows."""


def with_breaks(source: Source, edits: Sequence[Edit], rows: range, limit: int, unit: str) -> tuple[Edit, ...]:
    """Return edits with those that break the rows of a statement which they make longer than the limit.

    ``unit`` is one level of indentation. They are as they were where no bracket makes all lines fit.
    """
    start = source.line_starts[rows[0] - 1]
    end = source.line_starts[rows[-1] - 1] + len(source.line(rows[-1]).encode())
    inner = [each for each in edits if start <= each.start and each.end <= end]
    others = [each for each in edits if each not in inner]
    if not inner or any(each.start < end and each.end > start for each in others):
        return tuple(edits)
    if all(len(source.line(source.position(each.start)[0])) > limit for each in inner):
        return tuple(edits)  # the lines were too long before: nothing is broken there
    pieces = list(_pieces(source, inner, start, end))
    text = "".join(each.text for each in pieces)
    tokens = _tokens(text)
    if tokens is None:
        return tuple(edits)
    at = 0
    for number, line in enumerate(text.split("\n")):
        if len(line.rstrip("\r")) > limit and number not in tokens.kept:
            touched = [each for each in pieces if each.edit and each.start <= at + len(line) and each.end >= at]
            old = (source.line(source.position(each.old)[0]) for each in touched)
            if touched and all(len(each) <= limit for each in old):
                changes = _chosen(line, at, tokens, number, touched, limit, unit)
                if not all(change.put(pieces, *beside) for change, beside in changes):
                    return tuple(edits)
        at += len(line) + 1
    made = (edit for piece in pieces for edit in piece.edits())
    result = tuple(sorted((*others, *made), key=lambda each: (each.start, each.end)))
    return result if apart(result) else tuple(edits)


def _pieces(source: Source, edits: Sequence[Edit], start: int, end: int) -> Iterator[_Piece]:
    at, last = 0, start
    for edit in edits:
        kept = _Piece(at, source.slice(last, edit.start), last)
        written = _Piece(kept.end, edit.text, edit.start, edit)
        yield from (kept, written)
        at, last = written.end, edit.end
    yield _Piece(at, source.slice(last, end), last)


def _tokens(text: str) -> _Tokens | None:
    """Read a statement; None where it cannot be read."""
    if _BARE_RETURN.search(text):
        return None
    reader = _Reader(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            reader.take(token)
    except (tokenize.TokenError, SyntaxError):
        return None
    return reader.made


@dataclass
class _Open:
    """A bracket that is not closed yet, and the commas inside it so far: positions in the new text."""

    row: int
    at: int
    is_index: bool
    commas: list[int] = field(default_factory=list)
    is_one_part: bool = False


class _Reader:
    """Takes the tokens of a statement, one after another."""

    def __init__(self, text: str) -> None:
        self.made = _Tokens()
        self._text = text
        self._begins = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._open: list[_Open] = []
        self._strings, self._before = 0, ""

    def take(self, token: tokenize.TokenInfo) -> None:
        """Take the next token; what stands in strings is none of the statement's own."""
        kind, word, (row, column), (last, _), _ = token
        if row != last or kind == tokenize.COMMENT:
            self.made.kept.update(range(row - 1, last))
        self._strings += tokenize.tok_name[kind] in IN_STRING[0]
        self._strings -= tokenize.tok_name[kind] in IN_STRING[1]
        if kind == tokenize.OP and not self._strings:
            self._operator(word, row - 1, self._begins[row - 1] + column)
        elif kind == tokenize.NAME and not self._strings and self._open:
            self._open[-1].is_one_part |= word in _OF_ONE_PART
        self._before = word if word.strip() else self._before

    def _operator(self, word: str, row: int, at: int) -> None:
        if word in OPENING:
            self._open.append(_Open(row, at, word == "[" and _is_indexed(self._before)))
        elif word in CLOSING and self._open:
            self._close(self._open.pop(), row, at)
        elif word == "," and self._open:
            self._open[-1].commas.append(at)

    def _close(self, opened: _Open, row: int, at: int) -> None:
        commas = () if opened.is_one_part else tuple(opened.commas)
        if opened.row != row:
            self.made.left_open.setdefault(opened.row, []).append(opened.at)
            has_row_inside = row == opened.row + 2 and _ends_its_row(self._text, opened.at)
            if commas and has_row_inside and not self._text[self._begins[row] : at].strip():
                self.made.whole[opened.row + 1] = commas
        elif not opened.is_index and self._text[opened.at + 1 : at].strip():
            self.made.pairs.setdefault(row, []).append(_Pair(opened.at, at, commas))


def _ends_its_row(text: str, at: int) -> bool:
    """Whether nothing stands behind a place of a text in its row."""
    return not text[at + 1 :].partition("\n")[0].strip()


def _is_indexed(word: str) -> bool:
    """Whether a square bracket behind a word takes an element of it."""
    return word[-1:] in (*CLOSING, "'", '"') or (word.isidentifier() and not keyword.iskeyword(word))


def _chosen(
    line: str, at: int, tokens: _Tokens, number: int, touched: Sequence[_Piece], limit: int, unit: str
) -> list[_Placed]:
    """Return the changes that break a row at the outermost brackets around what grew, or the last ones of a moved row.

    They end the row, as black has it.
    """
    pairs = sorted(tokens.pairs.get(number, ()), key=lambda each: each.open)
    grown = [each for each in pairs if any(each.open <= one.end and each.close >= one.start for one in touched)]
    outermost = [each for each in pairs if not any(one.open < each.open < one.close for one in pairs)]
    indent = len(line) - len(line.lstrip())
    moved = any(at <= each.end <= at + indent for each in touched)
    breaks = _Breaks(line, at, pairs, limit, unit)
    if number in tokens.whole and (changes := breaks.at_commas(tokens.whole[number], line[:indent])):
        return changes
    for pair in [*grown, *outermost[::-1]] if moved else grown:
        if any(one > pair.open for one in tokens.left_open.get(number, ())):
            continue
        head, tail = line[: pair.open - at + 1], line[pair.close - at :]
        if _LAST.fullmatch(tail) and max(len(head), indent + len(tail.rstrip())) <= limit:
            changes = breaks.at_pair(pair, line[:indent])
            if changes is not None:
                return changes
    return []


@dataclass(frozen=True)
class _Breaks:
    """The ways to break a row, which begins at some place of the new text, at one of its brackets."""

    line: str
    at: int
    pairs: Sequence[_Pair]
    limit: int
    unit: str

    def at_pair(self, pair: _Pair, indent: str) -> list[_Placed] | None:
        """Put what stands in brackets on a line of its own, or each part of it; None where the limit allows neither.

        What is one call or list alone is broken at its brackets, too.
        """
        inner = indent + self.unit
        body = self._text(pair.open + 1, pair.close)
        first = pair.open + 1 + len(body) - len(body.lstrip())
        last = pair.open + 1 + len(body.rstrip())
        changes = [self._behind(pair.open, first, inner), self._before(last, pair.close, f"\n{indent}")]
        if self._fits(inner, body):
            return changes
        ends_with_comma = bool(pair.commas) and pair.commas[-1] == last - 1
        commas = pair.commas[:-1] if ends_with_comma else pair.commas
        if commas:
            starts = [first, *(each + 1 for each in commas)]
            parts = zip(starts, [*commas, last - ends_with_comma], strict=True)
            if not all(self._fits(inner, self._text(start, end) + ",") for start, end in parts):
                return None
            if not ends_with_comma:
                changes[-1] = self._before(last, pair.close, f",\n{indent}")
            behind = ((each, each + 1 + self._blanks(each + 1)) for each in commas)
            return [*changes, *(self._behind(each, end, inner) for each, end in behind)]
        alone = next((each for each in self.pairs if each.close == last - 1 and each.open > pair.open), None)
        if alone is None or any(each.open < alone.open and each.close < alone.open for each in self._inside(pair)):
            return None
        if not self._fits(inner, self._text(first, alone.open + 1)):
            return None
        within = self.at_pair(alone, inner)
        return None if within is None else [*changes, *within]

    def at_commas(self, commas: tuple[int, ...], indent: str) -> list[_Placed] | None:
        """Put each part of a row that is all of a bracket on a line of its own; None where the limit does not allow."""
        last = self.at + len(self.line.rstrip())
        ends_with_comma = commas[-1] == last - 1
        between = commas[:-1] if ends_with_comma else commas
        starts = [self.at, *(each + 1 for each in between)]
        parts = zip(starts, [*between, last - ends_with_comma], strict=True)
        if not between or not all(self._fits(indent, self._text(start, end) + ",") for start, end in parts):
            return None
        changes = [self._behind(each, each + 1 + self._blanks(each + 1), indent) for each in between]
        if not ends_with_comma:
            changes.append((_Change(last, last, ","), ("", "")))
        return changes

    def _inside(self, pair: _Pair) -> list[_Pair]:
        return [each for each in self.pairs if pair.open < each.open < pair.close]

    def _text(self, start: int, end: int) -> str:
        return self.line[start - self.at : end - self.at]

    def _blanks(self, start: int) -> int:
        rest = self.line[start - self.at :]
        return len(rest) - len(rest.lstrip())

    def _fits(self, indent: str, code: str) -> bool:
        return len(indent) + len(code.strip()) <= self.limit

    def _behind(self, mark: int, end: int, indent: str) -> _Placed:
        """Begin a line behind a bracket or a comma, which is written again with it where that has to be."""
        return _Change(mark + 1, end, f"\n{indent}"), (self._text(mark, mark + 1), "")

    def _before(self, start: int, mark: int, text: str) -> _Placed:
        """Begin a line before a bracket: a fix that takes it away is in the way then, and waits."""
        return _Change(start, mark, text), ("", self._text(mark, mark + 1))


@dataclass(frozen=True)
class _Change:
    """A change of the text that the edits give."""

    start: int
    end: int
    text: str

    def put(self, pieces: Sequence[_Piece], before: str, behind: str) -> bool:
        """Add it to an edit that it stands in, or else with the bracket beside it; False where it is in none."""
        wider = _Change(self.start - len(before), self.end + len(behind), before + self.text + behind)
        written = [each for each in pieces if each.edit is not None]
        ways = [(self, written), (wider, pieces), (self, pieces)]
        places = ((change, each) for change, those in ways for each in those if change.stands_in(each))
        change, piece = next(places, (self, None))
        if piece is None:
            return False
        piece.changes.append((change.start - piece.start, change.end - piece.start, change.text))
        return True

    def stands_in(self, piece: _Piece) -> bool:
        """Whether all of it is within a piece."""
        return piece.start <= self.start and self.end <= piece.end


_Placed = tuple[_Change, tuple[str, str]]
"""A change, and the marks before and behind it that it is written with where it stands in no edit."""
