"""Measures every operation in a process of its own, so that what aborts, hangs or changes settings harms nothing."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.operations_table.names import Operation
from tools.operations_table.record import Record, measure

SECONDS = 20
"""Processor time for one operation; a wait without work is cut at ten times that."""
MOST_DEATHS = 6
"""How many calls of an operation may end its process, and are left out in the next one, before it is given up."""


@dataclass
class Child:
    """A process that measures one operation."""

    operation: Operation
    process: int
    pipe: int
    started: float
    said: bytearray = field(default_factory=bytearray)
    deaths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Died:
    """The operation's process ended before it could answer, by a signal or out of time."""

    name: str
    how: str


def measured(operations: Sequence[Operation], jobs: int, report: Callable[[int], None]) -> Iterator[Record | Died]:
    """Yield the record of every operation, in any order; ``report`` is told how many are done."""
    waiting: list[tuple[Operation, tuple[int, ...]]] = [(each, ()) for each in reversed(operations)]
    running: dict[int, Child] = {}
    done = 0
    while waiting or running:
        while waiting and len(running) < jobs:
            operation, deaths = waiting.pop()
            child = _start(operation, deaths)
            running[child.pipe] = child
        for child in _ready(running):
            del running[child.pipe]
            outcome = _end(child)
            if isinstance(outcome, tuple):
                waiting.append((child.operation, outcome))
                continue
            done += 1
            report(done)
            yield outcome


def _start(operation: Operation, deaths: tuple[int, ...]) -> Child:
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        os.close(writing)
        return Child(operation, process, reading, time.monotonic(), deaths=deaths)
    os.close(reading)
    _work(operation, frozenset(deaths), writing)
    os._exit(0)


def _work(operation: Operation, skipped: frozenset[int], pipe: int) -> None:
    """In the child: measure, and send the numbers of the calls as they are made, then the record."""
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        record: Any = measure(operation, skipped, lambda number: os.write(pipe, b"%d\n" % number))
    except BaseException as error:  # noqa: BLE001 - a fault of this program must reach the parent
        record = error
    body = pickle.dumps(record)
    os.write(pipe, b"=\n")
    while body:
        body = body[os.write(pipe, body) :]


def _ready(running: dict[int, Child]) -> Iterator[Child]:
    """Read what children say; give those that have ended or are out of time."""
    readable, _, _ = select.select(list(running), [], [], 1.0)
    for pipe in readable:
        if piece := os.read(pipe, 1 << 16):
            running[pipe].said += piece
        else:
            yield running[pipe]
    late = [each for each in running.values() if time.monotonic() - each.started > 10 * SECONDS]
    for child in late:
        os.kill(child.process, signal.SIGKILL)


def _end(child: Child) -> Record | Died | tuple[int, ...]:
    """Return the record; or the numbers of the calls to leave out next time; or how the process died for good."""
    os.close(child.pipe)
    _, status = os.waitpid(child.process, 0)
    calls, mark, body = bytes(child.said).partition(b"=\n")
    if mark and status == 0:
        record = pickle.loads(body)
        if isinstance(record, BaseException):
            raise RuntimeError(f"{child.operation.name} could not be measured") from record
        return record  # type: ignore[no-any-return]
    last = calls.split(b"\n")[-2:-1]
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    if late or not last or len(child.deaths) >= MOST_DEATHS:
        return Died(child.operation.name, "no end within the time" if late else "the end of the process")
    return (*child.deaths, int(last[0]))
