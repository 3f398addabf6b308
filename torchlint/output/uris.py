"""Paths as addresses: relative where they are, every byte that an address does not take written with a percent sign."""

from __future__ import annotations

import os
from urllib.parse import quote


def uri(path: str) -> str:
    """Give ``a%20b.py`` for ``a b.py`` and ``file:///tmp/a.py`` for ``/tmp/a.py``; names that are no text are kept.

    On Windows ``file:///C:/a.py`` for a drive, and ``file://server/share/a.py`` for a share.
    """
    drive, rest = os.path.splitdrive(path)
    address = quote(os.fsencode(rest.replace(os.sep, "/")), safe="/")
    if not os.path.isabs(path):
        return address
    place = drive.replace(os.sep, "/")
    return "file:" + (quote(place) if place.startswith("//") else f"///{place}" if place else "//") + address
