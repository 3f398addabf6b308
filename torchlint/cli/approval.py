"""Fixes are run here before and after, and only then believed: what `verify` and `--fix --verify` share."""

from __future__ import annotations

import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config.selectors import nearest
from torchlint.diagnostics.model import Finding, Settings
from torchlint.output.report import LocatedFinding
from torchlint.output.verification import Bench, Tried
from torchlint.source.text import Source
from torchlint.verify.verdicts import PROVEN, REFUTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.verify.kept import KeptVerdicts

_REMEDY = "pip install torchlint[verify]"


def find_bench(device: str | None, kept: KeptVerdicts | None = None) -> Bench:
    """Return what fixes are run with: the torch and the devices that are here, or the one that is asked for.

    Torch is not imported where an earlier run knows both.

    :raises UsageError: where torch, the device or what it takes to run fragments is not there.
    """
    # `python -m torchlint` looks in the current folder first: torch would run a `queue.py` there in place of its own.
    sys.path[:] = [each for each in sys.path if each not in ("", os.getcwd())]
    torch, here = (kept and kept.bench()) or _found(kept)
    if device is not None and device not in here:
        raise UsageError(f"--device {device}: not on this machine, which has {', '.join(here)}{nearest(device, here)}")
    return Bench(torch, (device,) if device else here)


def _found(kept: KeptVerdicts | None) -> tuple[str, tuple[str, ...]]:
    """Import torch and look for its devices."""
    for package in ("numpy", "torch"):
        try:
            imported = importlib.import_module(package)
        except Exception as error:  # noqa: BLE001 - a broken installation may fail in any way
            cause = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be imported ({error})"
            raise UsageError(f"running fixes needs {package}, which {cause}: {_REMEDY}") from None
    from torchlint.verify import sandbox
    from torchlint.verify.worlds import devices

    if not sandbox.possible():
        raise UsageError("running fixes needs a system on which processes fork: Linux, macOS or WSL")
    found = str(imported.__version__), devices()
    if kept:
        kept.put_bench(*found)
    return found


class Approval:
    """Lets a fix through that does here what its user was told, and remembers the others.

    :raises UsageError: as :func:`find_bench`.
    """

    def __init__(self, session: Session, kept: KeptVerdicts | None, seconds: float = 30.0) -> None:
        bench = find_bench(None, kept)
        from torchlint.verify.run import Court

        self._court = Court(bench.devices, seconds, session.jobs, kept=kept)
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
