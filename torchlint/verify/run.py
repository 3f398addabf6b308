"""Giving verdicts on fixes: their fragments are run in walled processes, equal ones once."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from torchlint.diagnostics.assumptions import merged
from torchlint.diagnostics.model import Applicability, Finding, Settings
from torchlint.source.text import Source
from torchlint.verify import sandbox
from torchlint.verify.fragment import Fragment, Uncut, fragments
from torchlint.verify.kept import KeptVerdicts
from torchlint.verify.verdicts import ROW, Verdict, unable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.verify.trial import Trial

_REMEDY = "pip install numpy torch"
Fix = tuple[Source, Finding, Settings]


class NoBenchError(Exception):
    """Fixes cannot be run here; the text says why."""


def find_bench(kept: KeptVerdicts | None) -> tuple[str, tuple[str, ...]]:
    """Return the version of torch and the devices that are here; torch is not imported where an earlier run knows both.

    :raises NoBenchError: where torch is not there, or what it takes to run fragments.
    """
    # `python -m torchlint` looks in the current folder first: torch would run a `queue.py` there in place of its own.
    sys.path[:] = [each for each in sys.path if each not in ("", os.getcwd())]
    if not sandbox.possible():
        raise NoBenchError("running fixes needs a system on which processes fork: Linux, macOS or WSL")
    if kept and (known := kept.bench()):
        return known
    for package in ("numpy", "torch"):
        try:
            imported = importlib.import_module(package)
        except Exception as error:  # noqa: BLE001 - a broken installation may fail in any way
            cause = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be imported ({error})"
            raise NoBenchError(f"running fixes needs {package}, which {cause}: {_REMEDY}") from None
    from torchlint.verify.worlds import devices

    found = str(imported.__version__), devices()
    if kept:
        kept.put_bench(*found)
    return found


class Court:
    """Gives verdicts on fixes, and remembers those on fragments that it has run; torch is imported for the first."""

    def __init__(
        self,
        devices: Sequence[str],
        seconds: float,
        jobs: int = 1,
        exhaustive: bool = False,
        kept: KeptVerdicts | None = None,
    ) -> None:
        self.devices = tuple(devices)
        self.seconds = seconds
        self.jobs = jobs
        self.exhaustive = exhaustive
        self._kept = kept
        self._known: dict[str, Verdict] = {}
        self._is_open = False

    def verdicts(self, fixes: Iterable[Fix]) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdict on each fix, with its number, as they come."""
        keys: dict[int, str] = {}
        cut: dict[int, tuple[Fragment, ...]] = {}
        twins: dict[str, list[int]] = {}
        ready: list[tuple[int, Verdict]] = []

        def works() -> Iterator[tuple[int, Trial]]:
            for number, (source, finding, settings) in enumerate(fixes):
                made = fragments(source, finding, settings)
                if isinstance(made, Uncut):
                    ready.append((number, unable(made.reason)))
                    continue
                cut[number] = made
                key = self._key(finding, made)
                if verdict := self._recall(key):
                    ready.append((number, _at_home(verdict, made)))
                elif key in twins:
                    twins[key].append(number)
                else:
                    keys[number], twins[key] = key, []
                    yield number, self._trial(finding, made)

        for number, came in sandbox.each(works(), self.seconds, self.jobs, self._wake):
            yield from ready
            ready.clear()
            verdict = self._remember(keys[number], came)
            yield from ((each, _at_home(verdict, cut[each])) for each in [number, *twins.pop(keys[number])])
        yield from ready

    def _key(self, finding: Finding, made: tuple[Fragment, ...]) -> str:
        """Return what makes two runs the same."""
        assert finding.fix is not None
        taken = [(each.name, each.claim) for each in merged(finding.fix.assumptions) if not each.is_proven]
        code = [each.key for each in made]
        return repr((finding.fix.applicability.name, taken, code, self.devices, self.exhaustive))

    def _recall(self, key: str) -> Verdict | None:
        return self._known.get(key) or (self._kept.get(key) if self._kept else None)

    def _remember(self, key: str, came: Verdict | sandbox.Stopped) -> Verdict:
        if isinstance(came, sandbox.Stopped):  # another time it may come to an end
            came = unable(came.reason)
        elif self._kept:
            self._kept.put(key, came)
        self._known[key] = came
        return came

    def _trial(self, finding: Finding, made: tuple[Fragment, ...]) -> Trial:
        from torchlint.verify.trial import Trial  # here: torch takes longer than all the rest where verdicts are kept

        if not self._is_open:
            import torch

            from torchlint.verify.observe import warm

            torch.set_num_threads(1)  # a process that forks must have no others, and a fragment is small
            warm(self.devices)
            self._is_open = True
        assert finding.fix is not None
        safe = finding.fix.applicability is Applicability.SAFE
        return Trial(made, safe, merged(finding.fix.assumptions), self.devices, self.exhaustive)

    def _wake(self) -> None:
        from torchlint.verify import accelerators

        accelerators.wake(self.devices)


def _at_home(verdict: Verdict, made: tuple[Fragment, ...]) -> Verdict:
    """Return a verdict the row of the very code that it is on: equal fragments of several places share one."""
    row = next((each.exposed for each in made if each.before == verdict.before), None)
    return replace(verdict, reason=verdict.reason.replace(ROW, f"row {row}"))
