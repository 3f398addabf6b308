"""What ``.gitignore`` files say of paths, as earlier runs found it: that rests on the patterns and the path alone."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.cache.program import library
from torchlint.cache.shelf import Shelf

_MOST_PATHS = 50_000
"""Paths kept for one set of patterns; where there are more, those of the last run are."""

_Known = dict[str, bool | None]


class Verdicts:
    """The verdicts of earlier runs, by the text of the patterns and the path, and those of this run."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._known: dict[str, _Known] = {}
        self._new: dict[str, _Known] = {}
        self._program = ""

    def of(self, patterns: str, path: str, ask: Callable[[], bool | None]) -> bool | None:
        """Give the verdict on a path; ``ask`` is asked for one that is not known."""
        if patterns not in self._known:
            self._known[patterns] = self._taken(patterns)
        known = self._known[patterns]
        if path not in known:
            known[path] = self._new.setdefault(patterns, {})[path] = ask()
        return known[path]

    def write(self) -> None:
        """Keep what is new."""
        for patterns, new in self._new.items():
            # What another run wrote meanwhile is kept.
            known = {**self._taken(patterns), **new}
            self._shelf.put(self._key(patterns), known if len(known) <= _MOST_PATHS else new)
        self._new.clear()

    def _taken(self, patterns: str) -> _Known:
        found = self._shelf.take(self._key(patterns))
        if not isinstance(found, dict) or not all(each is None or isinstance(each, bool) for each in found.values()):
            return {}
        return found

    def _key(self, patterns: str) -> str:
        self._program = self._program or library("pathspec")
        return f"ignored {self._program} {patterns}"
