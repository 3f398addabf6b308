"""Edits of real files at random: bytes, tokens, words and lines, and lines of another file."""

from __future__ import annotations

import re
from random import Random

_TOKEN = re.compile(rb"\w+|[^\w\s]|\s+")
_WORDS = b"data numpy torch Tensor FloatTensor Variable detach cpu cuda new type volatile no_grad self grad".split()
_SIGNS = b"( ) [ ] { } : , ; . = == := * ** -> @ \\ \n \r \t \x0c \x00 \xff # ' \" ''' \"\"\" f' b' lambda".split(b" ")
_LINES = (
    b"# noqa", b"# noqa: TNS101,E501", b"# torchlint: ignore[TNS103] why", b"# torchlint: ignore-file", b"\x0c",
    b"import torch", b"from torch.autograd import Variable", b"# coding: latin-1", b"# coding: utf-16", b"if 1:",
    b"w.data.zero_()", b"x = Variable(x, volatile=True)", b"y = x.data.cpu().numpy()[0]", b"with torch.no_grad():",
)  # fmt: skip


def damaged(chance: Random, raw: bytes, other: bytes) -> bytes:
    """Return a file with one to six edits; ``other`` is a file from which lines may come."""
    for _ in range(chance.randint(1, 6)):
        raw = chance.choice(_EDITS)(chance, raw, other)
    return raw


def _bytes(chance: Random, raw: bytes, other: bytes) -> bytes:
    del other
    at = chance.randrange(len(raw) + 1)
    piece = bytes(chance.randrange(256) for _ in range(chance.randint(0, 3)))
    return raw[:at] + piece + raw[at + chance.randint(0, 3) :]


def _tokens(chance: Random, raw: bytes, other: bytes) -> bytes:
    del other
    found = _TOKEN.findall(raw)
    if not found:
        return raw
    at, to = chance.randrange(len(found)), chance.randrange(len(found))
    match chance.randrange(4):
        case 0:
            del found[at]
        case 1:
            found[at], found[to] = found[to], found[at]
        case 2:
            found.insert(at, chance.choice(_SIGNS))
        case _:
            found.insert(at, found[to])
    return b"".join(found)


def words(chance: Random, raw: bytes, other: bytes) -> bytes:
    """Put a word that rules look for in the place of another: what still parses is worth most."""
    del other
    places = list(re.finditer(rb"\b[A-Za-z_]\w*\b", raw))
    for found in sorted(chance.sample(places, min(3, len(places))), key=lambda each: -each.start()):
        raw = raw[: found.start()] + chance.choice(_WORDS) + raw[found.end() :]
    return raw


def _lines(chance: Random, raw: bytes, other: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    blank = re.match(rb"[ \t]*", lines[at])[0] if at < len(lines) else b""  # type: ignore[index]
    match chance.randrange(5):
        case 0:
            del lines[at : at + chance.randint(1, 5)]
        case 1:
            lines[at:at] = lines[at : at + chance.randint(1, 3)]
        case 2:
            lines.insert(at, blank + chance.choice(_LINES) + b"\n")
        case 3:
            foreign = other.splitlines(keepends=True)
            begin = chance.randrange(len(foreign) + 1)
            lines[at:at] = foreign[begin : begin + chance.randint(1, 20)]
        case _:
            lines[at:at] = [blank + b"if 1:\n"]
            lines[at + 1 : at + 4] = [b"    " + each for each in lines[at + 1 : at + 4]]
    return b"".join(lines)


def _newlines(chance: Random, raw: bytes, other: bytes) -> bytes:
    del other
    plain = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    wanted = chance.choice((b"\n", b"\r\n", b"\r"))
    return b"".join(each + (wanted if chance.random() < 0.98 else b"\n") for each in plain.split(b"\n"))


_EDITS = (_bytes, _tokens, _tokens, words, words, _lines, _lines, _lines, _newlines)
