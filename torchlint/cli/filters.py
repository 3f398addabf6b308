"""What counts in this run and what is done about it: the baseline, the changed rows, the suppressions to write."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from torchlint.cli.arguments import UsageError
from torchlint.config import Config, ConfigError
from torchlint.config.options import Options
from torchlint.discovery.walk import Target
from torchlint.linter.runner import Outcome, over

TYPE_CHECKING = False
if TYPE_CHECKING:  # most runs need none of it, and it takes long to import
    from torchlint.diagnostics.changed_lines import Changed
    from torchlint.selection.apply_baseline import Baseline, Sifted


@dataclass(frozen=True, slots=True)
class Filters:
    """What the flags say about which findings count.

    ``changed`` holds the changed rows by real path; None where all rows count. ``reason`` is what ``--add-noqa`` says,
    None where it was not given. ``rewrite`` lists in the baseline all that is found, ``prune``
    takes out of it what is gone. ``covered`` are the absolute folders of which every file is looked at.
    """

    cwd: str
    baseline: Baseline | None
    rewrite: bool
    prune: bool
    changed: Mapping[str, Changed] | None
    reason: str | None
    covered: tuple[str, ...]

    @property
    def open(self) -> bool:
        """Whether everything counts and nothing is done about it."""
        return self.baseline is None and self.changed is None and self.reason is None

    def targets(self, targets: Iterable[Target]) -> list[Target]:
        """Leave out the files that have not changed, unread."""
        if self.changed is None:
            return list(targets)
        return [replace(each, changed=self.changed[each.real]) for each in targets if each.real in self.changed]

    def sift(self, outcomes: Sequence[Outcome], configs: Mapping[str, Config], complete: bool) -> Sifted:
        """Leave in the outcomes what counts; ``complete`` tells whether every folder could be looked at."""
        from torchlint.selection.apply_baseline import sift

        covered = self.covered if complete else ()
        return sift(outcomes, self.baseline, self.cwd, configs, covered)

    def silence(self, outcomes: Sequence[Outcome], targets: Mapping[str, Target], jobs: int) -> list[Outcome]:
        """Write the suppressions of ``--add-noqa``, where it was given."""
        if self.reason is None:
            return list(outcomes)
        from torchlint.selection.add_noqa import Job, silence

        configs = {path: each.config for path, each in targets.items()}
        work = [Job(targets[each.path], each, self.reason) for each in self.sift(outcomes, configs, False).outcomes]
        work = [each for each in work if each.findings]
        done = {each.path: each for each in over(work, silence, lambda job: job.target, jobs)}
        return [done.get(each.path, each) for each in outcomes]

    def write(self, sifted: Sifted) -> str:
        """Write all that was found into the baseline, or what is left of it, and say so.

        :raises ConfigError: where it cannot be written.
        """
        from torchlint.selection.known_findings import rendered
        from torchlint.source import files

        assert self.baseline is not None
        old = set(self.baseline.entries)
        entries = old - set(sifted.gone) if self.prune else {*sifted.present, *sifted.kept}
        try:
            if not old or entries != old or not os.path.exists(self.baseline.path):
                files.create(self.baseline.path, rendered(entries))
        except files.NotWritten as error:
            raise ConfigError(f"{self.baseline.name}: {error}") from None
        total = f"{len(entries)} known finding{'s' * (len(entries) != 1)}"
        return f"{self.baseline.name} holds {total}: {len(entries - old)} added, {len(old - entries)} gone."


def filters_for(flags: Options, config: Config, cwd: str) -> Filters:
    """Read what the run is measured by, before it begins.

    :raises UsageError: where flags contradict each other.
    :raises ConfigError: where the baseline cannot be used or git cannot tell what changed.
    """
    _consistent(flags)
    given = [os.path.normpath(os.path.join(cwd, each)) for each in flags.paths or ["."] if each != "-"]
    folders = tuple(each for each in given if os.path.isdir(each))
    baseline = _baseline(flags, config, cwd)
    places = {each if os.path.isdir(each) else os.path.dirname(each) for each in given if os.path.exists(each)}
    changed = _changed(flags.diff_base, places) if flags.diff_base is not None else None
    covered = folders if changed is None and flags.shard is None else ()
    return Filters(cwd, baseline, flags.write_baseline, flags.prune_baseline, changed, flags.add_noqa, covered)


def _changed(revision: str, places: set[str]) -> Mapping[str, Changed]:
    from torchlint.selection.git_diff import RevisionError, changed_since

    try:
        return changed_since(revision, places)
    except RevisionError as error:
        raise ConfigError(f"--diff-base: {error}") from None


def _consistent(flags: Options) -> None:
    piped = "-" in flags.paths
    clashes: dict[str, tuple[object, dict[str, object]]] = {
        "--write-baseline": (
            flags.write_baseline,
            {"--diff-base": flags.diff_base is not None, "--diff": flags.diff, "standard input": piped,
             "--no-baseline": flags.no_baseline},
        ),
        "--prune-baseline": (
            flags.prune_baseline,
            {"--write-baseline": flags.write_baseline, "--diff-base": flags.diff_base is not None,
             "--diff": flags.diff, "standard input": piped, "--no-baseline": flags.no_baseline},
        ),
        "--add-noqa": (
            flags.add_noqa is not None,
            {"--fix": flags.fix, "--fix-only": flags.fix_only, "--diff": flags.diff,
             "--write-baseline": flags.write_baseline},
        ),
        "--diff-base": (flags.diff_base is not None, {"standard input": piped}),
        "--baseline": (flags.baseline is not None, {"--no-baseline": flags.no_baseline}),
    }  # fmt: skip
    for flag, (on, others) in clashes.items():
        for other, too in others.items():
            if on and too:
                raise UsageError(f"{flag} and {other} cannot be used together")
    if flags.baseline is not None and piped and not flags.stdin_filename:
        raise UsageError("--baseline needs --stdin-filename to know the findings of standard input")
    if flags.add_noqa and not flags.add_noqa.isprintable():
        raise UsageError("--add-noqa: the reason must be one line of printable text")


def _baseline(flags: Options, config: Config, cwd: str) -> Baseline | None:
    if flags.baseline is not None:
        name, path = flags.baseline, os.path.join(cwd, flags.baseline)
    elif config.run.baseline is not None and not flags.no_baseline:
        path = os.path.normpath(os.path.join(config.root or cwd, config.run.baseline))
        name = path.removeprefix(cwd.rstrip(os.sep) + os.sep)
    elif flags.write_baseline:
        raise UsageError("--write-baseline: say which file, for example --baseline torchlint-baseline.jsonl")
    elif flags.prune_baseline:
        raise UsageError("--prune-baseline: say which file, for example --baseline torchlint-baseline.jsonl")
    else:
        return None
    if "-" in flags.paths and not flags.stdin_filename:
        return None
    from torchlint.selection.apply_baseline import load
    from torchlint.selection.known_findings import BaselineError
    from torchlint.source import files

    try:
        if flags.write_baseline or flags.prune_baseline:
            files.check_place(path)
        if not _ends(path, piped=flags.baseline is not None):
            raise BaselineError(f"{name}: the baseline cannot be read: not a regular file")
        return load(name, os.path.normpath(path), flags.write_baseline)
    except files.NotWritten as error:
        raise ConfigError(f"{name}: {error}") from None
    except BaselineError as error:
        raise ConfigError(str(error)) from None


def _ends(path: str, piped: bool) -> bool:
    """Return whether reading a path comes to an end; a pipe that the user gave is waited for."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (piped and stat.S_ISFIFO(mode))
