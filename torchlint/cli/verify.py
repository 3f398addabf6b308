"""The `verify` command: fixes are run before and after, here, and the verdicts are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchlint.cli.approval import find_bench
from torchlint.cli.arguments import UsageError
from torchlint.cli.cache_folder import cache_folder
from torchlint.cli.progress import progress
from torchlint.cli.session import Session
from torchlint.config import Finder
from torchlint.config.options import Options
from torchlint.config.selectors import codes_meant
from torchlint.diagnostics.model import Applicability, Settings, Trouble
from torchlint.diagnostics.registry import RULES
from torchlint.discovery.walk import Discovery, Notice, Target
from torchlint.linter.runner import RunMode
from torchlint.linter.runner import run as run_files
from torchlint.output import verification as output
from torchlint.output.report import LocatedFinding
from torchlint.output.verification import Ruled, Tried
from torchlint.source.text import Source
from torchlint.verify.kept import kept_in
from torchlint.verify.run import Court
from torchlint.verify.verdicts import REFUTED, Verdict

ALL_HELD, SOME_REFUTED, FAILED = 0, 1, 2


def run(flags: Options, session: Session) -> int:
    """Run what is asked for and return the exit status.

    :raises UsageError: where torch, a device or what it takes to run fragments is not there.
    :raises ConfigError: where the configuration of the run cannot be used.
    """
    codes = frozenset[str]().union(*(codes_meant(each) for each in flags.codes)) if flags.codes else None
    judge = _fixes if flags.paths else _rules
    return judge(flags, codes, session)


# ---------------------------------------------------------------------- the rules' own examples
def _rules(flags: Options, codes: frozenset[str] | None, session: Session) -> int:
    bench = find_bench(flags.device)
    from torchlint.verify import examples

    entries = [each for each in RULES if each.words and (codes is None or each.code in codes)]
    wanted = [each.code for each in entries]
    with progress(sum(map(examples.count, wanted)), session.stderr, not flags.quiet, "Verifying", "examples") as shown:
        verdicts = examples.verdicts(wanted, bench.devices, flags.time_limit, session.jobs, shown.advance)
        found = dict(verdicts)
    ruled = [Ruled(each.code, each.name, examples.count(each.code), found[at]) for at, each in enumerate(entries)]
    if flags.verdict_format == "json":
        print(output.json_of_rules(ruled, bench), file=session.stdout)
    else:
        for line in output.rules(ruled, bench, session.screen, flags.quiet, flags.verbose):
            print(line, file=session.stdout)
    return SOME_REFUTED if any(each.verdict.outcome == REFUTED for each in ruled) else ALL_HELD


# ---------------------------------------------------------------------- the fixes in a user's code
def _fixes(flags: Options, codes: frozenset[str] | None, session: Session) -> int:
    select = None if codes is None else tuple(sorted(codes))
    finder = Finder(replace(flags, select=select, unsafe_fixes=True), session.cwd)
    config = finder.of_folder(session.cwd)
    kept = kept_in(cache_folder(flags, config, session.cwd), session.clock)
    bench = find_bench(flags.device, kept)
    discovery = Discovery.of_run(finder, config, session.cwd)
    troubles: list[Trouble] = []
    proposed = list(_proposed(flags.paths, discovery, session, troubles))
    court = Court(bench.devices, flags.time_limit, session.jobs, flags.exhaustive, kept)
    found: dict[int, Verdict] = {}
    asked = ((source, place.finding, settings) for place, source, settings in proposed)
    with progress(len(proposed), session.stderr, not flags.quiet, "Verifying", "fixes") as shown:
        for number, verdict in court.verdicts(asked):
            found[number] = verdict
            shown.advance(1)
    if kept:
        kept.trim()
    tried = [Tried(place, found[at]) for at, (place, _, _) in enumerate(proposed)]
    if flags.verdict_format == "json":
        print(output.json_of_fixes(tried, bench), file=session.stdout)
    else:
        for line in output.text(tried, session.screen, flags.quiet, flags.verbose):
            print(line, file=session.stdout)
    for trouble in troubles:
        session.say("error", f"{trouble.path}: {trouble.message}")
    if troubles:
        return FAILED
    return SOME_REFUTED if any(each.verdict.outcome == REFUTED for each in tried) else ALL_HELD


def _proposed(
    paths: Sequence[str], discovery: Discovery, session: Session, troubles: list[Trouble]
) -> Iterator[tuple[LocatedFinding, Source, Settings]]:
    if "-" in paths:
        raise UsageError("`verify` reads files, not standard input")
    targets = []
    for each in discovery.find(paths):
        if isinstance(each, Target):
            targets.append(each)
        elif isinstance(each, Notice):
            session.say("warning", f"{each.path}: {each.message}")
        else:
            troubles.append(each)
    for target, outcome in zip(targets, run_files(targets, RunMode.CHECK, session.jobs), strict=True):
        result = outcome.result
        troubles += result.troubles
        for finding in result.findings:
            if finding.fix and finding.fix.applicability >= Applicability.UNSAFE and result.source is not None:
                yield LocatedFinding(result.path, result.source, finding), result.source, target.config.settings
