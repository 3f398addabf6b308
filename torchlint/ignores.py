"""What a ``.gitignore`` says of the paths below its folder."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pathspec import GitIgnoreSpec

    from torchlint.cache.verdicts import Verdicts


class Ignores:
    """One file of patterns, and the folder they start from; ``known`` is what earlier runs found."""

    def __init__(self, folder: str, raw: bytes, known: Verdicts | None = None) -> None:
        self._below = folder.rstrip(os.sep) + os.sep
        # As git has it: a line ends with a newline and nothing else, and a byte-order mark is none of the pattern.
        self._patterns = raw.decode("utf-8-sig", "surrogateescape")
        self._known = known
        self._spec: GitIgnoreSpec | None = None

    def verdict(self, path: str, folder: bool) -> bool | None:
        """Tell whether a path below the folder is left out; None where no pattern speaks of it."""
        relative = path.removeprefix(self._below).replace(os.sep, "/") + "/" * folder
        ask: Callable[[], bool | None] = lambda: self._asked(relative)  # noqa: E731  # asked here or remembered there
        return self._known.of(self._patterns, relative, ask) if self._known is not None else ask()

    def _asked(self, relative: str) -> bool | None:
        if self._spec is None:
            self._spec = _spec([line.removesuffix("\r") for line in self._patterns.split("\n")])
        return self._spec.check_file(relative).include


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # here: where the answers are known, it takes longer than all the rest of a run

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:  # git steps over a pattern that means nothing, pathspec refuses the file
        return GitIgnoreSpec.from_lines([line for line in lines if _valid(line)])


def _valid(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
