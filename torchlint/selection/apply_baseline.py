"""What of a run's findings counts: not those that a baseline knows, and only those on changed rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from torchlint.config import SYNTAX_ERROR, Config
from torchlint.diagnostics.model import Confidence
from torchlint.linter.runner import Outcome
from torchlint.selection.fingerprints import identities
from torchlint.selection.known_findings import BaselineError, Known, parsed, path_from, recognise


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline: its name as it was given, its absolute path, and what it holds."""

    name: str
    path: str
    entries: tuple[Known, ...] = ()

    @property
    def folder(self) -> str:
        """The folder from which its paths start."""
        return os.path.dirname(self.path)

    def exists(self, path: str) -> bool:
        """Return whether the file of an entry is there."""
        return os.path.exists(os.path.join(self.folder, path))


@dataclass(frozen=True, slots=True)
class Sifted:
    """The outcomes with the findings that count, and what the baseline made of the others.

    ``gone`` are entries whose finding is no longer there; ``kept`` are entries that this run could not judge;
    ``present`` are all findings of the run as entries, known and new.
    """

    outcomes: tuple[Outcome, ...]
    known: int = 0
    gone: tuple[Known, ...] = ()
    kept: tuple[Known, ...] = ()
    present: tuple[Known, ...] = ()


def load(name: str, path: str, missing_ok: bool) -> Baseline:
    """Read a baseline.

    :raises BaselineError: where it cannot be used.
    """
    try:
        with open(path, "rb") as stream:
            return Baseline(name, path, parsed(name, stream.read()))
    except FileNotFoundError:
        if missing_ok:
            return Baseline(name, path)
        raise BaselineError(f"{name}: no such baseline: make it with --write-baseline") from None
    except OSError as error:
        raise BaselineError(f"{name}: the baseline cannot be read: {error.strerror or error}") from None


def sift(
    outcomes: Sequence[Outcome],
    baseline: Baseline | None,
    cwd: str,
    configs: Mapping[str, Config],
    covered: Iterable[str] = (),
) -> Sifted:
    """Leave in the outcomes what counts.

    ``configs`` holds the options of each file by its shown path. ``covered`` are the absolute folders of which this run
    looked at every file: what a baseline knows there in other files is gone.
    """
    if baseline is None:
        return Sifted(tuple(_on_changed_rows(each) for each in outcomes))
    files = [path_from(baseline.folder, os.path.normpath(os.path.join(cwd, each.path))) for each in outcomes]
    present = [_entries(file, outcome) for file, outcome in zip(files, outcomes, strict=True)]
    found = recognise(baseline.entries, present, baseline.exists)
    left = []
    for outcome, known in zip(outcomes, found.known, strict=True):
        new = tuple(each for each, old in zip(outcome.result.findings, known, strict=True) if not old)
        left.append(_on_changed_rows(replace(outcome, result=replace(outcome.result, findings=new))))
    judges = {file: (each, configs[each.path]) for file, each in zip(files, outcomes, strict=True)}
    folders = [path_from(baseline.folder, each) for each in covered]
    gone = tuple(each for each in found.left if _is_gone(each, judges, folders))
    return Sifted(
        tuple(left),
        sum(flag for file in found.known for flag in file),
        gone,
        tuple(sorted(set(found.left) - set(gone))),
        tuple(each for file in present for each in file),
    )


def _on_changed_rows(outcome: Outcome) -> Outcome:
    result = outcome.result
    if outcome.changed is None or result.source is None:
        return outcome
    return replace(outcome, result=replace(result, findings=outcome.changed.of(result.source, result.findings)))


def _entries(file: str, outcome: Outcome) -> list[Known]:
    result = outcome.result
    if not result.findings:
        return []
    known_by = identities(result.source, (*result.findings, *result.suppressed))
    return [
        Known(file, identity.scope, each.code, str(each.confidence), identity.fingerprint)
        for each, identity in zip(result.findings, known_by, strict=False)
    ]


def _is_gone(entry: Known, judges: Mapping[str, tuple[Outcome, Config]], folders: Iterable[str]) -> bool:
    """Return whether this run would have found it: in a file it read to the end, by a rule that was on."""
    if entry.path not in judges:
        return any(folder == "." or entry.path.startswith(f"{folder}/") for folder in folders)
    outcome, config = judges[entry.path]
    if outcome.result.troubles or any(each.code == SYNTAX_ERROR for each in outcome.result.findings):
        return False
    least = next((each for each in Confidence if str(each) == entry.confidence), Confidence.POSSIBLE)
    return entry.code in config.codes(outcome.path) and least >= config.min_confidence
