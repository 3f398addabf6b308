"""Which classes of a project are below ``Tensor``: their objects have methods of their own, and may be told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.texts.word_index import ProjectFile, WordIndex

_CLASSES = tuple(
    map(
        re.compile,
        (
            rb"class[ \t]+(\w+)[ \t]*\(([^()\[\]]*)\)",
            rb"type\(\s*[\"'](\w+)[\"']\s*,\s*\(([^()\[\]]*)\)",
        ),
    )
)
_WORD = re.compile(rb"\w+(?=\s*(?:,|$))")
"""The last word of a base."""


def tensor_classes(words: WordIndex, _: str) -> str | None:
    """Return the names of the project's classes below ``Tensor``, each behind the path of its file, one on a line."""
    found: dict[str, str] = {}
    waiting = ["Tensor"]
    while waiting:
        base = waiting.pop()
        for file in words.holding(base):
            for name in below(base, file.told(_classes)):
                if name not in found:
                    found[name] = file.shown
                    waiting.append(name)
    return "\n".join(f"{shown} {name}" for name, shown in sorted(found.items())) or None


def below(base: str, classes: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Return the names of the classes of which one of the bases has a name."""
    wanted = base.encode()
    return [name.decode("utf-8", "replace") for name, bases in classes if wanted in _WORD.findall(bases)]


def classes_in(text: bytes) -> tuple[tuple[bytes, bytes], ...]:
    """Return the names of a text's classes, with what their bases are written as."""
    return tuple(found for each in _CLASSES for found in each.findall(text))


def _classes(file: ProjectFile) -> tuple[tuple[bytes, bytes], ...]:
    return classes_in(file.text)
