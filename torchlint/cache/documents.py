"""What configuration files hold, as earlier runs read it: that rests on their text and on the program alone."""

from __future__ import annotations

import os
from collections.abc import Callable

from torchlint.cache.shelf import Shelf
from torchlint.config import CACHE, Document
from torchlint.version import VERSION

_LONGEST = 200_000
"""Characters of a configuration file that is kept."""
_DEEPEST = 30
"""Tables and lists in each other; what is deeper is not kept."""


class Documents:
    """The documents of earlier runs and those of this run.

    Which folder is the run's cache is said by the configuration itself, so a document is looked for beside its file,
    where the cache is unless something else is said; ``folder`` is said by a flag.
    """

    def __init__(self, clock: Callable[[], int], folder: str | None = None) -> None:
        self._clock = clock
        self._folder = folder
        self._new: list[tuple[Shelf, str, Document]] = []

    def of(self, path: str, text: str, read: Callable[[str], Document]) -> Document:
        """Give the document of a file's text; ``read`` is asked for one that is not known.

        What ``read`` raises is raised, and not kept.
        """
        shelf = Shelf(self._folder or os.path.join(os.path.dirname(path), CACHE), self._clock)
        key = f"configuration {VERSION} {text}"
        found = shelf.take(key) if len(text) <= _LONGEST else None
        if isinstance(found, dict):
            return found
        document = read(text)
        if len(text) <= _LONGEST and _is_plain(document):
            self._new.append((shelf, key, document))
        return document

    def write(self, folder: str) -> None:
        """Keep what is new, as far as it belongs into the cache of the run."""
        for shelf, key, document in self._new:
            if os.path.normpath(shelf.folder) == folder:
                shelf.put(key, document)
        self._new.clear()


def _is_plain(value: object, depth: int = _DEEPEST) -> bool:
    """Whether JSON gives a value back as it is: TOML has dates and times too."""
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(key, str) and _is_plain(each, depth - 1) for key, each in value.items())
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(each, depth - 1) for each in value)
    return isinstance(value, str | int | float | bool)
