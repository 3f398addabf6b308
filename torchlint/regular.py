"""Reading what must be a plain file: a pipe in its place keeps no run waiting, nor a device that never ends."""

from __future__ import annotations

import errno
import os
import stat


def read(path: str, most: int = -1) -> bytes:
    """Give the bytes of a regular file, at most so many from its beginning; links are followed.

    :raises OSError: where it cannot be read, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError("not a regular file")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(most)
    finally:
        os.close(handle)
