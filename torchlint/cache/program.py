"""Which program it is that gives a result: torchlint's own code, LibCST, and Python."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from importlib.machinery import PathFinder

from torchlint.cache.present import Present
from torchlint.cache.shelf import Shelf
from torchlint.version import VERSION

_CODE = (".py", ".json")
_VERSIONS = ("_version.py", "_meta.py")
"""Where libraries write their version down."""


def program(shelf: Shelf, present: Present) -> str:
    """Give a text that differs between programs that may judge a file differently.

    torchlint's version does not tell one state of a working copy from another, so its code counts too. That is read
    only where its files' stamps have changed since the last run.
    """
    return " ".join(
        (VERSION, _code(shelf, present), library("libcst"), sys.implementation.cache_tag or "", sys.version)
    )


def _code(shelf: Shelf, present: Present) -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = sorted(_files(package))
    stamps = [present.lasting(path) for path in files]
    key = f"program {package}"
    held = shelf.take(key)
    signature = [[path[len(package) :], *(stamp or ())] for path, stamp in zip(files, stamps, strict=True)]
    if None not in stamps and isinstance(held, list) and len(held) == 2 and held[0] == signature:
        return str(held[1])
    made = _digest(package, files, present)
    if None not in stamps:
        shelf.put(key, [signature, made])
    return made


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_CODE):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)


def _digest(package: str, files: list[str], present: Present) -> str:
    from hashlib import sha256

    whole = sha256()
    for path in files:
        whole.update(f"{path[len(package) :]} {present.digest(path)}\n".encode())
    return whole.hexdigest()


def library(name: str) -> str:
    """Give a text that tells a library's version, without importing it: that may take longer than the rest of a run."""
    found = PathFinder.find_spec(name)
    if found is not None and found.origin is not None:
        for written in _VERSIONS:
            try:
                with open(os.path.join(os.path.dirname(found.origin), written), "rb") as stream:
                    raw = stream.read()
                    return f"{zlib.crc32(raw):08x}{len(raw)}"
            except OSError:
                continue
    from importlib.metadata import version

    return version(name)
