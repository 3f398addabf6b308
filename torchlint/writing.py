"""How a file's new bytes take the place of the old: all at once or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile


class NotWritten(Exception):
    """The file is as it was; the text says why."""


def replace(real: str, old: bytes, new: bytes) -> None:
    """Write ``new`` over a file that held ``old`` when it was read, by temporary file and rename, mode kept.

    ``real`` is a path without links. A file that changed in the meantime or may not be written is left alone.

    :raises NotWritten: and the file is intact, and no temporary file is left.
    """
    try:
        status = os.stat(real)
        # The folder's permission alone would let a rename replace a read-only file, and root may write anything.
        if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
            raise NotWritten("read-only, so not fixed")
        temporary = _filled(real, new, status)
        try:
            with open(real, "rb") as stream:
                if stream.read() != old:
                    raise NotWritten("changed while it was being checked, so not fixed: run again")
            os.replace(temporary, real)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise NotWritten(f"cannot be written: {error.strerror or error}") from None


def _filled(real: str, new: bytes, status: os.stat_result) -> str:
    handle, temporary = tempfile.mkstemp(prefix=".torchlint-", suffix=".tmp", dir=os.path.dirname(real))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(new)
            stream.flush()
            if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(OSError):
                    os.fchown(stream.fileno(), status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
            os.fsync(stream.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary
