"""What earlier runs found, in the folder of the cache: it holds while all that it rests on is the same."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import PathFinder

from torchlint.cache.store import Store
from torchlint.cache.version_key import version_key
from torchlint.source import files
from torchlint.verify.verdicts import Verdict

_OF_AN_ACCELERATOR = re.compile(rb"^(?:cuda|hip|rocm|xpu)\b[^=]*=(?! *None\b)", re.MULTILINE)
"""What a build of torch for accelerators says of itself in ``torch/version.py``."""


class KeptVerdicts:
    """Verdicts by what was run: both texts, what their names stand for, torch, NumPy, Python, torchlint, devices."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._torch, numpy = (_version_of(each) for each in ("torch", "numpy"))
        self._head = version_key(), sys.platform, self._torch, numpy
        self._is_sound = bool(self._torch and numpy)

    def get(self, run: str) -> Verdict | None:
        """Return the verdict of an earlier run by what it ran, None where there is none."""
        return Verdict.read(self._store.get(self._key(run))) if self._is_sound else None

    def put(self, run: str, verdict: Verdict) -> None:
        """Keep the verdict of a run."""
        if self._is_sound:
            self._store.put(self._key(run), verdict.plain())

    def trim(self) -> None:
        """Remove what has not been used for long."""
        self._store.trim()

    def bench(self) -> tuple[str, tuple[str, ...]] | None:
        """Return the torch and the devices of an earlier run, where no other devices can be here now."""
        match self._store.get(self._key("bench")) if self._is_for_the_host else None:
            case [str() as torch, [*devices]]:
                return torch, tuple(map(str, devices))
        return None

    def put_bench(self, torch: str, devices: tuple[str, ...]) -> None:
        """Keep the torch and the devices of this run, where they stay the same while the build of torch does."""
        if self._is_for_the_host:
            self._store.put(self._key("bench"), [torch, devices])

    @property
    def _is_for_the_host(self) -> bool:
        """Whether this build of torch knows no accelerator; of any other, only torch can tell which are here."""
        return self._is_sound and sys.platform != "darwin" and not _OF_AN_ACCELERATOR.search(self._torch)

    def _key(self, run: str) -> str:
        return "verify " + hashlib.sha256(repr((self._head, run)).encode("utf-8", "backslashreplace")).hexdigest()


def kept_in(folder: str | None, clock: Callable[[], int]) -> KeptVerdicts | None:
    """Return what is kept in the folder of the cache; None where there is to be none."""
    return KeptVerdicts(Store(folder, clock)) if folder else None


def _version_of(package: str) -> bytes:
    """Return what an installed package says of its version, without importing it; nothing where it is not there."""
    found = PathFinder.find_spec(package)
    if found is not None and found.origin is not None:
        with suppress(OSError):
            return files.read(os.path.join(os.path.dirname(found.origin), "version.py"))
    return b""
