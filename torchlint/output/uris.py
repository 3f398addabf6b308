"""Paths as addresses: relative where they are, every byte that an address does not take written with a percent sign."""

from __future__ import annotations

import os
from urllib.parse import quote


def uri(path: str) -> str:
    """Give ``a%20b.py`` for ``a b.py`` and ``file:///tmp/a.py`` for ``/tmp/a.py``; names that are no text are kept."""
    drive, rest = os.path.splitdrive(path)
    address = quote(os.fsencode(rest.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return address
    return "file://" + (f"/{drive}" if drive else "") + address
