"""The `verify` command and `--fix --verify`: fixes are run before and after, here, and only then believed."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchlint.config import Finder
from torchlint.discover import Discovery, Notice, Target
from torchlint.flags import UsageError
from torchlint.model import Applicability, Finding, Settings, Trouble
from torchlint.options import Options
from torchlint.output import verdicts as output
from torchlint.output.report import Place
from torchlint.output.verdicts import Bench, Ruled, Tried
from torchlint.progress import progress
from torchlint.proof.verdicts import REFUTED, Verdict
from torchlint.registry import RULES
from torchlint.runner import Mode, run
from torchlint.selectors import codes_meant, nearest
from torchlint.source import Source

if TYPE_CHECKING:
    from torchlint.checking import Session

ALL_HELD, SOME_REFUTED, FAILED = 0, 1, 2
_A_BAR_FROM = 3
"""Fixes, or examples of rules, from which on a progress bar is worth its line: each takes about a second."""


def verify(flags: argparse.Namespace, session: Session) -> int:
    """Run what is asked for and give the exit status.

    :raises UsageError: where torch, a device or what it takes to run fragments is not there.
    :raises ConfigError: where the configuration of the run cannot be used.
    """
    if flags.isolated and flags.config:
        raise UsageError("--isolated and --config cannot be used together")
    codes = frozenset[str]().union(*(codes_meant(each) for each in flags.codes)) if flags.codes else None
    bench = _bench(flags.device)
    if flags.paths:
        return _fixes(flags, codes, bench, session)
    return _rules(flags, codes, bench, session)


def _bench(device: str | None) -> Bench:
    # `python -m torchlint` looks in the current folder first: torch would run a `queue.py` there in place of its own.
    sys.path[:] = [each for each in sys.path if each not in ("", os.getcwd())]
    # Otherwise asking whether CUDA is there would start it, and a process that forked could not use it any more.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    for package in ("numpy", "torch"):
        try:
            imported = importlib.import_module(package)
        except Exception as error:  # noqa: BLE001 - a broken installation may fail in any way
            cause = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be imported ({error})"
            raise UsageError(f"running fixes needs {package}, which {cause}: {_REMEDY}") from None
    from torchlint.proof import confine
    from torchlint.proof.examples import at_hand

    if not confine.possible():
        raise UsageError("running fixes needs a system on which processes fork: Linux, macOS or WSL")
    here = at_hand()
    if device is not None and device not in here:
        raise UsageError(f"--device {device}: not on this machine, which has {', '.join(here)}{nearest(device, here)}")
    return Bench(str(imported.__version__), (device,) if device else here)


_REMEDY = "pip install torchlint[verify]"


# ---------------------------------------------------------------------- the rules' own examples
def _rules(flags: argparse.Namespace, codes: frozenset[str] | None, bench: Bench, session: Session) -> int:
    from torchlint.proof import examples

    entries = [each for each in RULES if each.words and (codes is None or each.code in codes)]
    wanted = [each.code for each in entries]
    with progress(sum(map(examples.count, wanted)), session.stderr, not flags.quiet, "Verifying", _A_BAR_FROM) as done:
        found = dict(examples.verdicts(wanted, bench.devices, flags.time_limit, session.jobs, done))
    ruled = [Ruled(each.code, each.name, examples.count(each.code), found[at]) for at, each in enumerate(entries)]
    if flags.output_format == "json":
        print(output.json_of_rules(ruled, bench), file=session.stdout)
    else:
        for line in output.rules(ruled, bench, session.screen, flags.quiet):
            print(line, file=session.stdout)
    return SOME_REFUTED if any(each.verdict.outcome == REFUTED for each in ruled) else ALL_HELD


# ---------------------------------------------------------------------- the fixes in a user's code
def _fixes(flags: argparse.Namespace, codes: frozenset[str] | None, bench: Bench, session: Session) -> int:
    select = None if codes is None else tuple(sorted(codes))
    finder = Finder(Options(select=select, unsafe_fixes=True), session.cwd, flags.config, flags.isolated)
    config = finder.of_folder(session.cwd)
    discovery = Discovery.of_run(finder, config, session.cwd)
    troubles: list[Trouble] = []
    proposed = list(_proposed(flags.paths, discovery, session, troubles))
    from torchlint.proof.trial import Court

    court = Court(bench.devices, flags.time_limit, session.jobs)
    found: dict[int, Verdict] = {}
    asked = ((source, place.finding, settings) for place, source, settings in proposed)
    with progress(len(proposed), session.stderr, not flags.quiet, "Verifying", _A_BAR_FROM) as done:
        for number, verdict in court.verdicts(asked):
            found[number] = verdict
            done(1)
    tried = [Tried(place, found[at]) for at, (place, _, _) in enumerate(proposed)]
    if flags.output_format == "json":
        print(output.json_of_fixes(tried, bench), file=session.stdout)
    else:
        for line in output.text(tried, session.screen, flags.quiet):
            print(line, file=session.stdout)
    for trouble in troubles:
        session.say("error", f"{trouble.path}: {trouble.message}")
    if troubles:
        return FAILED
    return SOME_REFUTED if any(each.verdict.outcome == REFUTED for each in tried) else ALL_HELD


def _proposed(
    paths: Sequence[str], discovery: Discovery, session: Session, troubles: list[Trouble]
) -> Iterator[tuple[Place, Source, Settings]]:
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
    for target, outcome in zip(targets, run(targets, Mode.CHECK, session.jobs), strict=True):
        result = outcome.result
        troubles += result.troubles
        for finding in result.findings:
            if finding.fix and finding.fix.applicability >= Applicability.UNSAFE and result.source is not None:
                yield Place(result.path, result.source, finding), result.source, target.config.settings


# ---------------------------------------------------------------------- fixes that are about to be applied
class Screening:
    """Lets a fix through only where it is proven here, and remembers what it kept back.

    :raises UsageError: as :func:`verify`.
    """

    def __init__(self, session: Session, seconds: float = 30.0) -> None:
        bench = _bench(None)
        from torchlint.proof.trial import Court

        self._court = Court(bench.devices, seconds, session.jobs)
        self._kept_back: dict[str, list[Tried]] = {}

    def approve(self, source: Source, findings: Sequence[Finding], settings: Settings) -> Sequence[Finding]:
        """Give those whose fix may be applied; what is kept back in a file's last round is what is reported."""
        asked = [(source, finding, settings) for finding in findings]
        found = dict(self._court.verdicts(asked))
        self._kept_back[source.path] = [
            Tried(Place(source.path, source, finding), found[at])
            for at, finding in enumerate(findings)
            if not found[at].proven
        ]
        return [finding for at, finding in enumerate(findings) if found[at].proven]

    def report(self, verbose: bool) -> Iterator[str]:
        """Give a line for each fix that was refuted, and for those not testable a line with their reasons."""
        kept = [each for path in sorted(self._kept_back) for each in self._kept_back[path]]
        for each in kept:
            if each.verdict.outcome == REFUTED:
                shown = str(each.verdict.differences[0])
                yield f"{each.where}: fix of {each.place.finding.code} not applied, refuted in {shown}"
        others = [each for each in kept if each.verdict.outcome != REFUTED]
        if verbose:
            for each in others:
                yield f"{each.where}: fix of {each.place.finding.code} not applied, not testable: {each.verdict.reason}"
        elif others:
            reasons = Counter(each.verdict.reason for each in others).most_common()
            listed = "; ".join(f"{reason} ({count})" if count > 1 else reason for reason, count in reasons)
            fixes = f"{len(others)} fix{'es' * (len(others) != 1)}"
            yield f"{fixes} not applied, not testable (--verbose names the places): {listed}"
