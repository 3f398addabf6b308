"""The `check` command: from flags to targets, from outcomes to a report and an exit status."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from zlib import crc32

from torchlint.cli.arguments import COMMANDS, UsageError
from torchlint.cli.cache_folder import cache_folder, result_cache_for
from torchlint.cli.filters import Filters, filters_for
from torchlint.cli.progress import progress
from torchlint.cli.session import Session
from torchlint.config import FILE_TOO_LARGE, SYNTAX_ERROR, Config, Finder
from torchlint.config.options import FORMATS_FOR_PEOPLE, Options
from torchlint.config.selectors import nearest
from torchlint.diagnostics.model import FORCE_SINCE, FileResult, Severity, Trouble
from torchlint.discovery.walk import Discovery, Notice, Target
from torchlint.linter.runner import Outcome, RunMode, examine
from torchlint.linter.runner import run as run_files
from torchlint.output import renderer, summary
from torchlint.output.report import LocatedFinding, Report
from torchlint.output.screen import UNBOUNDED, Screen, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from torchlint.cache.results import ResultCache
    from torchlint.cli.approval import Approval

CLEAN, FINDINGS, FAILED = 0, 1, 2

_BETWEEN_COLLECTIONS = 50_000_000
"""A check leaves next to nothing in circles (``tests/test_letting_go.py``), and looking for them takes long.

So many objects fill some gigabytes: only then it is worth a try."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a run does: by the flags and the current folder's configuration, as far as they concern the run as a whole.

    ``approval`` decides on fixes where only verified ones are applied.
    """

    flags: Options
    config: Config
    mode: RunMode
    filters: Filters
    approval: Approval | None = None

    @property
    def report_findings(self) -> bool:
        """Whether what is found is printed, and not only what is repaired."""
        return self.mode is RunMode.CHECK or (self.mode is RunMode.FIX and not self.config.run.fix_only)

    @property
    def output_format(self) -> str:
        """The format of the report."""
        chosen = self.config.run.output_format
        assert chosen is not None  # it has a default
        return chosen

    @property
    def writes(self) -> bool:
        """Whether the run changes files."""
        return self.mode is RunMode.FIX or self.filters.reason is not None

    @property
    def rewrites_input(self) -> bool:
        """Whether standard output takes the source that came by standard input, so that words go beside it."""
        return "-" in self.flags.paths and self.writes


def run(flags: Options, session: Session) -> int:
    """Do the run and return its exit status.

    :raises UsageError: where flags contradict each other.
    :raises ConfigError: where the configuration of the run cannot be used.
    """
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    _consistent(flags)
    if flags.watch:
        from torchlint.cli.watch import watch

        return watch(replace(flags, watch=False), session, run)
    finder = Finder(flags, session.cwd)
    config = finder.of_folder(session.cwd)
    filters = filters_for(flags, config, session.cwd)
    if flags.show_facts:
        from torchlint.cli.show_facts import show_facts

        show_facts(flags.show_facts, finder, session)
        return CLEAN
    if flags.show_settings:
        from torchlint.cli.show_settings import show_settings

        show_settings(flags, finder, session)
        return CLEAN
    plan = _plan(flags, config, filters, session)
    cache = None if "-" in flags.paths else result_cache_for(flags, config, session.cwd, session.clock)
    discovery = Discovery.of_run(finder, config, session.cwd)
    with _output(flags, session) as out:
        if "-" in flags.paths:
            return _standard_input(plan, finder, discovery, session, out)
        return _files(plan, discovery, cache, session, out)


def _consistent(flags: Options) -> None:
    if flags.watch and ("-" in flags.paths or flags.output_file):
        raise UsageError("--watch looks at files again and again: leave out standard input and --output-file")
    if "-" in flags.paths and len(flags.paths) > 1:
        raise UsageError("`-` reads standard input and cannot be given beside other paths")
    if flags.statistics and flags.output_format not in (None, *FORMATS_FOR_PEOPLE, "json"):
        raise UsageError(f"--statistics are text or json, not {flags.output_format}: leave out one of the two")


def _plan(flags: Options, config: Config, filters: Filters, session: Session) -> _Plan:
    fixing = (config.run.fix or config.run.fix_only) and filters.reason is None
    mode = RunMode.DIFF if flags.diff else RunMode.FIX if fixing else RunMode.CHECK
    if not flags.verify:
        return _Plan(flags, config, mode, filters)
    if mode is RunMode.CHECK:
        raise UsageError(
            "--verify is used with --fix or --diff; `torchlint verify PATH` proves fixes without applying them"
        )
    from torchlint.cli.approval import Approval
    from torchlint.verify.kept import kept_in

    approval = Approval(session, kept_in(cache_folder(flags, config, session.cwd), session.clock))
    return _Plan(flags, config, mode, filters, approval)


def _output(flags: Options, session: Session) -> AbstractContextManager[TextIO]:
    if flags.output_file is None:
        return nullcontext(session.stdout)
    from torchlint.cli.output_file import open_output

    return open_output(flags.output_file, session.cwd)


_NOT_FORCED = (
    "`numpy-style = force` is not used: the code is to run on torch {}.{}, and `.numpy(force=True)` came with torch "
    "{}.{}; raise `target-torch`, or the project's requirement of torch"
)


def _cannot_force(target: Target) -> bool:
    settings = target.config.settings
    return settings.numpy_style == "force" and not settings.forces


def _files(plan: _Plan, discovery: Discovery, cache: ResultCache | None, session: Session, out: TextIO) -> int:
    found = list(discovery.find(plan.flags.paths or ["."]))
    every = [each for each in found if isinstance(each, Target) and _in_part(each, plan.flags.shard, session.cwd)]
    targets = plan.filters.targets(every)
    troubles = [_hinted(each, plan.flags.paths) for each in found if isinstance(each, Trouble)]
    for notice in (each for each in found if isinstance(each, Notice)):
        session.say("warning", f"{notice.path}: {notice.message}")
    if plan.flags.show_files:
        for target in targets:
            print(printable(target.path), file=out)
        return _closed(troubles, CLEAN, session)
    if not every and not troubles and not plan.flags.quiet and plan.flags.shard is None:
        session.say("warning", "no Python files or notebooks found under the given paths")
    for old in sorted({each.config.settings.target_torch or (0, 0) for each in targets if _cannot_force(each)}):
        session.say("warning", _NOT_FORCED.format(*old, *FORCE_SINCE))
    if plan.flags.verbose:
        _narrate(targets, session)
    approve = plan.approval.approve if plan.approval else None
    title = "Verifying" if approve else "Checking"
    with progress(len(targets), session.stderr, not plan.flags.quiet, title) as shown:
        outcomes = run_files(targets, plan.mode, session.jobs, shown.advance, approve, cache, shown.begin)
    if cache and plan.flags.verbose:
        session.say("info", cache.fault or f"{sum(each.recalled for each in outcomes)} files known from earlier runs")
    outcomes = plan.filters.silence(outcomes, {each.path: each for each in targets}, session.jobs)
    if plan.writes:
        from torchlint.source.files import sweep

        sweep({os.path.dirname(each.real) for each in every if each.writable})
    configs = {each.path: each.config for each in targets}
    return _conclude(plan, outcomes, troubles, configs, session, out)


def _in_part(target: Target, shard: tuple[int, int] | None, cwd: str) -> bool:
    """Whether a file belongs to the part that was asked for: by its path, so that no job has to know of another."""
    if shard is None:
        return True
    path = os.path.relpath(target.real, cwd).replace(os.sep, "/")
    return crc32(path.encode("utf-8", "surrogateescape")) % shard[1] == shard[0] - 1


def _standard_input(plan: _Plan, finder: Finder, discovery: Discovery, session: Session, out: TextIO) -> int:
    name = plan.flags.stdin_filename or "-"
    place = os.path.normpath(os.path.join(session.cwd, plan.flags.stdin_filename or "stdin.py"))
    config = finder.of_folder(os.path.dirname(place))
    raw = session.stdin.read()
    if plan.flags.stdin_filename and discovery.forced_out(place):
        if plan.writes:
            _write_bytes(session.stdout, raw)
        return CLEAN
    outcome = examine(name, raw, config, plan.mode, approve=plan.approval.approve if plan.approval else None)
    if plan.filters.reason is not None:
        (outcome,) = plan.filters.silence([outcome], {name: Target(name, "", config)}, 1)
    elif plan.mode is not RunMode.FIX:
        return _conclude(plan, [outcome], [], {name: config}, session, out)
    # The repaired source goes to standard output, so what there is to say goes beside it.
    _write_bytes(session.stdout, outcome.after or raw)
    beside = out if plan.flags.output_file else session.stderr
    return _conclude(plan, [outcome], [], {name: config}, session, beside)


def _conclude(
    plan: _Plan,
    outcomes: list[Outcome],
    troubles: list[Trouble],
    configs: Mapping[str, Config],
    session: Session,
    out: TextIO,
) -> int:
    outcomes = sorted(outcomes, key=lambda each: each.path)
    known = 0
    if plan.mode is not RunMode.DIFF and not plan.filters.open:
        outcomes, known = _sifted(plan, outcomes, configs, not troubles, session)
    troubles = [*troubles, *(trouble for each in outcomes for trouble in each.result.troubles)]
    _remark(plan, outcomes, session)
    report = Report(
        results=tuple(configs.get(each.path, plan.config).shown(each.result) for each in outcomes),
        fixed=tuple((each.path, each.fixed) for each in outcomes if each.fixed and not each.linked_out),
        unsafe_fixes=plan.config.unsafe_fixes,
        troubles=tuple(troubles),
        known=known,
        at_first=sum(each.at_first for each in outcomes if each.fixed and not each.linked_out),
        is_repaired=plan.mode is RunMode.FIX,
        is_short=not plan.flags.verbose,
    )
    if plan.mode is RunMode.DIFF:
        changed = _show_diff(plan, outcomes, report, session, out)
        _warn_unparsed(report, session)
        return _closed(troubles, FINDINGS if changed and not plan.flags.exit_zero else CLEAN, session)
    _show_findings(plan, report, session, out)
    if not plan.report_findings:
        _warn_unparsed(report, session)
    return _closed(troubles, _status(plan, report), session)


def _remark(plan: _Plan, outcomes: list[Outcome], session: Session) -> None:
    """Say what is no finding: which fixes were not written or not approved, which files were not looked at or read."""
    is_quiet, is_verbose = plan.flags.quiet, plan.flags.verbose
    for outcome in outcomes if not is_quiet else ():
        if outcome.linked_out:
            session.say("warning", f"{outcome.path}: a link out of the given folder, so not fixed")
    if plan.approval and not is_quiet:
        for line in plan.approval.report(is_verbose):
            session.say("warning", line)
        for line in plan.approval.told() if is_verbose else ():
            session.say("info", line)
    for outcome in outcomes if is_verbose else ():
        if outcome.result.passed_over:
            session.say("info", f"{outcome.path}: {outcome.result.passed_over}")
    if not is_quiet:
        _warn_of_newer_code([each.result for each in outcomes if each.result.newer], session)


def _sifted(
    plan: _Plan, outcomes: list[Outcome], configs: Mapping[str, Config], complete: bool, session: Session
) -> tuple[list[Outcome], int]:
    """Leave what counts, and say what became of the rest; return the number of known findings too."""
    filters, quiet = plan.filters, plan.flags.quiet
    sifted = filters.sift(outcomes, configs, complete)
    outcomes, known = list(sifted.outcomes), sifted.known
    if filters.reason is not None:
        silenced = [len(each.fixed) for each in outcomes if each.fixed]
        outcomes = [replace(each, fixed=()) for each in outcomes]
        if not quiet:
            print(summary.silenced(sum(silenced), len(silenced)), file=session.stderr)
    if filters.rewrite:
        said = filters.write(sifted)
        outcomes = [replace(each, result=replace(each.result, findings=())) for each in outcomes]
        if not quiet:
            print(said, file=session.stderr)
        return outcomes, len(sifted.present)
    if filters.prune:
        said = filters.write(sifted)
        if not quiet:
            print(said, file=session.stderr)
        return outcomes, known
    if sifted.gone and filters.baseline and not quiet:
        session.say("info", summary.gone(len(sifted.gone), filters.baseline.name, plan.flags.verbose))
        for entry in sifted.gone if plan.flags.verbose else ():
            session.say("info", f"gone: {entry.path}: {entry.code}" + f" in `{entry.scope}`" * bool(entry.scope))
    return outcomes, known


def _show_findings(plan: _Plan, report: Report, session: Session, out: TextIO) -> None:
    """Print the report, and below it the closing words, which go to the terminal where the report goes to a file."""
    filed = bool(plan.flags.output_file)
    screen = session.screen
    if filed and plan.flags.color == "auto":
        screen = replace(screen, color=False, width=UNBOUNDED)
    if plan.report_findings:
        # each at once: where nothing is buffered, no other process's line comes between a line and its end
        out.writelines(f"{line}\n" for line in _body(plan, report, screen))
    if filed:
        beside = session.stderr if plan.rewrites_input else session.stdout
        closing = "\n".join(_closing(plan, report, session.screen))
        print(closing, file=beside, end="\n" * bool(closing))
    elif plan.output_format in FORMATS_FOR_PEOPLE:
        for line in _closing(plan, report, screen):
            print(line, file=out)


def _closing(plan: _Plan, report: Report, screen: Screen) -> Iterator[str]:
    if plan.config.run.show_fixes:
        yield from summary.fixes(report, screen)
    if plan.flags.quiet:
        return
    clean = plan.report_findings and not report.counts()["found"] and not report.fixed
    if plan.report_findings and not (clean and report.troubles):
        yield from summary.render(report, screen)
    elif not plan.report_findings and report.fixed:
        yield summary.did_fix(report)


def _body(plan: _Plan, report: Report, screen: Screen) -> Iterator[str]:
    if plan.output_format in FORMATS_FOR_PEOPLE and not plan.flags.statistics and next(report.places, None) is None:
        return  # so that nothing is imported to say nothing
    if not plan.flags.statistics:
        yield from renderer(plan.output_format)(report, screen)
        return
    from torchlint.output import statistics

    if plan.output_format == "json":
        yield statistics.as_json(report)
    else:
        yield from statistics.render(report, screen)


def _show_diff(plan: _Plan, outcomes: list[Outcome], report: Report, session: Session, out: TextIO) -> bool:
    from torchlint.output import diff

    changed = [each for each in outcomes if each.after != each.before and not each.linked_out]
    for outcome in changed:
        text = diff.unified(outcome.path, outcome.before, outcome.after)
        if session.screen.color and out is session.stdout:
            print(diff.shown(text, session.screen), file=out, end="")
        else:
            _write_bytes(out, text)
    if not plan.flags.quiet:
        print(summary.would_fix(report, len(changed)), file=session.stderr)
    return bool(changed)


def _status(plan: _Plan, report: Report) -> int:
    if plan.flags.exit_non_zero_on_fix and report.fixed:
        return FINDINGS
    if plan.flags.exit_zero or not plan.report_findings:
        return CLEAN
    least = plan.config.run.fail_on or Severity.LEGACY
    counted = (each.finding for each in report.places if each.finding.code != FILE_TOO_LARGE)
    return FINDINGS if any(each.severity >= least for each in counted) else CLEAN


def _closed(troubles: Iterable[Trouble], status: int, session: Session) -> int:
    for trouble in troubles:
        status = FAILED
        session.say("error", f"{trouble.path}: {trouble.message}")
    return status


def _warn_of_newer_code(results: Sequence[FileResult], session: Session) -> None:
    """Say which files the running Python cannot read: what is found in them rests on words alone."""
    if not results:
        return
    version, more = ".".join(map(str, sys.version_info[:2])), len(results) - 1
    others = f", nor that of {more} other file{'s' if more > 1 else ''}" if more else ""
    session.say(
        "warning",
        f"{results[0].path}, {results[0].newer}: Python {version} cannot read this syntax{others}; little is known of "
        "such code, so findings are missing: run torchlint with a newer Python",
    )


def _warn_unparsed(report: Report, session: Session) -> None:
    """Say which files could not be looked at, where findings are not shown otherwise."""
    from torchlint.output.concise import line

    for place in report.places:
        if place.finding.code == SYNTAX_ERROR:
            session.say("warning", line(LocatedFinding(place.path, place.source, place.finding), Screen()))


def _hinted(trouble: Trouble, paths: Sequence[str]) -> Trouble:
    hint = nearest(trouble.path, COMMANDS) if os.sep not in trouble.path and "." not in trouble.path else ""
    if trouble.path == "rule" == paths[0] and len(paths) > 1:  # what `ruff rule` prints
        hint = f"; did you mean `explain {paths[1]}`?"
    return replace(trouble, message=trouble.message + hint.replace("did you mean `", "did you mean `torchlint "))


def _narrate(targets: list[Target], session: Session) -> None:
    configurations = {each.config.path for each in targets}
    for path in sorted(each or "none" for each in configurations):
        session.say("info", f"configuration: {path}")
    session.say("info", f"{len(targets)} files, {session.jobs} processes at most")


def _write_bytes(stream: TextIO, raw: bytes) -> None:
    stream.flush()
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(raw.decode("utf-8", "replace"))
    else:
        buffer.write(raw)
        buffer.flush()
