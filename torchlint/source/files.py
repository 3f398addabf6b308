"""Files: reading what must be a plain file, and how new bytes take the place of the old, all at once or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator

TEMPORARY = ".torchlint-"
"""How the names of temporary files begin."""
_ENDING = ".tmp"
_OPEN_FILES_MOVE = os.name == "posix"
"""Windows neither renames nor removes a file that is open, so none stays locked there."""
_LEFT_SECONDS = 3600
"""Where files cannot be locked, a temporary file of this age was left by a run that was killed."""


# ---------------------------------------------------------------------- reading
def read(path: str, most: int = -1) -> bytes:
    """Return the bytes of a regular file, at most so many from its beginning; links are followed.

    :raises OSError: where it cannot be read, or is no regular file.
    """
    return read_with_status(path, most)[0]


def read_with_status(path: str, most: int = -1, follow: bool = True) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a regular file, at most so many, and its status before they were read.

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


def stamp(path: str) -> tuple[int, ...]:
    """Return what is another whenever a file was written: its size, its times and its place; nothing without one."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


# ---------------------------------------------------------------------- writing
class NotWritten(Exception):
    """The file is as it was; the text says why."""


def replace(real: str, old: bytes, new: bytes) -> None:
    """Write ``new`` over a file that held ``old`` when it was read, by temporary file and rename.

    ``real`` is a path without links. Mode, owner and extended attributes are kept, as far as the user may set
    them. Other names of the file (hard links) keep the old bytes. A file that changed in the meantime or may not be
    written is left alone.

    :raises NotWritten: and the file is intact, and no temporary file is left.
    """
    try:
        status = os.stat(real)
        # The folder's permission alone would let a rename replace a read-only file, and root may write anything.
        if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
            raise NotWritten("read-only, so not fixed")
        with _filled(real, new, status) as temporary:
            with open(real, "rb") as stream:
                if stream.read() != old:
                    raise NotWritten("changed while it was being checked, so not fixed: run again")
            os.replace(temporary, real)
    except OSError as error:
        raise NotWritten(f"cannot be written: {error.strerror or error}") from None


def check_place(path: str) -> None:
    """Check before the work is done whether :func:`create` can write there.

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
        if durable:
            sweep([os.path.dirname(real)])
        with _filled(real, raw, os.stat(real) if os.path.exists(real) else None, durable) as temporary:
            os.replace(temporary, real)
    except OSError as error:
        raise NotWritten(f"cannot be written: {error.strerror or error}") from None


def _is_device(path: str) -> bool:
    """Whether it is a pipe or a terminal; `/dev/stdout` leads to a plain file at times, which must not be replaced."""
    return os.path.abspath(path).startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path))


def sweep(folders: Iterable[str]) -> None:
    """Remove the temporary files that killed runs left in some folders; what a run is about to rename stays."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(TEMPORARY) and entry.name.endswith(_ENDING):
                    _remove_abandoned(entry.path)


def _remove_abandoned(path: str) -> None:
    """Remove a temporary file that nobody has locked: a lock ends with its process, however that ends."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with contextlib.suppress(OSError):
        handle = os.open(path, flags)
        try:
            status = os.fstat(handle)
            locked = _locked(handle)
        finally:
            if not _OPEN_FILES_MOVE:
                os.close(handle)
        try:
            old = time.time() - status.st_mtime > _LEFT_SECONDS
            if stat.S_ISREG(status.st_mode) and (old if locked is None else locked):
                os.unlink(path)
        finally:
            if _OPEN_FILES_MOVE:
                os.close(handle)


def _locked(handle: int) -> bool | None:
    """Lock an open file, and return whether nobody else has; None where that cannot be told."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # Windows; some disks of other machines
        return None
    return True


@contextlib.contextmanager
def _filled(real: str, new: bytes, status: os.stat_result | None, durable: bool = True) -> Iterator[str]:
    """Yield a temporary file beside another, locked where that is possible, and remove it if it was not renamed."""
    handle, temporary = _opened(os.path.dirname(real))
    try:
        with _stream_of(handle) as stream:
            stream.write(new)
            stream.flush()
            _take_over(stream.fileno(), temporary, real, status)
            if durable:
                os.fsync(stream.fileno())
            if _OPEN_FILES_MOVE:
                yield temporary
        if not _OPEN_FILES_MOVE:
            yield temporary
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _stream_of(handle: int) -> io.BufferedWriter:
    """Return a stream that owns a handle, which is closed where there can be none."""
    try:
        return os.fdopen(handle, "wb")
    except BaseException:
        os.close(handle)
        raise


def _take_over(handle: int, temporary: str, real: str, status: os.stat_result | None) -> None:
    """Return the temporary file the owner, the mode and the extended attributes of the file that it will replace."""
    if status is None:
        os.chmod(temporary, _usual_mode())
        return
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.fchown(handle, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(real):
                with contextlib.suppress(OSError):  # not everyone may set all of them
                    os.setxattr(handle, name, os.getxattr(real, name))


def _opened(folder: str) -> tuple[int, str]:
    """Open a new file for the user alone, as ``tempfile`` does, whose import takes a fourth of a short run's time."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        temporary = os.path.join(folder, f"{TEMPORARY}{os.urandom(6).hex()}{_ENDING}")
        with contextlib.suppress(FileExistsError):
            handle = os.open(temporary, flags, 0o600)
            if _locked(handle) is None or os.fstat(handle).st_nlink:
                return handle, temporary
            os.close(handle)  # another run took it for abandoned before it was locked


def _usual_mode() -> int:
    """Return the mode of a file made the plain way; the mask can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
