"""Trees of files read lately: a module that many files import is parsed once, not once for each of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from torchlint.source import Source
from torchlint.syntax.outline import Outline, outline

_MOST_BYTES = 3_000_000
"""Text of files whose trees are kept; a tree takes 36 times as much memory (over 3 MB of the development corpus)."""


class Trees:
    """Trees by the absolute paths of their files, those used last kept longest."""

    def __init__(self, most: int = _MOST_BYTES) -> None:
        """Begin; trees of ``most`` bytes of text are kept, the last one in any case."""
        self._most = most
        self._kept: OrderedDict[str, Outline] = OrderedDict()
        self._size = 0

    def find(self, path: str, raw: bytes) -> Outline | None:
        """Give the tree of a file; None where none is kept that was made of these bytes."""
        known = self._kept.get(path)
        if known is None or known.source.raw != raw:
            return None
        self._kept.move_to_end(path)
        return known

    def keep(self, path: str, made: Outline) -> None:
        """Keep the tree of a file."""
        before = self._kept.pop(path, None)
        self._kept[path] = made
        self._size += len(made.source.raw) - (len(before.source.raw) if before is not None else 0)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1].source.raw)

    def of(self, path: str, source: Source) -> Outline:
        """Give the tree of a text that is checked, which may have been read for another file's sake.

        :raises SyntaxError: as :func:`outline` does, and what else that raises.
        """
        known = self.find(path, source.raw)
        return replace(known, source=source) if known is not None else outline(source)


TREES = Trees()
"""Those of this process."""
