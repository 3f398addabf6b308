"""What the files of a project are at this moment: stamps, digests, and the answers to questions about all of them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from torchlint.cache.store import Store
from torchlint.source import files
from torchlint.source.project_root import Homes

Stamp = tuple[int, int, int, int]
"""Size in bytes, times of the last change of content and of anything in nanoseconds, and the file's number."""

Asked = tuple[tuple[tuple[str, ...], str | None], ...]
"""Questions with their answers: :attr:`FileResult.asked`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Another file that was read for a result, and what of it the result rests on."""

    path: str
    digest: str
    stamp: Stamp | None
    """Where that alone tells that the file has not changed."""
    code: str
    """What is the same as long as its code is, and the places do not move: see :func:`code_digest`."""
    places: tuple[int, ...]
    """The lines that the result names."""


_SLACK = 2_000_000_000
"""Nanoseconds for which a time is too young: a file may change again and keep it, at the coarsest clock there is."""
_MOST_BYTES = 256 * 1024 * 1024


class FileState:
    """Looks at files when asked, and not twice; ``clock`` gives nanoseconds since the epoch."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._young = clock() - _SLACK
        self._stamps: dict[str, Stamp | None] = {}
        self._digests: dict[str, str | None] = {}
        self._codes: dict[tuple[str, tuple[int, ...]], str | None] = {}
        self._around = Homes()
        self._homes: dict[str, tuple[str, str]] = {}

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file; None where there is no regular file."""
        if path not in self._stamps:
            try:
                self._stamps[path] = _stamp(os.stat(path))
            except (OSError, ValueError):
                self._stamps[path] = None
        return self._stamps[path]

    def lasting(self, path: str) -> Stamp | None:
        """Return stamp of a file if the file cannot have changed since without changing its stamp, as git has it."""
        found = self.stamp(path)
        return found if found is not None and max(found[1], found[2]) < self._young else None

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file; None where there is no regular file that can be read."""
        if path not in self._digests:
            raw = self.read(path)
            self._digests[path] = digest(raw) if raw is not None else None
        return self._digests[path]

    def code(self, path: str, places: tuple[int, ...]) -> str | None:
        """Return the digest of a file's code; None where the file is not the one that :meth:`digest` has seen."""
        if (path, places) not in self._codes:
            from torchlint.source.bare_code import code_digest  # here: where stamps agree nothing is hashed

            raw = self.read(path)
            is_same = raw is not None and digest(raw) == self.digest(path)
            self._codes[path, places] = code_digest(raw, places) if raw is not None and is_same else None
        return self._codes[path, places]

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, and take its stamp anew, before them."""
        found = self.stamp(path)
        if found is None or found[0] > _MOST_BYTES:
            return None
        try:
            raw, status = files.read_with_status(path)
        except (OSError, ValueError):
            return None
        self._stamps[path] = _stamp(status)
        return raw

    def same(self, path: str, wanted: str, stamp: Stamp | None) -> bool:
        """Return whether a file has some digest; it is read only where its stamp is not the one it had then."""
        return (stamp is not None and self.stamp(path) == stamp) or self.digest(path) == wanted

    def renewed(self, read: Reading) -> Reading:
        """Return what was read of a file that says the same, as the file is now."""
        if read.stamp is not None and self.stamp(read.path) == read.stamp:
            return read
        return replace(read, digest=self.digest(read.path) or "", stamp=self.lasting(read.path))

    def says_the_same(self, read: Reading) -> bool:
        """Return whether a file has the code that was read, and that in its place where the place is named."""
        if self.same(read.path, read.digest, read.stamp):
            return True
        return self.stamp(read.path) is not None and self.code(read.path, read.places) == read.code

    def shape(self, base: str) -> str | None:
        """Say what is where a module is looked for (:meth:`torchlint.source.project_root.Homes.shape`)."""
        return self._around.shape(base)

    def home(self, folder: str) -> tuple[str, str]:
        """Return the folder above a folder's packages and the project's root: where imports lead depends on them."""
        if folder not in self._homes:
            self._homes[folder] = (self._around.above_packages(folder), self._around.root(folder))
        return self._homes[folder]


def digest(raw: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal digits."""
    from hashlib import sha256  # here: it takes its time, and where stamps agree nothing is hashed

    return sha256(raw).hexdigest()


def _stamp(status: os.stat_result) -> Stamp | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Answers:
    """The answers of this run, and those of earlier runs as far as they still hold."""

    def __init__(self, store: Store, state: FileState) -> None:
        self._store = store
        self._state = state
        self._known: dict[str, dict[str, str | None]] = {}
        self._signatures: dict[str, str | None] = {}
        self._stale: set[str] = set()

    def hold(self, asked: Asked) -> bool:
        """Whether all questions have the answers that they had."""
        return all(self._answer(question) == answer for question, answer in asked)

    def renew(self, state: FileState) -> None:
        """Look at all files again when something is asked next: they may have changed."""
        self.write()
        self._state = state
        self._known.clear()
        self._signatures.clear()

    def write(self) -> None:
        """Keep what was asked anew for the next run."""
        for root in self._stale:
            if self._signatures[root] is not None:
                self._store.put(_key(root), [self._signatures[root], self._known[root]])
        self._stale.clear()

    def _answer(self, question: tuple[str, ...]) -> str | None:
        root, spelled = question[1], json.dumps(question)
        if root not in self._known:
            self._known[root] = self._held(root)
        answers = self._known[root]
        if spelled not in answers:
            from torchlint.knowledge import ask, look_again  # here: most runs have nothing to ask

            if root not in self._stale:
                look_again()
            answers[spelled] = ask(question)
            self._stale.add(root)
        return answers[spelled]

    def _held(self, root: str) -> dict[str, str | None]:
        self._signatures[root] = self._signature(root)
        held = self._store.get(_key(root)) if self._signatures[root] is not None else None
        if not (isinstance(held, list) and len(held) == 2 and held[0] == self._signatures[root]):
            return {}
        answers = held[1] if isinstance(held[1], dict) else {}
        return {key: each for key, each in answers.items() if each is None or isinstance(each, str)}

    def _signature(self, root: str) -> str | None:
        """Return a text that changes with any file of a project; None where a file may change without its stamp."""
        from torchlint.knowledge import python_files

        paths = python_files(root)
        return self._stamped(root, sorted(paths)) if paths is not None else None

    def _stamped(self, root: str, paths: Iterable[str]) -> str | None:
        from hashlib import sha256

        whole = sha256()
        for path in paths:
            stamp = self._state.lasting(path)
            if stamp is None:
                return None
            whole.update(f"{os.path.relpath(path, root)} {stamp}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()


def _key(root: str) -> str:
    return f"flags {root}"
