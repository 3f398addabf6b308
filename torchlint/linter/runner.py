"""How a run goes through its files: read, check or fix, write, one after another or in a pool of processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, FileResult, Finding, Trouble
from torchlint.discovery.walk import Target
from torchlint.source import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from torchlint.cache.results import ResultCache
    from torchlint.diagnostics.changed_lines import Changed
    from torchlint.linter.engine import Approve

    Item = TypeVar("Item")

PASSES = 4
"""Files are repaired at most this often, because another file that they read was repaired."""
POOL_FROM = 100_000
"""Below this many bytes a pool costs more than it gives: each of its processes imports the parser anew."""


class RunMode(Enum):
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
    changed: Changed | None = None
    """The rows of ``after`` that count; None where all do."""

    written: bool = False
    """Whether the file was changed on disk."""

    recalled: bool = False
    """Whether it is what an earlier run found."""

    at_first: int = 0
    """How many findings had a fix before any was applied."""

    @property
    def path(self) -> str:
        """The path to show."""
        return self.result.path

    @property
    def reads(self) -> Iterable[str]:
        """The other files that the result rests on."""
        return (path for path, digest in self.result.reads if digest is not None)


def run(
    targets: Sequence[Target],
    mode: RunMode,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
    approve: Approve | None = None,
    cache: ResultCache | None = None,
    begun: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Go through the files and give what came of them, in their order; ``done`` is told of files as they finish.

    ``begun`` is told the path of each that this process takes up; what another one does is not known before it is done.

    Where fixes need approval all files are done in this process. What ``cache`` holds is not looked for again, but
    no fix is taken from it: where one is to be applied the file is looked at anew.

    A file that crashes the check, or kills the process it runs in, gives a trouble; the others are not touched by it.
    Files are written when all have been looked at: what is known of one rests on what others import, so it must not
    depend on which was repaired first. Those that read a repaired file are then looked at again.
    """
    _look_again()
    outcomes = _pass(targets, mode, jobs, done, approve, cache, begun)
    if mode is RunMode.FIX:
        _write(targets, outcomes, jobs, approve)
        if cache is not None:
            _keep(targets, outcomes, cache)
    if cache is not None:
        cache.write()
    return outcomes


def _look_again() -> None:
    """Have what this process knows of files looked at again; who has asked nothing yet loads nothing for it."""
    if "torchlint.knowledge" in sys.modules:
        from torchlint.knowledge import look_again

        look_again()


def _write(targets: Sequence[Target], outcomes: list[Outcome], jobs: int, approve: Approve | None) -> None:
    """Write the files that were repaired, and look again at those that read them."""
    fresh = list(range(len(targets)))
    for passes_left in reversed(range(PASSES)):
        for at in fresh:
            outcomes[at] = _written(targets[at], outcomes[at])
        touched = {os.path.realpath(targets[at].real) for at in fresh if outcomes[at].written}
        fresh = [at for at, each in enumerate(outcomes) if _rests_on(each, touched)] if touched else []
        if not fresh or not passes_left:
            break
        moved = [replace(targets[at], changed=outcomes[at].changed) for at in fresh]
        for at, again in zip(fresh, _pass(moved, RunMode.FIX, jobs, lambda _: None, approve), strict=True):
            before = outcomes[at]
            outcomes[at] = replace(again, fixed=(*before.fixed, *again.fixed), at_first=before.at_first)


def _rests_on(outcome: Outcome, touched: set[str]) -> bool:
    """Whether an outcome may be another one now that some files were written."""
    if touched & {os.path.realpath(path) for path in outcome.reads}:
        return True
    if not outcome.result.asked:
        return False
    from torchlint.knowledge import still_answered

    return not still_answered(outcome.result.asked)


def _pass(
    targets: Sequence[Target],
    mode: RunMode,
    jobs: int,
    done: Callable[[int], None],
    approve: Approve | None,
    cache: ResultCache | None = None,
    begun: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Look at files as they are on disk; nothing is written."""
    found: dict[int, Outcome] = {}
    if cache is not None and approve is None:
        known = ((at, _recalled(target, mode, cache)) for at, target in enumerate(targets))
        found = {at: outcome for at, outcome in known if outcome is not None}
        done(len(found))
    left = [at for at in range(len(targets)) if at not in found]
    writer = cache.writer() if cache is not None and mode is not RunMode.FIX and left else None

    def came(target: Target, outcome: Outcome) -> None:
        done(1)
        if writer is not None and outcome.before == outcome.after:
            writer.add(target, outcome.result, outcome.after)

    work = partial(attempt, mode=mode, approve=approve)
    made = over([targets[at] for at in left], work, lambda target: target, 1 if approve else jobs, came, begun)
    found.update(zip(left, made, strict=True))
    if made:
        _look_again()
    if writer is not None:
        writer.write()
    return [found[at] for at in range(len(targets))]


def _recalled(target: Target, mode: RunMode, cache: ResultCache) -> Outcome | None:
    """Return what is remembered of a file; nothing where there is a fix to apply."""
    result = cache.recall(target)
    if result is None:
        return None
    least = Applicability.UNSAFE if target.config.unsafe_fixes else Applicability.SAFE
    if mode is not RunMode.CHECK and any(each.fix and each.fix.applicability >= least for each in result.findings):
        return None
    raw = result.source.raw if result.source is not None else b""
    return Outcome(result, (), raw, raw, changed=target.changed, recalled=True)


def _keep(targets: Sequence[Target], outcomes: Sequence[Outcome], cache: ResultCache) -> None:
    """Keep what was found where files were repaired: nothing of it holds before all of them are written."""
    cache.refresh()
    for target, outcome in zip(targets, outcomes, strict=True):
        if not outcome.recalled and outcome.before == outcome.after:
            cache.remember(target, outcome.result, outcome.after)


def over(
    items: Sequence[Item],
    work: Callable[[Item], Outcome],
    target: Callable[[Item], Target],
    jobs: int,
    came: Callable[[Item, Outcome], None] = lambda _item, _outcome: None,
    begun: Callable[[str], None] = lambda _: None,
) -> list[Outcome]:
    """Return what came of each item, in their order: one after another, or in a pool where there is enough to do.

    ``came`` is told of each as it comes, ``begun`` of the paths that are taken up one after another.
    """
    weights = [_size(target(item).real) for item in items] if jobs > 1 and len(items) > 1 else []
    if sum(weights) < POOL_FROM:
        outcomes = []
        for item in items:
            begun(target(item).path)
            outcomes.append(work(item))
            came(item, outcomes[-1])
        return outcomes
    from torchlint.linter import pool  # here: a run over few files needs none of what it imports

    found: dict[int, Outcome] = {}
    for at, made in pool.spread(work, items, jobs, weights):
        found[at] = made if isinstance(made, Outcome) else _unfinished(target(items[at]).path, made)
        came(items[at], found[at])
    return [found[at] for at in range(len(items))]


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def attempt(target: Target, mode: RunMode, approve: Approve | None = None) -> Outcome:
    """Do one file; whatever goes wrong comes back as a trouble."""
    try:
        raw = files.read(target.real)
    except OSError as error:
        return _failed(target.path, f"cannot be read: {error.strerror or error}")
    outcome = examine(target.path, raw, target.config, mode, target.changed, approve)
    if mode is RunMode.CHECK or outcome.after == outcome.before:
        return outcome
    if not target.writable:
        return replace(examine(target.path, raw, target.config, RunMode.CHECK, target.changed), linked_out=True)
    return outcome


def examine(
    path: str,
    raw: bytes,
    config: Config,
    mode: RunMode,
    changed: Changed | None = None,
    approve: Approve | None = None,
) -> Outcome:
    """Check or fix bytes without touching a file; ``changed`` confines the fixes to some rows."""
    try:
        # Not above: starting up must not cost what looking at files does, nor telling that there is nothing to do the
        # import of the parser.
        from torchlint.syntax.prefilter import is_plain

        if approve is None and is_plain(path, raw, config):
            return Outcome(FileResult(path, None), (), raw, raw, False, changed)
        from torchlint.linter import engine

        if mode is RunMode.CHECK:
            return Outcome(_presentable(engine.check_bytes(path, raw, config), config), (), raw, raw, False, changed)
        mended = engine.fix_bytes(path, raw, config, changed, approve)
        left = _presentable(mended.remaining, config)
        return Outcome(left, mended.fixed, raw, mended.raw, changed=mended.changed, at_first=mended.at_first)
    except Exception as error:  # noqa: BLE001  # one file's crash must not end the run; it is named and exits 2
        return _failed(path, _fault(error))


def _written(target: Target, outcome: Outcome) -> Outcome:
    if outcome.after == outcome.before:
        return outcome
    from torchlint.source import files

    try:
        files.replace(target.real, outcome.before, outcome.after)
    except files.NotWritten as error:
        checked = examine(target.path, outcome.before, target.config, RunMode.CHECK, target.changed)
        trouble = Trouble(target.path, str(error))
        return replace(checked, result=replace(checked.result, troubles=(*checked.result.troubles, trouble)))
    return replace(outcome, before=outcome.after, written=True)


def _presentable(result: FileResult, config: Config) -> FileResult:
    """Drop the fixes the user does not want, and the source of a file there is nothing to say about."""
    findings = (each if config.fixable(each.code) else replace(each, fix=None) for each in result.findings)
    suppressed = (replace(each, fix=None) for each in result.suppressed)
    source = result.source if result.findings or result.suppressed else None
    return replace(result, source=source, findings=tuple(findings), suppressed=tuple(suppressed))


def _failed(path: str, message: str) -> Outcome:
    return Outcome(FileResult(path, None, troubles=(Trouble(path, message),)))


def _unfinished(path: str, error: Exception) -> Outcome:
    from torchlint.linter.pool import ProcessDiedError

    return _failed(path, str(error) if isinstance(error, ProcessDiedError) else _fault(error))


def _fault(error: BaseException) -> str:
    import traceback

    trail = traceback.extract_tb(error.__traceback__)
    where = f" (in {os.path.basename(trail[-1].filename)}:{trail[-1].lineno})" if trail else ""
    return f"internal fault, please report it: {type(error).__name__}: {error}{where}".replace("\n", " ")
