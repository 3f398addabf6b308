"""A pool of processes in which a crash or a killed process costs one item, never the run."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Chunk = list[int]
"""Items that travel together, by their index."""

_CHUNK = 8
"""Items handed out at once at most; more would delay the news of what is done, and cast suspicion on more."""
_SHARES = 8
"""How many chunks each process should get at least, so that none is left with much to do at the end."""


class ProcessDiedError(Exception):
    """The process that worked on an item was killed."""


def spread(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, weights: Sequence[int]
) -> Iterator[tuple[int, Result | Exception]]:
    """Yield the index of each item with its result, or with what kept it from having one, as they come.

    The heaviest items go first: one that is left for last keeps a single process busy. Chunks are handed out few at a
    time, so that a dead process casts suspicion on few items; those are done again, each in a process of its own.
    """
    waiting = deque(chunks(weights, jobs))
    while waiting:
        suspects: list[Chunk] = []
        with _pool(min(jobs, len(waiting))) as pool:
            flying: dict[Future[list[Result]], Chunk] = {}
            while flying or (waiting and not suspects):
                while waiting and len(flying) < 2 * jobs and not suspects:
                    _hand_out(pool, work, items, waiting.popleft(), flying, suspects)
                for future in wait(flying, return_when=FIRST_COMPLETED)[0]:
                    yield from _collected(future, flying.pop(future), suspects)
        for at in (at for chunk in suspects for at in chunk):
            yield at, _alone(work, items[at])


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Begin processes, and end them at once where the run is broken off: what they are about is of no use then."""
    pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=gc.get_threshold())
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off: what is raised while Python forks is lost, and a new process would have it as its own."""
    if sys.platform == "win32":  # nothing forks there
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(*thresholds: int) -> None:
    """Leave Ctrl-C to the process that began this one, and look for garbage as rarely as it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*thresholds)


def chunks(weights: Sequence[int], jobs: int) -> Iterator[Chunk]:
    """Yield the indices of the items, the heaviest first, light ones together."""
    most = sum(weights) / (jobs * _SHARES)
    chunk: Chunk = []
    heavy = 0
    for at in sorted(range(len(weights)), key=lambda each: (-weights[each], each)):
        if chunk and (heavy + weights[at] > most or len(chunk) == _CHUNK):
            yield chunk
            chunk, heavy = [], 0
        chunk.append(at)
        heavy += weights[at]
    if chunk:
        yield chunk


def _hand_out(
    pool: ProcessPoolExecutor,
    work: Callable[[Item], Result],
    items: Sequence[Item],
    chunk: Chunk,
    flying: dict[Future[list[Result]], Chunk],
    suspects: list[Chunk],
) -> None:
    try:
        with _uninterrupted():
            flying[pool.submit(_batch, work, [items[at] for at in chunk])] = chunk
    except BrokenProcessPool:
        suspects.append(chunk)


def _collected(
    future: Future[list[Result]], chunk: Chunk, suspects: list[Chunk]
) -> Iterator[tuple[int, Result | Exception]]:
    try:
        results = future.result()
    except Exception:  # noqa: BLE001  # a dead process, or a result that would not travel: done again, alone
        suspects.append(chunk)
    else:
        yield from zip(chunk, results, strict=True)


def _batch(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    return [work(item) for item in items]


def _alone(work: Callable[[Item], Result], item: Item) -> Result | Exception:
    try:
        with _pool(1) as pool:
            with _uninterrupted():
                future = pool.submit(work, item)
            return future.result()
    except BrokenProcessPool:
        return ProcessDiedError("the process that checked it died (out of memory?): exclude the file or report it")
    except Exception as error:  # noqa: BLE001  # handed on to be named
        return error
