"""Running the fragments of a fix in every world, in a walled process, and giving a verdict on the fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch

from torchlint.diagnostics.model import Applicability, Finding, Settings
from torchlint.source.text import Source
from torchlint.verify import sandbox
from torchlint.verify.binding import Bound, Choice, assumed, probing, ways, worlds
from torchlint.verify.compare import Judgement, judge
from torchlint.verify.fragment import Fragment, Uncut, fragments
from torchlint.verify.observe import observe, warm
from torchlint.verify.readable import in_a_line, readable
from torchlint.verify.verdicts import NOT_TESTABLE, PROVEN, REFUTED, Difference, Verdict, told_together, unable
from torchlint.verify.worlds import wake

_SHOWN = 5
_ROW = "row \0"
"""Stands in a reason for a row."""
"""Differences that a verdict holds."""


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

        def works() -> Iterator[tuple[int, _Work]]:
            for number, (source, finding, settings) in enumerate(fixes):
                made = fragments(source, finding, settings)
                if isinstance(made, Uncut):
                    ready.append((number, unable(made.reason)))
                    continue
                assert finding.fix is not None
                safe = finding.fix.applicability is Applicability.SAFE
                key = (safe, *(each.key for each in made))
                cut[number] = made
                if key in self._known:
                    ready.append((number, _at_home(self._known[key], made)))
                elif key in twins:
                    twins[key].append(number)
                else:
                    keys[number], twins[key] = key, []
                    yield number, _Work(made, safe, self.devices)

        for number, came in sandbox.each(works(), self.seconds, self.jobs, partial(wake, self.devices)):
            yield from ready
            ready.clear()
            verdict = unable(came.reason) if isinstance(came, sandbox.Stopped) else came
            self._known[keys[number]] = verdict
            yield from ((each, _at_home(verdict, cut[each])) for each in [number, *twins.pop(keys[number])])
        yield from ready


def _at_home(verdict: Verdict, made: tuple[Fragment, ...]) -> Verdict:
    """Return a verdict the row of the very code that it is on: equal fragments of several places share one."""
    row = next((each.exposed for each in made if each.before == verdict.before), None)
    return replace(verdict, reason=verdict.reason.replace(_ROW, f"row {row}"))


class _Work:
    """One fix to be tried: what a walled process is given."""

    def __init__(self, made: tuple[Fragment, ...], safe: bool, devices: tuple[str, ...]) -> None:
        self.made, self.safe, self.devices = made, safe, devices

    def __call__(self) -> Verdict:
        return tried(self.made, self.safe, self.devices)


def tried(made: tuple[Fragment, ...], safe: bool, devices: tuple[str, ...]) -> Verdict:
    """Run the first of the fragments that runs at all, in every world."""
    errors: Counter[str] = Counter()
    for fragment in made:
        verdict = _tried(fragment, safe, devices, Counter() if errors else errors)
        if verdict is not None:
            return verdict
    cause = errors.most_common(1)[0][0] if errors else "no values for its names"
    best = made[0]
    return replace(_told(unable(f"the old code ran in no world: {in_a_line(cause)}"), best, []))


def _tried(fragment: Fragment, safe: bool, devices: tuple[str, ...], errors: Counter[str]) -> Verdict | None:
    found = ways(fragment.holes, lambda way: _runs(fragment, way, devices, Counter() if errors else errors))
    if not found:
        return None
    total = Judgement(0, 0, ())
    differences: list[Difference] = []
    for way in found:
        for device in devices:
            judged = _judged(fragment, way, device)
            differences += _differences(judged, fragment, way, len(found) > 1)
            passed_over = told_together([total.passed_over, judged.passed_over])
            total = Judgement(total.worlds + judged.worlds, total.ran + judged.ran, (), passed_over=passed_over)
    differing = len({each.world + each.given for each in differences})
    known = "for the part of the statement that could be run" if fragment.narrow else ""
    if new := [f"`{each.code}`" for each in fragment.holes if each.new]:
        known = "; ".join([*filter(None, [known]), f"no graph holds {', '.join(new)} yet, as the rule found"])
    verdict = Verdict(PROVEN, known, total.worlds, total.ran, differing, _telling(differences))
    verdict = replace(verdict, passed_over=total.passed_over)
    if differences and fragment.narrow:
        verdict = replace(verdict, outcome=NOT_TESTABLE, reason="only a part of it could be run, and that part differs")
    elif differences:
        verdict = replace(verdict, outcome=REFUTED, reason="")
    elif not safe and fragment.exposed is not None and _writes_are_counted(fragment, found, devices):
        reason = f"code that is not run may write what it makes ({_ROW}), and autograd would notice now"
        verdict = replace(verdict, outcome=NOT_TESTABLE, reason=reason)
    return _told(verdict, fragment, found)


def _telling(differences: list[Difference]) -> tuple[Difference, ...]:
    """Return the first difference in each observable: the same one in other worlds says little more."""
    first = {each.observable: each for each in reversed(differences)}
    return tuple([each for each in differences if first[each.observable] is each][:_SHOWN])


def _bound(fragment: Fragment, text: str, way: tuple[Choice, ...]) -> Bound:
    return Bound(text, fragment.holes, way)


def _runs(fragment: Fragment, way: tuple[Choice, ...], devices: tuple[str, ...], errors: Counter[str]) -> bool:
    snippet = _bound(fragment, fragment.before, way)
    for device in devices:
        for world in probing(worlds(device, fragment.holes, way, fragment.grad_is_off)):
            seen = observe(snippet, world)
            if seen.error is None:
                return True
            errors[seen.error] += 1
    return False


def _judged(fragment: Fragment, way: tuple[Choice, ...], device: str) -> Judgement:
    one, other = (_bound(fragment, text, way) for text in (fragment.before, fragment.after))
    judged = judge(one, other, worlds(device, fragment.holes, way, fragment.grad_is_off))
    made = [each.name for each in fragment.holes if each.new]
    unseen = {f"input {name}{part}: writes counted" for name in made for part in ("", ".whole")}
    return replace(judged, refutations=tuple(each for each in judged.refutations if each.observable not in unseen))


def _writes_are_counted(fragment: Fragment, found: list[tuple[Choice, ...]], devices: tuple[str, ...]) -> bool:
    """Whether a later write to what the fix makes would be seen by autograd, and was not before."""
    if fragment.written is None:
        return False
    for way in found:
        one, other = (_bound(fragment, text, way) for text in fragment.written)
        for device in devices:
            if judge(one, other, probing(worlds(device, fragment.holes, way, fragment.grad_is_off))).refutations:
                return True
    return False


def _differences(judged: Judgement, fragment: Fragment, way: tuple[Choice, ...], several: bool) -> Iterator[Difference]:
    given = ", ".join(f"{hole.name} = {choice}" for hole, choice in zip(fragment.holes, way, strict=True))
    for world, found in judged.by_world:
        for told in readable([(each.observable, each.before, each.after) for each in found]):
            yield Difference(str(world), *told, given if several else "")


def _told(verdict: Verdict, fragment: Fragment, found: list[tuple[Choice, ...]]) -> Verdict:
    given = tuple(
        (hole.name, hole.code, " or ".join(dict.fromkeys(str(way[at]) for way in found)), assumed(hole))
        for at, hole in enumerate(fragment.holes)
    )
    return replace(verdict, before=fragment.before, after=fragment.after, given=given)
