"""The code blocks of a Markdown page, with the marks that say what they are: ``<!-- file: noxfile.py -->``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCED = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?(?P<ticks>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """One fenced block: where it stands, its language, the comment above it, and what is in it."""

    page: str
    """The page's path from the repository's root."""
    row: int
    """The row of its first fence, from 1."""
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        """Name it in the report of a test."""
        return f"{self.page}:{self.row}"

    def marked(self, word: str) -> str:
        """Return what the mark says behind a word and a colon; empty where it is another mark or none."""
        key, _, value = self.mark.partition(": ")
        return value if key == word else ""

    @property
    def first(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page, top to bottom.

    :raises AssertionError: where a fence is left open.
    """
    text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    found = [
        Block(name, text.count("\n", 0, each.start("ticks")) + 1, each["language"], each["mark"] or "", each["text"])
        for each in _FENCED.finditer(text)
    ]
    assert "```" not in _FENCED.sub("", text).replace("`````", ""), f"{name}: a fence that is not closed"
    return found


def of(page: str) -> list[Block]:
    """Return the blocks of a page by its path from the repository's root."""
    return blocks(ROOT / page)
