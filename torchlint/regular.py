"""Reading what must be a plain file: a pipe in its place keeps no run waiting, nor a device that never ends."""

from __future__ import annotations

import errno
import os
import stat
import sys


def read(path: str, most: int = -1) -> bytes:
    """Give the bytes of a regular file, at most so many from its beginning; links are followed.

    :raises OSError: where it cannot be read, or is no regular file.
    """
    return read_with_status(path, most)[0]


def read_with_status(path: str, most: int = -1, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Give the bytes of a regular file, at most so many, and its status before they were read.

    :raises OSError: where it cannot be read, is no regular file, or is a link that is not to be followed.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        return _up_to(handle, most if most >= 0 else sys.maxsize, status.st_size), status
    finally:
        os.close(handle)


def _up_to(handle: int, most: int, size: int) -> bytes:
    """Read at most so many bytes of what should be ``size`` bytes: a stream takes longer to open and to read."""
    parts = []
    while most > 0 and (part := os.read(handle, min(most, max(size, 0) + 1))):
        parts.append(part)
        most -= len(part)
        size -= len(part)
    return b"".join(parts)
