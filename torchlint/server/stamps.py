"""Whether files have changed since they were looked at, without reading them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

Stamp = tuple[int, int, int] | None
"""When a file was changed, its size, and which file it is; None where there is none."""

Stamps = Mapping[str, Stamp]


def stamps(paths: Iterable[str]) -> Stamps:
    """Look at files and folders, there or not."""
    return {path: _stamp(path) for path in paths}


def changed(known: Stamps) -> bool:
    """Tell whether something is different now."""
    return any(_stamp(path) != stamp for path, stamp in known.items())


def of_module(path: str) -> tuple[str, ...]:
    """Give what to look at for a path that a result rests on: without suffix, it is a module that may come to be."""
    return (path,) if path.endswith(".py") else (path, f"{path}.py")


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if os.path.isdir(path):
        return (0, 0, found.st_ino)  # what a folder holds changes all the time
    return (found.st_mtime_ns, found.st_size, found.st_ino)
