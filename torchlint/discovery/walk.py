"""Which files a run is about: the folders walked, what they leave out, and what could not be looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchlint.config import Config, ConfigError, Finder
from torchlint.diagnostics.model import Trouble
from torchlint.discovery.ignore_files import Ignores
from torchlint.source import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.diagnostics.changed_lines import Changed

SUFFIXES = (".py", ".pyi", ".ipynb")


@dataclass(frozen=True, slots=True)
class Target:
    """A file to look at: the path to show, the absolute path to open, and the options that hold for it.

    ``writable`` is False for a link that leads out of the folder that was given: such a file is checked, never fixed.
    ``changed`` confines what counts to some of its rows.
    """

    path: str
    real: str
    config: Config
    writable: bool = True
    changed: Changed | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something left out that the user may want to know, but that is no failure."""

    path: str
    message: str


Found = Target | Trouble | Notice


class Discovery:
    """Turns the paths of the command line into files, each real file once."""

    def __init__(self, finder: Finder, cwd: str, force_exclude: bool = False, respect_gitignore: bool = True) -> None:
        self._finder = finder
        self._cwd = cwd
        self._force_exclude = force_exclude
        self._respect_gitignore = respect_gitignore
        self._seen: set[str] = set()

    @classmethod
    def of_run(cls, finder: Finder, config: Config, cwd: str) -> Discovery:
        """Make what finds the files of a run under the configuration of its folder."""
        ignored = config.run.respect_gitignore is not False
        return cls(finder, cwd, bool(config.run.force_exclude), ignored)

    def find(self, paths: Iterable[str]) -> Iterator[Found]:
        """Yield every file that the paths mean, folders in the order of their names, and what went wrong on the way."""
        for path in paths:
            absolute = os.path.normpath(os.path.join(self._cwd, path))
            try:
                mode = os.stat(absolute).st_mode
            except OSError as error:
                yield Trouble(path, _reason(absolute, error))
                continue
            if stat.S_ISDIR(mode):
                if not self.forced_out(absolute):
                    yield from self._walk(absolute)
            elif stat.S_ISREG(mode):
                yield from self._named(absolute)
            else:
                yield Trouble(path, "not a regular file: give a file or a folder, or `-` for standard input")

    def forced_out(self, absolute: str) -> bool:
        """Return whether ``--force-exclude`` leaves out a path that was named."""
        if not self._force_exclude:
            return False
        try:
            config = self._finder.of_folder(os.path.dirname(absolute))
        except ConfigError:
            return False
        top = (config.root or self._cwd).rstrip(os.sep) + os.sep
        while absolute.startswith(top):
            if config.excludes(absolute):
                return True
            absolute = os.path.dirname(absolute)
        return False

    def reaches(self, top: str, absolute: str) -> bool:
        """Return whether a walk from a folder comes to a file below it: no exclude and no ``.gitignore`` is in the way.

        :raises ConfigError: where a configuration on the way cannot be used.
        """
        folder, ignores = top, self._above(top)
        steps = os.path.relpath(absolute, top).split(os.sep)
        for at, step in enumerate(steps, start=1):
            config = self._finder.of_folder(folder)
            ignores = [*ignores, *self._here(folder)]
            folder = os.path.join(folder, step)
            if self._ruled_out(folder, at < len(steps), config, ignores):
                return False
        return True

    def shown(self, absolute: str) -> str:
        """Return the path to show: relative to the current folder where it lies below it."""
        return absolute.removeprefix(self._cwd.rstrip(os.sep) + os.sep)

    def _named(self, absolute: str) -> Iterator[Found]:
        if self.forced_out(absolute):
            return
        try:
            config = self._finder.of_folder(os.path.dirname(absolute))
        except ConfigError as error:
            yield Trouble(self.shown(absolute), str(error))
            return
        yield from self._once(Target(self.shown(absolute), os.path.realpath(absolute), config))

    def _once(self, target: Target) -> Iterator[Target]:
        if target.real not in self._seen:
            self._seen.add(target.real)
            yield target

    def _walk(self, top: str) -> Iterator[Found]:
        """Walk a folder without recursion, so that no depth of folders can end the run."""
        inside = os.path.realpath(top).rstrip(os.sep) + os.sep
        stack = [(top, os.path.realpath(top), self._above(top))]
        while stack:
            folder, real, ignores = stack.pop()
            try:
                config = self._finder.of_folder(folder)
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except ConfigError as error:
                yield Trouble(self.shown(folder), f"left out: {error}")
                continue
            except OSError as error:
                yield Trouble(self.shown(folder), _reason(folder, error))
                continue
            ignores = [*ignores, *self._here(folder)]
            kept = [each for each in entries if not self._left_out(each, config, ignores)]
            yield from self._files(kept, config, real, inside)
            below = (each for each in reversed(kept) if each.is_dir(follow_symlinks=False))
            stack.extend((each.path, os.path.join(real, each.name), ignores) for each in below)

    def _files(self, entries: list[os.DirEntry[str]], config: Config, real: str, inside: str) -> Iterator[Found]:
        # Real files first: a link beside its own target must not take the target's place.
        for entry in sorted(entries, key=lambda each: each.is_symlink()):
            if not entry.name.endswith(SUFFIXES) or entry.is_dir(follow_symlinks=False):
                continue
            shown = self.shown(entry.path)
            if entry.is_symlink():
                yield from self._linked(entry, shown, config, inside)
            elif entry.is_file(follow_symlinks=False):
                yield from self._once(Target(shown, os.path.join(real, entry.name), config))
            else:
                yield Notice(shown, "skipped: not a regular file")

    def _linked(self, entry: os.DirEntry[str], shown: str, config: Config, inside: str) -> Iterator[Found]:
        try:
            mode = os.stat(entry.path).st_mode
        except OSError as error:
            yield Trouble(shown, _reason(entry.path, error))
            return
        if stat.S_ISREG(mode):
            target = os.path.realpath(entry.path)
            yield from self._once(Target(shown, target, config, target.startswith(inside)))
        elif not stat.S_ISDIR(mode):
            yield Notice(shown, "skipped: not a regular file")

    def _left_out(self, entry: os.DirEntry[str], config: Config, ignores: list[Ignores]) -> bool:
        folder = entry.is_dir(follow_symlinks=False)
        if not folder and not entry.name.endswith(SUFFIXES):
            return True
        return self._ruled_out(entry.path, folder, config, ignores)

    def _ruled_out(self, path: str, folder: bool, config: Config, ignores: list[Ignores]) -> bool:
        if config.excludes(path):
            return True
        verdicts = (each.verdict(path, folder) for each in reversed(ignores))
        return next((each for each in verdicts if each is not None), False)

    def _above(self, top: str) -> list[Ignores]:
        """Return the ignores of the folders above, up to the repository's own, outermost first.

        Those that would leave out the folder itself are dropped: it was named.
        """
        found: list[Ignores] = []
        folder = top
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return []  # no repository: the folders above have no say
            folder = parent
            found[:0] = self._here(folder)
        return [each for each in found if not each.verdict(top, folder=True)]

    def _here(self, folder: str) -> Iterator[Ignores]:
        if not self._respect_gitignore:
            return
        for name in (os.path.join(".git", "info", "exclude"), ".gitignore"):
            try:
                raw = files.read(os.path.join(folder, name))
            except OSError:
                continue
            yield Ignores(folder, raw)


def _reason(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"broken link to `{os.readlink(path)}`" if os.path.islink(path) else "no such file or folder"
    return f"cannot be read: {error.strerror or error}"
