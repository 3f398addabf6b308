"""Which program it is that gives a result: torchlint's own code, LibCST, and Python."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import PathFinder

from torchlint.source import files
from torchlint.version import VERSION

_CODE = (".py", ".json")
_VERSIONS = ("_version.py", "_meta.py")
"""Where libraries write their version down."""


def version_key() -> str:
    """Return a text that differs between programs that may judge a file differently.

    torchlint's version does not tell one state of a working copy from another, so its code counts too.
    """
    return " ".join((VERSION, _code(), library("libcst"), sys.implementation.cache_tag or "", sys.version))


def _code() -> str:
    """Return the digest of torchlint's own files."""
    from hashlib import sha256

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    whole = sha256()
    for path in sorted(_files(package)):
        raw = b""
        with suppress(OSError):  # an editor's lock, a link that leads nowhere
            raw = files.read(path)
        whole.update(f"{path[len(package) :]} {len(raw)}\n".encode() + raw)
    return whole.hexdigest()


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_CODE):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path)


def library(name: str) -> str:
    """Return a text that tells a library's version, without importing it: that may take longer than all the rest."""
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
