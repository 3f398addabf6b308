"""Fixes are run here before and after, and only then believed: what `verify` and `--fix --verify` share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config.selectors import nearest
from torchlint.diagnostics.model import Finding, Settings
from torchlint.output.report import LocatedFinding
from torchlint.output.verification import Bench, Tried
from torchlint.source.text import Source
from torchlint.verify import run
from torchlint.verify.kept import KeptVerdicts
from torchlint.verify.verdicts import PROVEN, REFUTED


def find_bench(device: str | None, kept: KeptVerdicts | None = None) -> Bench:
    """Return what fixes are run with: the torch and the devices that are here, or the one that is asked for.

    :raises UsageError: where torch, the device or what it takes to run fragments is not there.
    """
    try:
        torch, here = run.find_bench(kept)
    except run.NoBenchError as error:
        raise UsageError(str(error)) from None
    if device is not None and device not in here:
        raise UsageError(f"--device {device}: not on this machine, which has {', '.join(here)}{nearest(device, here)}")
    return Bench(torch, (device,) if device else here)


class Approval:
    """Lets a fix through that does here what its user was told, and remembers the others.

    :raises UsageError: as :func:`find_bench`.
    """

    def __init__(self, session: Session, kept: KeptVerdicts | None, seconds: float = 30.0) -> None:
        bench = find_bench(None, kept)
        self._court = run.Court(bench.devices, seconds, session.jobs, kept=kept)
        self._kept_back: dict[str, list[Tried]] = {}
        self._differing: list[Tried] = []

    def approve(self, source: Source, findings: Sequence[Finding], settings: Settings) -> Sequence[Finding]:
        """Return those whose fix may be applied; what is kept back in a file's last round is what is reported."""
        asked = [(source, finding, settings) for finding in findings]
        found = dict(self._court.verdicts(asked))
        tried = [Tried(LocatedFinding(source.path, source, finding), found[at]) for at, finding in enumerate(findings)]
        self._kept_back[source.path] = [each for each in tried if not each.verdict.is_accepted]
        self._differing += [each for each in tried if each.verdict.is_accepted and each.verdict.outcome != PROVEN]
        return [finding for at, finding in enumerate(findings) if found[at].is_accepted]

    def told(self) -> Iterator[str]:
        """Yield a line for each fix that was let through and is no proof of equality."""
        for each in sorted(self._differing, key=lambda each: each.where):
            what = "; ".join(effect for _, effect in each.verdict.announced) or each.verdict.reason
            yield f"{each.where}: fix of {each.place.finding.code} let through, {each.verdict.outcome}: {what}"

    def report(self, verbose: bool) -> Iterator[str]:
        """Yield a line for each fix that was refuted, and for those not testable a line with their reasons."""
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
