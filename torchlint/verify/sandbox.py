"""Running something in a process of its own, which may compute and nothing else, and may die alone."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_PATIENCE = 20
"""How many times as long as it may compute a run may take by the clock: a busy machine is no fault of it."""
MEMORY = 2 * 1024**3
"""Bytes of memory that a run may take beside what was there before it."""
_FORBIDDEN = (
    "os.system os.exec os.posix_spawn os.spawn os.fork os.forkpty os.kill os.remove os.rename os.rmdir os.mkdir "
    "os.link os.symlink os.truncate os.chmod os.chown os.utime os.putenv os.startfile os.chdir os.listxattr "
    "os.setxattr os.removexattr subprocess. socket. shutil. ftplib. smtplib. urllib. webbrowser. tempfile. pty. "
    "signal.pthread_kill ctypes.dlopen sqlite3. mmap. winreg. syslog. http. telnetlib. poplib. imaplib. nntplib."
).split()


@dataclass(frozen=True)
class Stopped:
    """A run that gave no result; the text says why."""

    reason: str


@dataclass
class _Child:
    """A process at work, and what came of it so far."""

    number: int
    pid: int
    pipe: int
    deadline: float
    came: bytearray


def possible() -> bool:
    """Whether this system can do it."""
    return hasattr(os, "fork")


def each(
    works: Iterable[tuple[int, Callable[[], Any]]],
    seconds: float,
    jobs: int = 1,
    prepare: Callable[[], None] = lambda: None,
) -> Iterator[tuple[int, Any | Stopped]]:
    """Run functions, each in a process of its own, and give their numbers and results as they come.

    ``seconds`` is the processor time that each may take; one that waits is ended, too, only much later. ``prepare`` is
    called in each process before the walls are built.
    """
    waiting = iter(works)
    running: dict[int, _Child] = {}
    try:
        while True:
            while len(running) < jobs and (item := next(waiting, None)) is not None:
                child = _started(*item, seconds, prepare)
                running[child.pipe] = child
            if not running:
                return
            rest = min(child.deadline for child in running.values()) - time.monotonic()
            ready, _, _ = select.select(list(running), [], [], max(rest, 0))
            for pipe in ready:
                part = os.read(pipe, 1 << 16)
                running[pipe].came += part
                if not part:
                    child = running.pop(pipe)
                    yield child.number, _result(child, _ended(child), seconds)
            for child in [child for child in running.values() if child.deadline <= time.monotonic()]:
                del running[child.pipe]
                _killed(child)
                yield child.number, Stopped(f"stopped: it did not end within {_PATIENCE * seconds:g} s")
    finally:
        for child in running.values():
            _killed(child)


def _started(number: int, work: Callable[[], Any], seconds: float, prepare: Callable[[], None]) -> _Child:
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(number, pid, reading, time.monotonic() + _PATIENCE * seconds, bytearray())
    status = 1
    try:
        os.close(reading)
        prepare()
        gc.freeze()  # what was there before is not looked through again and again
        _walled(seconds)
        _send(writing, pickle.dumps(work()))
        status = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told and this process ends
        with contextlib.suppress(BaseException):
            _send(writing, pickle.dumps(Stopped(_spelled(error))))
            status = 0
    finally:
        os._exit(status)
    raise AssertionError


def _spelled(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"stopped: it asked for more than {MEMORY >> 30} GiB of memory"
    return f"stopped: {type(error).__name__}: {error}"


def _send(pipe: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(pipe, view) :]


def _ended(child: _Child) -> int:
    os.close(child.pipe)
    return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def _killed(child: _Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    _ended(child)


def _result(child: _Child, status: int, seconds: float) -> Any | Stopped:
    if status == 0:
        return pickle.loads(child.came)  # noqa: S301 - written by this very program
    if status == -signal.SIGPROF:
        return Stopped(f"stopped: it took longer than {seconds:g} s of processor time")
    name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return Stopped(f"stopped: its process died ({name})")


# ---------------------------------------------------------------------- walls
def _walled(seconds: float) -> None:
    """Wall in the present process: memory, time, files, programs, network."""
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write past the limit fails like any other
    _limited(seconds)
    sys.addaudithook(_watch)


def _limited(seconds: float) -> None:
    import resource

    def limit(kind: int, most: int) -> None:
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))

    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, _data_in_use() + MEMORY)  # not the address space: drivers of accelerators map terabytes
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, whatever runs
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _data_in_use() -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as stream:
            return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmData:"))
    except (OSError, StopIteration):
        return 4 * MEMORY


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        if writes or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)):
            raise PermissionError(f"a fragment may not write {arguments[0]!r}")
    elif event.startswith(_PREFIXES):
        raise PermissionError(f"a fragment may not do {event}")


_PREFIXES = tuple(_FORBIDDEN)
