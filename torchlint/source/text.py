"""One file's bytes and text: encoding, byte-order mark, newlines, and offsets to rows and columns and back."""

from __future__ import annotations

import bisect
import codecs
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

_LINE_END = re.compile(rb"\r\n|\r|\n")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")


class SourceError(Exception):
    """The bytes are no Python text: ``message`` says why, ``offset`` is the byte in the file where it shows."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two offsets; an insertion where both are equal.

    ``start`` and ``end`` are byte offsets into :attr:`Source.utf8`. A newline in ``text`` is written as ``\\n`` and
    becomes the file's own newline when the edit is applied.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Source:
    """A file as it was read.

    All offsets in torchlint count bytes of :attr:`utf8`, whatever the file's own encoding is: both parsers count that
    way. ``raw`` alone is in the file's encoding.
    """

    path: str
    raw: bytes
    text: str
    """The decoded text without byte-order mark, newlines untouched."""
    encoding: str = "utf-8"
    bom: bool = False

    @cached_property
    def utf8(self) -> bytes:
        """The text as UTF-8."""
        return self.text.encode("utf-8")

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins; the first is 0."""
        starts = [0, *accumulate(map(len, self.utf8.splitlines(keepends=True)))]
        return starts if self.utf8.endswith((b"\n", b"\r")) or not self.utf8 else starts[:-1]

    @cached_property
    def newline(self) -> str:
        """The newline of the first line, ``"\\n"`` in a file of one line."""
        found = _LINE_END.search(self.utf8)
        return found.group().decode() if found else "\n"

    @cached_property
    def lossless(self) -> bool:
        """Whether the text can be written back to the same bytes; only then may the file be fixed."""
        return self.encode(self.text) == self.raw

    def encode(self, text: str) -> bytes:
        """Turn text back into the file's encoding, with its byte-order mark.

        :raises UnicodeEncodeError: where a character has no place in the encoding.
        """
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the row and the column of an offset, both from 1, the column in characters."""
        row = bisect.bisect_right(self.line_starts, offset)
        start = self.line_starts[row - 1]
        return row, len(self.utf8[start:offset].decode("utf-8", "replace")) + 1

    def offset(self, row: int, byte_column: int) -> int:
        """Return the offset of a row (from 1) and a column in UTF-8 bytes (from 0), as ``ast`` counts them."""
        return self.line_starts[row - 1] + byte_column

    def line(self, row: int) -> str:
        """Return the text of a row (from 1) without its newline."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.utf8)
        return self.utf8[start:end].decode("utf-8").rstrip("\r\n")

    def slice(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        return self.utf8[start:end].decode("utf-8")

    # ------------------------------------------------------------------ what a notebook has otherwise
    @property
    def unread(self) -> str:
        """What stands in the code and is no part of :attr:`text`, though names in it count as used."""
        return ""

    def is_code(self, offset: int) -> bool:
        """Whether what stands at an offset is the user's Python, comments included, and not put there for a magic."""
        del offset
        return True

    def shows(self, offset: int) -> bool:
        """Whether what stands at an offset is of an expression whose value is shown when it has run."""
        del offset
        return False

    @property
    def original(self) -> Source:
        """What the user wrote, in the same rows: to be shown, where :attr:`text` is to be read."""
        return self

    def cell(self, row: int) -> int | None:
        """Return the number of the notebook's cell, from 1, that a row belongs to; None in a file without cells."""
        del row
        return None

    def address(self, offset: int, start: int | None = None) -> tuple[int, int]:
        """Return the row and the column of an offset as the user counts them: in a notebook from its cell's beginning.

        Of two offsets the end may stand behind the cell: ``start`` says in which cell both are counted.
        """
        del start
        return self.position(offset)

    def stored(self, offset: int, start: int | None = None) -> tuple[int, int]:
        """Return the row and the column in the file itself: in a notebook those of the JSON. ``start`` as above."""
        del start
        return self.position(offset)

    def stored_line(self, row: int) -> str:
        """Return the text of a row (from 1) of the file itself."""
        return self.line(row)

    def excerpt(self, start: int, end: int) -> str:
        """Return the text between two offsets as the user wrote it."""
        return self.slice(start, end)

    def cited(self, sentence: str) -> str:
        """Turn the row that a sentence ends with into the user's way of counting."""
        return sentence


def decode(path: str, raw: bytes) -> Source:
    """Read bytes as Python does: byte-order mark, coding line, UTF-8 otherwise.

    :raises SourceError: on an unknown or contradicted encoding, on bytes that the encoding refuses, on NUL bytes.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("the file is UTF-16 or UTF-32, which Python does not read: save it as UTF-8")
    if 0 in raw:
        raise SourceError("source contains a NUL byte", raw.index(0))
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    shift = len(raw) - len(body)
    codec, declared = _codec(body, bom)
    try:
        text = body.decode(codec)
    except UnicodeDecodeError as error:
        message = f"byte 0x{body[error.start]:02x} is not {codec}: save the file as UTF-8 or declare its encoding"
        raise SourceError(message, error.start + shift) from None
    except (LookupError, UnicodeError) as error:
        raise SourceError(f"`{declared}` is no encoding for source text: {error}") from None
    made = Source(path, raw, text, codec, bom)
    if codec == "utf-8":  # which has no lone surrogates, and gives the same bytes again
        vars(made)["utf8"] = body
    elif _SURROGATE.search(text):
        raise SourceError(f"`{declared}` gives a lone surrogate, which is no character")
    return made


def encoded(text: str) -> bytes:
    """Return the bytes in which a text would be saved: in the encoding that it declares, else UTF-8.

    A character that the encoding lacks becomes ``?``; where the encoding is unknown, or cannot hold the text at all,
    the bytes are UTF-8 and :func:`decode` says what is wrong.
    """
    raw = text.encode("utf-8", "surrogatepass")
    bom = raw.startswith(codecs.BOM_UTF8)
    try:
        codec, _ = _codec(raw[len(codecs.BOM_UTF8) * bom :], bom)
        return raw if codec == "utf-8" else text.encode(codec, "replace")
    except (LookupError, UnicodeError, SourceError):
        return raw


def undecoded(path: str, raw: bytes, offset: int) -> Source:
    """Return what can be shown of bytes that are no text, in two halves that meet where the fault is."""
    return Source(path, raw, raw[:offset].decode("utf-8", "replace") + raw[offset:].decode("utf-8", "replace"))


def _codec(body: bytes, bom: bool) -> tuple[str, str]:
    """Return the encoding that one of the first two lines declares, as PEP 263 has it, and how.

    UTF-8 where none does.
    """
    for line in _LINE_END.split(body, maxsplit=2)[:2]:
        if found := _CODING.match(line):
            declared = found.group(1).decode("ascii")
            try:
                codec = codecs.lookup(declared).name
            except LookupError:
                raise SourceError(f"unknown encoding `{declared}`") from None
            if bom and codec not in ("utf-8", "utf-8-sig"):
                raise SourceError(f"the file begins with a UTF-8 mark but declares `{declared}`")
            return ("utf-8" if codec == "utf-8-sig" else codec), declared
        if not _BLANK.match(line):
            break
    return "utf-8", "utf-8"
