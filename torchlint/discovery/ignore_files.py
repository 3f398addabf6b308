"""What a ``.gitignore`` says of the paths below its folder."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Ignores:
    """One file of patterns, and the folder they start from."""

    def __init__(self, folder: str, raw: bytes) -> None:
        self._below = folder.rstrip(os.sep) + os.sep
        # As git has it: a line ends with a newline and nothing else, and a byte-order mark is none of the pattern.
        patterns = raw.decode("utf-8-sig", "surrogateescape")
        self._spec = _spec([line.removesuffix("\r") for line in patterns.split("\n")])

    def verdict(self, path: str, folder: bool) -> bool | None:
        """Return whether a path below the folder is left out; None where no pattern speaks of it."""
        relative = path.removeprefix(self._below).replace(os.sep, "/") + "/" * folder
        return self._spec.check_file(relative).include


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # here: it takes long, and most folders hold no such file

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
