"""A fix as a unified diff that ``patch`` and ``git apply`` take, byte for byte, whatever the file's encoding."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from torchlint.output.screen import Screen, printable

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def unified(path: str, before: bytes, after: bytes) -> bytes:
    """Return the diff between two states of a file."""
    return "".join(_lines(path, before, after)).encode("utf-8", "surrogateescape")


def shown(diff: bytes, screen: Screen) -> str:
    """Return a diff for a terminal: in colour, controls made visible."""
    return "\n".join(_painted(each, screen) for each in diff.decode("utf-8", "replace").split("\n"))


def _painted(line: str, screen: Screen) -> str:
    visible = "\t".join(printable(each) for each in line.removesuffix("\r").split("\t"))
    if line.startswith(("--- ", "+++ ")):
        return screen.paint(visible, "bold")
    return screen.paint(visible, _STYLES[line[0]]) if line[:1] in _STYLES else visible


def _lines(path: str, before: bytes, after: bytes) -> Iterator[str]:
    name = printable(path)
    for line in difflib.unified_diff(_split(before), _split(after), name, name, lineterm="\n"):
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"


def _split(raw: bytes) -> list[str]:
    text = raw.decode("utf-8", "surrogateescape")
    lines = [f"{each}\n" for each in text.split("\n")]  # not splitlines: a form feed ends no line of a patch
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
