"""How a file's new bytes take the place of the old: all at once or not at all."""

from __future__ import annotations

import contextlib
import os
import stat

TEMPORARY = ".torchlint-"
"""How the names of temporary files begin."""


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


def check_place(path: str) -> None:
    """Tell before the work is done whether :func:`create` can write there.

    :raises NotWritten: where it is a folder, lies in none, or may not be written.
    """
    if os.path.isdir(path):
        raise NotWritten("is a folder: give the name of a file in it")
    if _is_device(path):
        return
    real = os.path.realpath(path)
    folder = os.path.dirname(real)
    if not os.path.isdir(folder):
        raise NotWritten("its folder does not exist: make it first")
    if os.path.exists(real):
        if not os.access(real, os.W_OK):
            raise NotWritten("read-only")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise NotWritten("its folder may not be written")


def create(path: str, raw: bytes, durable: bool = True) -> None:
    """Write a file, new or in the place of an old one, by temporary file and rename; links are written through.

    What is no regular file (a pipe, a terminal, ``/dev/null``) is written into. Without ``durable`` a crash of the
    machine may leave the file without its bytes, and nothing waits for the disk.

    :raises NotWritten: and an old file is intact, and no temporary file is left.
    """
    real = os.path.realpath(path)
    try:
        if _is_device(path):
            with open(path, "wb") as stream:
                stream.write(raw)
            return
        temporary = _filled(real, raw, os.stat(real) if os.path.exists(real) else None, durable)
        try:
            os.replace(temporary, real)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise NotWritten(f"cannot be written: {error.strerror or error}") from None


def _is_device(path: str) -> bool:
    """Tell pipes and terminals; `/dev/stdout` leads to a plain file at times, which must not be replaced."""
    return os.path.abspath(path).startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path))


def _filled(real: str, new: bytes, status: os.stat_result | None, durable: bool = True) -> str:
    handle, temporary = _opened(os.path.dirname(real))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(new)
            stream.flush()
            if status and hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(OSError):
                    os.fchown(stream.fileno(), status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode) if status else _usual_mode())
            if durable:
                os.fsync(stream.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def _opened(folder: str) -> tuple[int, str]:
    """Open a new file for the user alone, as ``tempfile`` does, whose import takes a fourth of a short run's time."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        temporary = os.path.join(folder, f"{TEMPORARY}{os.urandom(6).hex()}.tmp")
        with contextlib.suppress(FileExistsError):
            return os.open(temporary, flags, 0o600), temporary


def _usual_mode() -> int:
    """Give the mode of a file made the plain way; the mask can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
