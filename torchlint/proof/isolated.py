"""Running a function over many items in a process of its own, which may die without taking anything along."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

_START = 60.0
"""Seconds that a process may take to import what it needs, before its first answer."""
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended while it worked on an item: killed by a signal, or for taking too long."""

    reason: str


def each_isolated(
    function: Callable[[Item], Result], items: Sequence[Item], seconds: float
) -> Iterator[tuple[Item, Result | Died]]:
    """Give each item with what the function makes of it; a process that dies is replaced for the items left.

    The function and the items must be picklable. ``seconds`` is the longest that one item may take, the start of the
    process not counted.
    """
    context = multiprocessing.get_context("spawn")  # a fork would inherit threads that torch cannot go on with
    at = 0
    while at < len(items):
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, function, items[at:]), daemon=True)
        process.start()
        theirs.close()
        try:
            for result in _received(ours, process, seconds):
                yield items[at], result
                at += 1
                if at == len(items):
                    break
        finally:
            process.kill()
            process.join()
            ours.close()


def _received(connection: Connection, process: Any, seconds: float) -> Iterator[Any]:
    limit = seconds + _START
    while True:
        try:
            if not connection.poll(limit):
                yield Died(f"took longer than {seconds:g} s")
                return
            yield connection.recv()
        except (EOFError, ConnectionResetError):
            process.join()
            yield Died(f"ended by signal {-process.exitcode}" if process.exitcode < 0 else "ended")
            return
        limit = seconds


def _serve(connection: Connection, function: Callable[[Any], Any], items: Sequence[Any]) -> None:
    for item in items:
        connection.send(function(item))
