"""Which options hold for a document: those of the command line, run in the editor's folder, for the same path."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.config import Config, Finder
from torchlint.config.options import Options
from torchlint.discover import Discovery

CONFIGURATIONS = ("pyproject.toml", "torchlint.toml")
IGNORES = ".gitignore"


@dataclass(frozen=True, slots=True)
class Given:
    """What the server was started with: its flags and its folder."""

    options: Options
    cwd: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a document: the name it is told by, its options, and whether it is left out.

    ``cwd`` is the folder that relative names start from, ``baseline`` the absolute path of the known findings.
    """

    name: str
    config: Config
    left_out: bool
    cwd: str
    baseline: str | None


class Folders:
    """The folders that are open in the editor; configurations are read anew each time, so that none is stale."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self.open: Sequence[str] = ()

    def wanted(self, path: str | None, name: str) -> Wanted:
        """Give what is wanted of a file, or of a text that has none and is treated as one in the first folder.

        :raises ConfigError: where a configuration cannot be used.
        """
        given, cwd = self._given, self._folder(path)
        finder = Finder(given.options, cwd)
        run = finder.of_folder(cwd)
        baseline = None
        if run.run.baseline is not None:
            baseline = os.path.normpath(os.path.join(run.root or cwd, run.run.baseline))
        if path is None:
            return Wanted(name, run, False, cwd, None)
        discovery = Discovery(finder, cwd, False, run.run.respect_gitignore is not False)
        config = finder.of_folder(os.path.dirname(path))
        return Wanted(discovery.shown(path), config, not discovery.reaches(cwd, path), cwd, baseline)

    def _folder(self, path: str | None) -> str:
        """Give the innermost open folder around a file; its own folder where none is."""
        if path is None:
            return self.open[0] if self.open else self._given.cwd
        around = [each for each in self.open if path.startswith(each.rstrip(os.sep) + os.sep)]
        return max(around, key=len, default=os.path.dirname(path))

    def sources(self, path: str | None) -> Iterator[str]:
        """Give the files that have a say in what is wanted, there or not."""
        if self._given.options.config is not None:
            yield os.path.join(self._given.cwd, self._given.options.config)
        folder = os.path.dirname(path) if path is not None else self._folder(None)
        while True:
            yield from (os.path.join(folder, each) for each in (*CONFIGURATIONS, IGNORES))
            above = os.path.dirname(folder)
            if above == folder:
                return
            folder = above
