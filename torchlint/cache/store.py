"""The folder of the cache: texts by key, written at once or not at all, checked when read, bounded in size."""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from torchlint.source import files

MOST_BYTES = 64 * 1024 * 1024
"""What the folder may hold; when it holds more, what was used longest ago is removed."""
_KEPT_SECONDS = 60 * 24 * 3600
_TOUCHED_SECONDS = 24 * 3600
"""A file's time tells when it was last used, to the day."""
_LEFT_SECONDS = 3600
"""A temporary file of this age was left by a run that was killed."""

_MAGIC = b"torchlint cache 1"
_SUFFIX = ".cache"
_TAG, _IGNORE = "CACHEDIR.TAG", ".gitignore"
_TAG_TEXT = b"""Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of torchlint's; `torchlint clean` removes it.
"""
_OURS = b"a cache of torchlint's"


class Store:
    """One cache folder, which need not exist; what goes wrong with it is kept in ``fault`` and is no failure."""

    def __init__(self, folder: str, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.fault = ""
        self._seconds = clock() / 1e9
        self._usable = _usable(folder)
        if not self._usable:
            self.fault = f"{folder}: not used: it holds what is no cache of torchlint's: give another --cache-dir"

    def get(self, key: str) -> object:
        """Return what was put under a key; None where there is nothing, or nothing that is whole."""
        if not self._usable:
            return None
        path = self._path(key)
        with suppress(OSError, ValueError, RecursionError, MemoryError):
            raw, status = files.read_with_status(path, MOST_BYTES, follow=False)
            head, _, body = raw.partition(b"\n")
            if head == _head(body):
                held = json.loads(body)
                if isinstance(held, list) and len(held) == 2 and held[0] == key:
                    self._touch(path, status)
                    return held[1]
        return None

    def put(self, key: str, value: object) -> None:
        """Keep plain data under a key; after the first failure nothing more is tried."""
        if self.fault:
            return
        body = json.dumps([key, value], separators=(",", ":")).encode("ascii")
        try:
            self._prepare()
            path = self._path(key)
            if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
                os.unlink(path)  # a link would be written through, a pipe would wait for a reader
            files.create(path, _head(body) + b"\n" + body, durable=False)
        except (files.NotWritten, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.fault = f"{self.folder}: the cache was not written: {reason}"

    def trim(self) -> None:
        """Remove what has not been used for long, what killed runs left, and, if there is too much, the oldest."""
        entries = []
        for path, status in _contents(self.folder):
            age = self._seconds - status.st_mtime
            if age > (_KEPT_SECONDS if path.endswith(_SUFFIX) else _LEFT_SECONDS):
                _remove(path)
            elif path.endswith(_SUFFIX):
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= MOST_BYTES:
                break
            _remove(path)
            total -= size

    def _path(self, key: str) -> str:
        # Keys that fall on one name cost a second look, never a wrong answer: the key is kept inside.
        raw = key.encode("utf-8", "surrogateescape")
        return os.path.join(self.folder, f"{zlib.crc32(raw):08x}{zlib.adler32(raw):08x}{_SUFFIX}")

    def _prepare(self) -> None:
        os.makedirs(self.folder, exist_ok=True)
        for name, text in ((_TAG, _TAG_TEXT), (_IGNORE, b"*\n")):
            path = os.path.join(self.folder, name)
            if not os.path.lexists(path):
                files.create(path, text, durable=False)

    def _touch(self, path: str, status: os.stat_result) -> None:
        if self._seconds - status.st_mtime > _TOUCHED_SECONDS:
            with suppress(OSError):
                os.utime(path)


def clean(folder: str) -> tuple[int, int] | None:
    """Remove a cache folder, and return how many files and bytes that were; None where there is none.

    Nothing is removed but what torchlint wrote there.

    :raises OSError: where something cannot be removed, or the folder is none of torchlint's.
    """
    if not os.path.lexists(folder):
        return None
    if not _usable(folder):
        raise OSError("no cache of torchlint's: nothing was removed")
    found = list(_contents(folder))
    for path, _ in found:
        os.unlink(path)
    for name in (_IGNORE, _TAG):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    with suppress(OSError):  # something else lies there
        os.rmdir(folder)
    return len(found), sum(status.st_size for _, status in found)


def _usable(folder: str) -> bool:
    """Return whether a folder is a cache, or can become one: it is empty, or not there. A link is neither."""
    if os.path.islink(folder):
        return False
    try:
        return _OURS in files.read(os.path.join(folder, _TAG), len(_TAG_TEXT))
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return all(name.startswith(files.TEMPORARY) for name in os.listdir(folder))
        return True
    except OSError:
        return False


def _contents(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the entries of a cache and the temporary files beside them."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIX) or entry.name.startswith(files.TEMPORARY):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if not stat.S_ISDIR(status.st_mode):
                        yield entry.path, status


def _head(body: bytes) -> bytes:
    return b"%s %08x %d" % (_MAGIC, zlib.crc32(body), len(body))


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
