"""How a run goes through its files: read, check or fix, write, one after another or in a pool of processes."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from torchlint import writing
from torchlint.config import Config
from torchlint.discover import Target
from torchlint.model import FileResult, Finding, Trouble

if TYPE_CHECKING:
    from torchlint.engine import Approve

POOL_FROM = 16
"""Below this many files a pool costs more than it gives."""


class Mode(Enum):
    """What is done to a file."""

    CHECK = "check"
    FIX = "fix"
    DIFF = "diff"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file; ``before`` and ``after`` differ where a fix changed it or, for a diff, would."""

    result: FileResult
    fixed: tuple[Finding, ...] = ()
    before: bytes = b""
    after: bytes = b""
    linked_out: bool = False
    """A fix was there but was not written, because the file is a link out of the folder that was given."""

    @property
    def path(self) -> str:
        """The path to show."""
        return self.result.path


def run(
    targets: Sequence[Target],
    mode: Mode,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
    approve: Approve | None = None,
) -> list[Outcome]:
    """Go through the files and give what came of them, in their order; ``done`` is told of files as they finish.

    Where fixes need approval all files are done in this process.

    A file that crashes the check, or kills the process it runs in, gives a trouble; the others are not touched by it.
    """
    if jobs <= 1 or len(targets) < POOL_FROM or approve:
        outcomes = []
        for target in targets:
            outcomes.append(attempt(target, mode, approve))
            done(1)
        return outcomes
    from torchlint import pool  # here: a run over few files needs none of what it imports

    found: dict[int, Outcome] = {}
    for at, came in pool.spread(partial(attempt, mode=mode), targets, jobs):
        found[at] = came if isinstance(came, Outcome) else _unfinished(targets[at], came)
        done(1)
    return [found[at] for at in range(len(targets))]


def attempt(target: Target, mode: Mode, approve: Approve | None = None) -> Outcome:
    """Do one file; whatever goes wrong comes back as a trouble."""
    try:
        with open(target.real, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        return _failed(target.path, f"cannot be read: {error.strerror or error}")
    outcome = examine(target.path, raw, target.config, mode, approve)
    if mode is Mode.CHECK or outcome.after == outcome.before:
        return outcome
    if not target.writable:
        return replace(examine(target.path, raw, target.config, Mode.CHECK), linked_out=True)
    return _written(target, outcome) if mode is Mode.FIX else outcome


def examine(path: str, raw: bytes, config: Config, mode: Mode, approve: Approve | None = None) -> Outcome:
    """Check or fix bytes without touching a file."""
    try:
        # Not above: starting up, and telling that there is nothing to do, must not cost the import of the parser.
        from torchlint import engine

        if mode is Mode.CHECK:
            return Outcome(_presentable(engine.check_bytes(path, raw, config), config), (), raw, raw)
        mended = engine.fix_bytes(path, raw, config, approve)
        return Outcome(_presentable(mended.remaining, config), mended.fixed, raw, mended.raw)
    except Exception as error:  # noqa: BLE001  # one file's crash must not end the run; it is named and exits 2
        return _failed(path, _fault(error))


def _written(target: Target, outcome: Outcome) -> Outcome:
    try:
        writing.replace(target.real, outcome.before, outcome.after)
    except writing.NotWritten as error:
        checked = examine(target.path, outcome.before, target.config, Mode.CHECK)
        trouble = Trouble(target.path, str(error))
        return replace(checked, result=replace(checked.result, troubles=(*checked.result.troubles, trouble)))
    return outcome


def _presentable(result: FileResult, config: Config) -> FileResult:
    """Drop the fixes the user does not want, and the source of a file there is nothing to say about."""
    if not result.findings:
        return replace(result, source=None, suppressed=tuple(replace(each, fix=None) for each in result.suppressed))
    findings = (each if config.fixable(each.code) else replace(each, fix=None) for each in result.findings)
    return replace(result, findings=tuple(findings))


def _failed(path: str, message: str) -> Outcome:
    return Outcome(FileResult(path, None, troubles=(Trouble(path, message),)))


def _unfinished(target: Target, error: Exception) -> Outcome:
    from torchlint.pool import ProcessDiedError

    return _failed(target.path, str(error) if isinstance(error, ProcessDiedError) else _fault(error))


def _fault(error: BaseException) -> str:
    trail = traceback.extract_tb(error.__traceback__)
    where = f" (in {os.path.basename(trail[-1].filename)}:{trail[-1].lineno})" if trail else ""
    return f"internal fault, please report it: {type(error).__name__}: {error}{where}".replace("\n", " ")
