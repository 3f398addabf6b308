"""AstCache of files met lately: a module that many files import is parsed once, not once for each of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from torchlint.source import Source
from torchlint.syntax.outline import Outline, outline

_MOST_BYTES = 3_000_000
"""Text of files whose trees are kept; a tree takes 36 times as much memory (over 3 MB of the development corpus)."""
_MOST_CHECKED = 250_000
"""Likewise of those that were checked and asked for by nobody since: most never are, the others soon."""
_MOST_CHECKS = 100
"""A tree that nobody asked for while so many files were checked is let go: another package is at hand by then."""


class _BoundedCache:
    """AstCache of so many bytes of text by the absolute paths of their files, those put in last kept longest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[Outline, int]] = OrderedDict()
        """Each with the number of the check that used it last."""
        self._size = 0

    def find(self, path: str, raw: bytes) -> Outline | None:
        known, _ = self._kept.get(path, (None, 0))
        return known if known is not None and known.source.raw == raw else None

    def put(self, path: str, made: Outline, check: int) -> None:
        """Keep a tree, the last one in any case, and let go of others for it."""
        self.drop(path)
        self._kept[path] = made, check
        self._size += len(made.source.raw)
        while self._size > self._most and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop_unused_since(self, check: int) -> None:
        while self._kept and next(iter(self._kept.values()))[1] < check:
            self.drop(next(iter(self._kept)))

    def drop(self, path: str) -> None:
        known, _ = self._kept.pop(path, (None, 0))
        self._size -= len(known.source.raw) if known is not None else 0


class AstCache:
    """AstCache by the absolute paths of their files."""

    def __init__(self, most: int = _MOST_BYTES, most_checked: int = _MOST_CHECKED) -> None:
        """Begin; ``most`` and ``most_checked`` are bytes of text."""
        self._asked_for = _BoundedCache(most)
        self._checked = _BoundedCache(most_checked)
        self._check = 0

    def find(self, path: str, raw: bytes) -> Outline | None:
        """Return the tree of a file; None where none is kept that was made of these bytes."""
        known = self._asked_for.find(path, raw)
        if known is None and (known := self._checked.find(path, raw)) is not None:
            self._checked.drop(path)
        if known is not None:
            self.keep(path, known)
        return known

    def keep(self, path: str, made: Outline) -> None:
        """Keep the tree of a file that was read for another one's sake."""
        self._asked_for.put(path, made, self._check)

    def of(self, path: str, source: Source) -> Outline:
        """Return the tree of a text that is checked, which may have been read for another file's sake.

        :raises SyntaxError: as :func:`outline` does, and what else that raises.
        """
        self._check += 1
        for part in (self._asked_for, self._checked):
            part.drop_unused_since(self._check - _MOST_CHECKS)
        known = self.find(path, source.raw)
        if known is not None:
            return replace(known, source=source)
        made = outline(source)
        self._checked.put(path, made, self._check)
        return made


AST_CACHE = AstCache()
"""Those of this process."""
