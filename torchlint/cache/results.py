"""What earlier runs found in files: asked before a file is looked at, told after."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from torchlint.cache.file_state import Answers, FileState, Reading, digest
from torchlint.cache.serialize import Entry, Misread, dump_entries, dump_result, load_entries, load_result
from torchlint.cache.store import Store
from torchlint.cache.version_key import version_key
from torchlint.config import Config
from torchlint.diagnostics.model import FileResult
from torchlint.discovery.walk import Target

EVERY = 3_000_000_000
"""Nanoseconds between two writings at least."""
SHARE = 20
"""Writing may take one part in so many of a run's time: all that is known of a folder is written anew."""
_FILE = ".py"
"""How paths end among :attr:`FileResult.reads` that are files and not places of modules."""


class _Folder:
    """The entries for the files of one folder under one configuration; whether they are to be written."""

    def __init__(self, key: str, path: str, entries: dict[str, Entry]) -> None:
        self.key = key
        self.path = path
        self.entries = entries
        self.stale = False


class ResultCache:
    """The results of earlier runs, as far as they still hold."""

    def __init__(self, store: Store, clock: Callable[[], int]) -> None:
        self._store = store
        self.clock = clock
        self._files = FileState(clock)
        self._answers = Answers(store, self._files)
        self._version_key = version_key()
        self._folders: dict[tuple[int, str, str], _Folder] = {}
        self._configs: dict[int, tuple[Config, str]] = {}

    @property
    def fault(self) -> str:
        """What kept the cache from being used, in one line; empty where nothing did."""
        return self._store.fault

    def refresh(self) -> None:
        """Look at all files again when they are asked for next: they may have changed."""
        self._files = FileState(self.clock)
        self._answers.renew(self._files)

    def recall(self, target: Target) -> FileResult | None:
        """Return the result for a file, if a run had one and nothing that it rests on has changed.

        Where it holds findings, it holds the source that they stand in, read now.
        """
        folder = self._folder(target)
        name = os.path.basename(target.path)
        entry = folder.entries.get(name)
        if entry is None or not self._holds(entry, target.real):
            return None
        result = load_result(entry, target, self._files)
        renewed = self._renewed(entry, target.real)
        if result is not None and renewed != entry:
            folder.entries[name] = renewed
            folder.stale = True
        return result

    def remember(self, target: Target, result: FileResult, raw: bytes) -> None:
        """Keep the result for a file that held ``raw``, unless something it rests on is no longer what it was."""
        if result.troubles or self._store.fault:
            return
        known = digest(raw)
        folder, found = self._folder(target), dump_result(result)
        rests_on = self._rests_on(target, result.reads, json.dumps(found)) if self._answers.hold(result.asked) else None
        if rests_on is None or self._files.digest(target.real) != known:
            return
        files, bases = rests_on
        homes = sorted({os.path.dirname(each.path) for each in files})
        folder.entries[os.path.basename(target.path)] = Entry(
            known,
            self._files.lasting(target.real),
            files,
            bases,
            tuple((home, *self._files.home(home)) for home in homes),
            result.asked,
            found,
        )
        folder.stale = True

    def write(self) -> None:
        """Write what is new, and keep the folder of the cache within its bounds."""
        self._answers.write()
        written = False
        for folder in self._folders.values():
            if folder.stale:
                # What another run wrote meanwhile is kept.
                entries = {**self._stored(folder.key), **folder.entries}
                there = {name: each for name, each in entries.items() if self._is_there(folder, name)}
                self._store.put(folder.key, dump_entries(there))
                folder.stale, written = False, True
        if written:
            self._store.trim()

    def writer(self) -> PeriodicWriter:
        """Return what takes the results of a run as they come."""
        return PeriodicWriter(self)

    # ------------------------------------------------------------------ what an entry rests on
    def _holds(self, entry: Entry, real: str) -> bool:
        files = self._files
        return (
            files.stamp(real) is not None
            and files.same(real, entry.digest, entry.stamp)
            and all(files.home(home) == (top, root) for home, top, root in entry.homes)
            and all(files.shape(base) == there for base, there in entry.bases)
            and all(map(files.says_the_same, entry.files))
            and self._answers.hold(entry.asked)
        )

    def _renewed(self, entry: Entry, real: str) -> Entry:
        """Return an entry that holds, with the stamps that files have now."""
        return replace(entry, stamp=self._files.lasting(real), files=tuple(map(self._files.renewed, entry.files)))

    def _rests_on(
        self, target: Target, reads: Iterable[tuple[str, str | None]], said: str
    ) -> tuple[tuple[Reading, ...], tuple[tuple[str, str | None], ...]] | None:
        """Return the other files and the places of modules, as they are; None where they are not what they were.

        ``said`` is all that is told to the user, which may name lines of other files.
        """
        files: list[Reading] = []
        bases: list[tuple[str, str | None]] = []
        for path, known in reads:
            if not path.endswith(_FILE):
                if self._files.shape(path) != known:
                    return None
                bases.append((path, known))
                continue
            now, stamp = self._files.digest(path), self._files.lasting(path)
            # Of one that could not be read only its age tells that it was then as it is now.
            if now is None or (now != known if known is not None else stamp is None):
                return None
            places = self._lines_named(said, target, path)
            code = self._files.code(path, places)
            if code is None:
                return None
            files.append(Reading(path, now, stamp, code, places))
        return tuple(files), tuple(bases)

    def _lines_named(self, said: str, target: Target, path: str) -> tuple[int, ...]:
        """Return the lines of another file that are named, its path spelled as that of the file that is checked."""
        beside = os.path.relpath(path, self._folder(target).path)
        shown = json.dumps(os.path.normpath(os.path.join(os.path.dirname(target.path), beside)))[1:-1]
        return tuple(sorted({int(each) for each in re.findall(rf"{re.escape(shown)} line (\d+)", said)}))

    # ------------------------------------------------------------------ folders
    def _folder(self, target: Target) -> _Folder:
        shown, _, _ = target.path.rpartition(os.sep)
        place = (id(target.config), shown, target.config.cwd)
        if place not in self._folders:
            path = os.path.dirname(os.path.normpath(os.path.join(target.config.cwd, target.path)))
            parts = [self._version_key, path, shown, *self._files.home(path), self._config(target.config)]
            key = json.dumps(parts)
            self._folders[place] = _Folder(key, path, self._stored(key))
        return self._folders[place]

    def _stored(self, key: str) -> dict[str, Entry]:
        try:
            return load_entries(self._store.get(key))
        except Misread:
            return {}

    def _is_there(self, folder: _Folder, name: str) -> bool:
        return self._files.stamp(os.path.join(folder.path, name)) is not None

    def _config(self, config: Config) -> str:
        """Return what a result rests on of a configuration, which is kept, so that its number is not used again."""
        if id(config) not in self._configs:
            self._configs[id(config)] = (config, json.dumps(config.cache_key()))
        return self._configs[id(config)][1]


class PeriodicWriter:
    """Writes what a run finds into the cache at intervals, so that a run that is killed keeps most of it.

    It looks at the files again before it believes what was found in them.
    """

    def __init__(self, cache: ResultCache) -> None:
        self._cache = cache
        self._waiting: list[tuple[Target, FileResult, bytes]] = []
        self._due = cache.clock() + EVERY

    def add(self, target: Target, result: FileResult, raw: bytes) -> None:
        """Take what was found in a file that held ``raw``, and write where it is time to."""
        self._waiting.append((target, result, raw))
        if self._cache.clock() >= self._due:
            self.write()

    def write(self) -> None:
        """Write all that was taken."""
        begun = self._cache.clock()
        self._cache.refresh()
        for each in self._waiting:
            self._cache.remember(*each)
        self._waiting.clear()
        self._cache.write()
        ended = self._cache.clock()
        self._due = ended + max(EVERY, SHARE * (ended - begun))
