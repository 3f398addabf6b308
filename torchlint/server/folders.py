"""Which options hold for a document, and whether the files that a result rests on have changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchlint.config import Config, Finder
from torchlint.config.options import Options
from torchlint.config.sources import from_config
from torchlint.discovery.walk import Discovery

Stamp = tuple[int, int, int] | None
"""When a file was changed, its size, and which file it is; None where there is none."""

Stamps = Mapping[str, Stamp]


def stamps(paths: Iterable[str]) -> Stamps:
    """Look at files and folders, there or not."""
    return {path: _stamp(path) for path in paths}


def changed(known: Stamps) -> bool:
    """Return whether something is different now."""
    return any(_stamp(path) != stamp for path, stamp in known.items())


def of_module(path: str) -> tuple[str, ...]:
    """Return what to look at for a path that a result rests on: without suffix, it is a module that may come to be."""
    return (path,) if path.endswith(".py") else (path, f"{path}.py")


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if os.path.isdir(path):
        return (0, 0, found.st_ino)  # what a folder holds changes all the time
    return (found.st_mtime_ns, found.st_size, found.st_ino)


CONFIGURATIONS = ("pyproject.toml", "torchlint.toml")
IGNORES = ".gitignore"


@dataclass(frozen=True, slots=True)
class FolderOptions:
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

    def __init__(self, given: FolderOptions) -> None:
        self._given = given
        self.open: Sequence[str] = ()

    def wanted(self, path: str | None, name: str) -> Wanted:
        """Return what is wanted of a file, or of a text that has none and is treated as one in the first folder.

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
        """Return the innermost open folder around a file; its own folder where none is."""
        if path is None:
            return self.open[0] if self.open else self._given.cwd
        around = [each for each in self.open if path.startswith(each.rstrip(os.sep) + os.sep)]
        return max(around, key=len, default=os.path.dirname(path))

    def sources(self, path: str | None) -> Iterator[str]:
        """Yield the files that have a say in what is wanted, there or not."""
        named, _ = from_config(self._given.options.config)
        if named is not None:
            yield os.path.join(self._given.cwd, named)
        folder = os.path.dirname(path) if path is not None else self._folder(None)
        while True:
            yield from (os.path.join(folder, each) for each in (*CONFIGURATIONS, IGNORES))
            above = os.path.dirname(folder)
            if above == folder:
                return
            folder = above
