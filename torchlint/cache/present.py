"""What files are at this moment: size and times, digests, and what is where modules are looked for; each asked once."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from torchlint import regular
from torchlint.homes import Homes

Stamp = tuple[int, int, int, int]
"""Size in bytes, times of the last change of content and of anything in nanoseconds, and the file's number."""

_SLACK = 2_000_000_000
"""Nanoseconds for which a time is too young: a file may change again and keep it, at the coarsest clock there is."""
_MOST_BYTES = 256 * 1024 * 1024


class Present:
    """Looks at files when asked, and not twice; ``clock`` gives nanoseconds since the epoch."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._young = clock() - _SLACK
        self._stamps: dict[str, Stamp | None] = {}
        self._digests: dict[str, str | None] = {}
        self._around = Homes()
        self._homes: dict[str, tuple[str, str]] = {}

    def stamp(self, path: str) -> Stamp | None:
        """Give the stamp of a file; None where there is no regular file."""
        if path not in self._stamps:
            try:
                self._stamps[path] = _stamp(os.stat(path))
            except (OSError, ValueError):
                self._stamps[path] = None
        return self._stamps[path]

    def lasting(self, path: str) -> Stamp | None:
        """Give the stamp of a file if the file cannot have changed since without changing its stamp, as git has it."""
        found = self.stamp(path)
        return found if found is not None and max(found[1], found[2]) < self._young else None

    def digest(self, path: str) -> str | None:
        """Give the SHA-256 of a file; None where there is no regular file that can be read."""
        if path not in self._digests:
            raw = self.read(path)
            self._digests[path] = digest(raw) if raw is not None else None
        return self._digests[path]

    def read(self, path: str) -> bytes | None:
        """Give the bytes of a file, and take its stamp anew, before them."""
        found = self.stamp(path)
        if found is None or found[0] > _MOST_BYTES:
            return None
        try:
            raw, status = regular.read_with_status(path)
        except (OSError, ValueError):
            return None
        self._stamps[path] = _stamp(status)
        return raw

    def same(self, path: str, wanted: str, stamp: Stamp | None) -> bool:
        """Tell whether a file has some digest; it is read only where its stamp is not the one it had then."""
        return (stamp is not None and self.stamp(path) == stamp) or self.digest(path) == wanted

    def shape(self, base: str) -> str | None:
        """Say what is where a module is looked for (:meth:`torchlint.homes.Homes.shape`)."""
        return self._around.shape(base)

    def home(self, folder: str) -> tuple[str, str]:
        """Give the folder above a folder's packages and the project's root: where imports lead depends on them."""
        if folder not in self._homes:
            top = self._around.above_packages(folder)
            self._homes[folder] = (top, self._around.root(top))
        return self._homes[folder]


def digest(raw: bytes) -> str:
    """Give the SHA-256 of some bytes in hexadecimal digits."""
    from hashlib import sha256  # here: it takes its time, and where stamps agree nothing is hashed

    return sha256(raw).hexdigest()


def _stamp(status: os.stat_result) -> Stamp | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
