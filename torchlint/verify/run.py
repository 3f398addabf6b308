"""Giving verdicts on fixes: their fragments are run in walled processes, equal ones once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch

from torchlint.diagnostics.assumptions import merged
from torchlint.diagnostics.model import Applicability, Finding, Settings
from torchlint.source.text import Source
from torchlint.verify import accelerators, sandbox
from torchlint.verify.fragment import Fragment, Uncut, fragments
from torchlint.verify.observe import warm
from torchlint.verify.trial import ROW, Trial
from torchlint.verify.verdicts import Verdict, unable


class Court:
    """Gives verdicts on fixes, and remembers those on fragments that it has run."""

    def __init__(self, devices: Sequence[str], seconds: float, jobs: int = 1) -> None:
        torch.set_num_threads(1)  # a process that forks must have no others, and a fragment is small
        self.devices = tuple(devices)
        self.seconds = seconds
        self.jobs = jobs
        self._known: dict[object, Verdict] = {}
        warm(self.devices)

    def verdicts(self, fixes: Iterable[tuple[Source, Finding, Settings]]) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdict on each fix, with its number, as they come."""
        keys: dict[int, object] = {}
        cut: dict[int, tuple[Fragment, ...]] = {}
        twins: dict[object, list[int]] = {}
        ready: list[tuple[int, Verdict]] = []

        def works() -> Iterator[tuple[int, Trial]]:
            for number, (source, finding, settings) in enumerate(fixes):
                made = fragments(source, finding, settings)
                if isinstance(made, Uncut):
                    ready.append((number, unable(made.reason)))
                    continue
                assert finding.fix is not None
                safe = finding.fix.applicability is Applicability.SAFE
                trial = Trial(made, safe, merged(finding.fix.assumptions), self.devices)
                key = trial.key
                cut[number] = made
                if key in self._known:
                    ready.append((number, _at_home(self._known[key], made)))
                elif key in twins:
                    twins[key].append(number)
                else:
                    keys[number], twins[key] = key, []
                    yield number, trial

        for number, came in sandbox.each(works(), self.seconds, self.jobs, partial(accelerators.wake, self.devices)):
            yield from ready
            ready.clear()
            verdict = unable(came.reason) if isinstance(came, sandbox.Stopped) else came
            self._known[keys[number]] = verdict
            yield from ((each, _at_home(verdict, cut[each])) for each in [number, *twins.pop(keys[number])])
        yield from ready


def _at_home(verdict: Verdict, made: tuple[Fragment, ...]) -> Verdict:
    """Return a verdict the row of the very code that it is on: equal fragments of several places share one."""
    row = next((each.exposed for each in made if each.before == verdict.before), None)
    return replace(verdict, reason=verdict.reason.replace(ROW, f"row {row}"))
