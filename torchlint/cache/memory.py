"""What earlier runs found in files: asked before a file is looked at, told after."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace

from torchlint.cache.answers import Answers
from torchlint.cache.documents import Documents
from torchlint.cache.entries import Entry, File, Misread, pack, pack_all, unpack_all
from torchlint.cache.present import Present, digest
from torchlint.cache.program import program
from torchlint.cache.recalling import result_of
from torchlint.cache.shelf import Shelf
from torchlint.cache.verdicts import Verdicts
from torchlint.config import Config
from torchlint.discover import Target
from torchlint.model import FileResult

_FILE = ".py"
"""How paths end among :attr:`FileResult.reads` that are files and not places of modules."""


class _Folder:
    """The entries for the files of one folder under one configuration; whether they are to be written."""

    def __init__(self, key: str, path: str, entries: dict[str, Entry]) -> None:
        self.key = key
        self.path = path
        self.entries = entries
        self.stale = False


class Memory:
    """The results of earlier runs, as far as they still hold."""

    def __init__(self, shelf: Shelf, clock: Callable[[], int], documents: Documents | None = None) -> None:
        self._shelf = shelf
        self._documents = documents
        self.clock = clock
        self.verdicts = Verdicts(shelf)
        self._present = Present(clock)
        self._answers = Answers(shelf, self._present)
        self._program = program(shelf, self._present)
        self._folders: dict[tuple[int, str, str], _Folder] = {}
        self._configs: dict[int, tuple[Config, str]] = {}

    @property
    def fault(self) -> str:
        """What kept the cache from being used, in one line; empty where nothing did."""
        return self._shelf.fault

    def refresh(self) -> None:
        """Look at all files again when they are asked for next: they may have changed."""
        self._present = Present(self.clock)
        self._answers.renew(self._present)

    def recall(self, target: Target) -> FileResult | None:
        """Give the result for a file, if a run had one and nothing that it rests on has changed.

        Where it holds findings, it holds the source that they stand in, read now.
        """
        folder = self._folder(target)
        name = os.path.basename(target.path)
        entry = folder.entries.get(name)
        if entry is None or not self._holds(entry, target.real):
            return None
        result = result_of(entry, target, self._present)
        renewed = self._renewed(entry, target.real)
        if result is not None and renewed != entry:
            folder.entries[name] = renewed
            folder.stale = True
        return result

    def remember(self, target: Target, result: FileResult, raw: bytes) -> None:
        """Keep the result for a file that held ``raw``, unless something it rests on is no longer what it was."""
        if result.troubles or self._shelf.fault:
            return
        known = digest(raw)
        rests_on = self._rests_on(result) if self._answers.hold(result.asked) else None
        if rests_on is None or self._present.digest(target.real) != known:
            return
        files, bases = rests_on
        homes = sorted({os.path.dirname(path) for path, _, _ in files})
        folder = self._folder(target)
        folder.entries[os.path.basename(target.path)] = Entry(
            known,
            self._present.lasting(target.real),
            files,
            bases,
            tuple((home, *self._present.home(home)) for home in homes),
            result.asked,
            pack(result),
        )
        folder.stale = True

    def write(self) -> None:
        """Write what is new, and keep the folder of the cache within its bounds."""
        self.verdicts.write()
        if self._documents is not None:
            self._documents.write(self._shelf.folder)
        self._answers.write()
        written = False
        for folder in self._folders.values():
            if folder.stale:
                # What another run wrote meanwhile is kept.
                entries = {**self._taken(folder.key), **folder.entries}
                there = {name: each for name, each in entries.items() if self._is_there(folder, name)}
                self._shelf.put(folder.key, pack_all(there))
                folder.stale, written = False, True
        if written:
            self._shelf.trim()

    # ------------------------------------------------------------------ what an entry rests on
    def _holds(self, entry: Entry, real: str) -> bool:
        present = self._present
        return (
            present.stamp(real) is not None
            and present.same(real, entry.digest, entry.stamp)
            and all(present.home(home) == (top, root) for home, top, root in entry.homes)
            and all(present.shape(base) == there for base, there in entry.bases)
            and all(present.same(path, known, stamp) for path, known, stamp in entry.files)
            and self._answers.hold(entry.asked)
        )

    def _renewed(self, entry: Entry, real: str) -> Entry:
        """Give an entry that holds, with the stamps that files have now."""
        files = tuple((path, known, self._present.lasting(path)) for path, known, _ in entry.files)
        return replace(entry, stamp=self._present.lasting(real), files=files)

    def _rests_on(self, result: FileResult) -> tuple[tuple[File, ...], tuple[tuple[str, str | None], ...]] | None:
        """Give the other files and the places of modules, as they are; None where they are not what they were."""
        files: list[File] = []
        bases: list[tuple[str, str | None]] = []
        for path, known in result.reads:
            if not path.endswith(_FILE):
                if self._present.shape(path) != known:
                    return None
                bases.append((path, known))
                continue
            now, stamp = self._present.digest(path), self._present.lasting(path)
            # Of one that could not be read only its age tells that it was then as it is now.
            if now is None or (now != known if known is not None else stamp is None):
                return None
            files.append((path, now, stamp))
        return tuple(files), tuple(bases)

    # ------------------------------------------------------------------ folders
    def _folder(self, target: Target) -> _Folder:
        shown, _, _ = target.path.rpartition(os.sep)
        place = (id(target.config), shown, target.config.cwd)
        if place not in self._folders:
            path = os.path.dirname(os.path.normpath(os.path.join(target.config.cwd, target.path)))
            parts = [self._program, path, shown, *self._present.home(path), self._config(target.config)]
            key = json.dumps(parts)
            self._folders[place] = _Folder(key, path, self._taken(key))
        return self._folders[place]

    def _taken(self, key: str) -> dict[str, Entry]:
        try:
            return unpack_all(self._shelf.take(key))
        except Misread:
            return {}

    def _is_there(self, folder: _Folder, name: str) -> bool:
        return self._present.stamp(os.path.join(folder.path, name)) is not None

    def _config(self, config: Config) -> str:
        """Return what a result rests on of a configuration, which is kept, so that its number is not used again."""
        if id(config) not in self._configs:
            self._configs[id(config)] = (config, json.dumps(config.cache_key()))
        return self._configs[id(config)][1]
