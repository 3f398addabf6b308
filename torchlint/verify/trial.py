"""Running the fragments of one fix in every world, and the verdict that follows from what was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, product
from operator import itemgetter

from torchlint.diagnostics.assumptions import Assumption, Decision
from torchlint.verify.announced import ANNOUNCED, USUAL, ChangedDefault, announcing, settings
from torchlint.verify.binding import Bound, Choice, assumed, probing, ways, worlds
from torchlint.verify.compare import Run, pairwise, running, runs
from torchlint.verify.fragment import Fragment
from torchlint.verify.observe import observe
from torchlint.verify.readable import Seen, in_a_line, readable
from torchlint.verify.verdicts import (
    DIFFERS_AS_ANNOUNCED,
    NOT_TESTABLE,
    PROVEN,
    REFUTED,
    REPAIRED,
    ROW,
    Difference,
    Verdict,
    repairing,
    told_together,
    unable,
)
from torchlint.verify.worlds import Pairs, World

_SHOWN = 5
"""Differences that a verdict holds."""
Way = tuple[Choice, ...]
Stage = tuple[Way, ChangedDefault, Bound, Bound, tuple[World, ...]]


@dataclass
class _Tally:
    """What was seen of a fragment so far."""

    available: int = 0
    """Worlds that there are, tried or not."""
    worlds: int = 0
    ran: int = 0
    broken: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    announced: Counter[Assumption | None] = field(default_factory=Counter)
    """By the assumption that announces it, in how many worlds something differed; None where none does."""

    faults: list[tuple[Bound, World]] = field(default_factory=list)
    """The new texts, each with a world in which the old one raised."""

    agreeing: list[tuple[Way, World]] = field(default_factory=list)
    """Worlds in which the old code ran and nothing differed, each with what the names stood for."""

    def add(self, run: Run, new: Bound) -> None:
        self.worlds += 1
        self.faults += [(new, run.world)] if run.is_fault else []
        self.ran += not run.hindrance
        self.broken += run.broken
        self.passed_over.update([run.hindrance] if run.hindrance else [])

    def mended(self) -> Iterator[bool]:
        """Yield for each world in which the old code raised whether the new one runs."""
        for new, found in groupby(self.faults, key=itemgetter(0)):
            yield from running(new, [world for _, world in found])

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """The worlds in which something differed, each with what the names stood for."""
        return frozenset((each.world, each.given) for each in self.differences)

    @property
    def is_announced(self) -> bool:
        """Whether all that differed is announced, and the new code runs somewhere."""
        return None not in self.announced and (not self.broken or self.broken < self.ran)

    def shown(self) -> tuple[Difference, ...]:
        """Return the first difference in each observable, those first that nothing announces.

        The same one in other worlds says little more.
        """
        ordered = sorted(self.differences, key=lambda each: each.announced_by != "")
        first = {each.observable: each for each in reversed(ordered)}
        return tuple([each for each in ordered if first[each.observable] is each][:_SHOWN])


class Trial:
    """One fix to be tried: what a walled process is given."""

    def __init__(
        self,
        made: tuple[Fragment, ...],
        safe: bool,
        decisions: tuple[Decision, ...],
        devices: tuple[str, ...],
        exhaustive: bool = False,
    ) -> None:
        self.made, self.safe, self.devices, self.exhaustive = made, safe, devices, exhaustive
        self.open = tuple(each for each in decisions if not each.is_proven)

    def __call__(self) -> Verdict:
        """Run the first of the fragments that runs at all, in every world."""
        errors: Counter[str] = Counter()
        for fragment in self.made:
            heard = Counter[str]() if errors else errors
            found = self._ways(fragment, fragment.before, heard)
            if found:
                return self._verdict(fragment, found)
        for fragment in self.made:  # what always raised may be what the fix is for
            found = self._ways(fragment, fragment.after, Counter())
            verdict = self._verdict(fragment, found) if found else None
            if verdict and (verdict.ran or verdict.repaired):
                return verdict
        return self._unable(errors)

    def _unable(self, errors: Counter[str]) -> Verdict:
        cause = errors.most_common(1)[0][0] if errors else "no values for its names"
        return _told(unable(f"the old code raises in every world: {in_a_line(cause)}"), self.made[0], [])

    # ------------------------------------------------------------------ worlds
    def _ways(self, fragment: Fragment, text: str, errors: Counter[str]) -> list[Way]:
        """Return what the names of a fragment may stand for so that one of its texts runs."""
        return ways(fragment.holes, lambda way: self._runs(fragment, text, way, errors))

    def _runs(self, fragment: Fragment, text: str, way: Way, errors: Counter[str]) -> bool:
        snippet = Bound(text, fragment.holes, way)
        for device in self.devices:
            for world in probing(worlds(device, fragment.holes, way, fragment.grad_is_off)):
                seen = observe(snippet, world)
                if seen.error is None:
                    return True
                errors[seen.error] += 1
        return False

    def _stages(self, fragment: Fragment, found: list[Way]) -> Iterator[Stage]:
        """Yield both texts of a fragment with all worlds to run them in.

        And with some in which a default is another that the fix takes for unchanged.
        """
        for way in found:
            by_device = {each: worlds(each, fragment.holes, way, fragment.grad_is_off) for each in self.devices}
            yield self._stage(fragment, way, USUAL, tuple(chain.from_iterable(by_device.values())))
            for device, there in by_device.items():
                for setting in settings(self.open, device):
                    yield self._stage(fragment, way, setting, probing(there))

    def _stage(self, fragment: Fragment, way: Way, setting: ChangedDefault, there: tuple[World, ...]) -> Stage:
        texts = setting.text(fragment.before), setting.text(fragment.after)
        one, other = (Bound(each, fragment.holes, way) for each in texts)
        return way, setting, one, other, there

    def _seen(self, fragment: Fragment, found: list[Way]) -> _Tally:
        """Run a fragment in enough worlds and sort what differs."""
        stages, pairs = tuple(self._stages(fragment, found)), Pairs()
        tally = _Tally(available=sum(len(there) for *_, there in stages))
        for way, setting, one, other, there in stages:
            whole = self.exhaustive or setting is not USUAL
            for run in runs(one, other, there) if whole else pairwise(one, other, there, pairs, way):
                tally.add(run, other)
                self._sort(tally, run, fragment, way, setting, several=len(found) > 1)
                if None in tally.announced and not self.exhaustive:
                    return tally
        return tally

    def _written(self, fragment: Fragment, found: list[Way], seen: _Tally) -> _Tally:
        """Run a fragment with a write behind it to what it makes: autograd may see that, and may not have before.

        Nothing new would be said of worlds in which the fragment differs without it.
        """
        tally = _Tally()
        for way, device in product(found, self.devices) if fragment.written else ():
            there = tuple(world for its, world in seen.agreeing if its == way and world.device == device)
            one, other = (Bound(each, fragment.holes, way) for each in fragment.written or ())
            for run in runs(one, other, probing(there)):
                self._sort(tally, run, fragment, way, USUAL, several=len(found) > 1)
        return tally

    def _sort(
        self, tally: _Tally, run: Run, fragment: Fragment, way: Way, setting: ChangedDefault, several: bool
    ) -> None:
        """Put down what differed, and which assumption announces it."""
        listed = (f"{hole.name} = {choice}" for hole, choice in zip(fragment.holes, way, strict=True))
        given = ", ".join(listed) if several else ""
        where = f"{run.world}, {setting.said}" if setting.said else str(run.world)
        if not run.differences:
            tally.agreeing += [] if run.hindrance or setting is not USUAL else [(way, run.world)]
            return
        new = [each.name for each in fragment.holes if each.new]
        unseen = {f"input {name}{part}: writes counted" for name in new for part in ("", ".whole")}
        found: list[Seen] = [each for each in run.differences if each[0] not in unseen]
        kinds = {hole.code: str(choice) for hole, choice in zip(fragment.holes, way, strict=True)}
        by = announcing(found, self.open, run.world, kinds, setting)
        tally.announced.update(set(by))
        for told in readable(found):
            tally.differences.append(Difference(where, *told, given, _by(told[0], found, by)))

    # ------------------------------------------------------------------ what follows
    @staticmethod
    def _holds_elsewhere(seen: _Tally) -> bool:
        """Whether the new code was seen to work where the assumptions hold whose failing excuses what differed."""
        return all(
            count < seen.ran or each is None or not ANNOUNCED[each].is_confined or any(seen.mended())
            for each, count in seen.announced.items()
        )

    def _verdict(self, fragment: Fragment, found: list[Way]) -> Verdict:
        seen = self._seen(fragment, found)
        known = ["for the part of the statement that could be run"] if fragment.narrow else []
        if new := [f"`{each.code}`" for each in fragment.holes if each.new]:
            known.append(f"no graph holds {', '.join(new)} yet, as the rule found")
        verdict = Verdict(
            PROVEN,
            "; ".join(known),
            seen.worlds,
            seen.ran,
            len(seen.places),
            seen.shown(),
            passed_over=told_together([tuple(seen.passed_over.items())]),
            available=seen.available,
        )
        if not seen.ran:
            repaired = sum(seen.mended())
            reason = "; ".join([repairing(len(seen.faults), repaired), *known])
            return _told(replace(verdict, outcome=REPAIRED, reason=reason, repaired=repaired), fragment, found)
        if seen.differences and not (seen.is_announced and self._holds_elsewhere(seen)):
            verdict = replace(verdict, outcome=REFUTED, reason="")
            if fragment.narrow:
                reason = "only a part of it could be run, and that part differs"
                verdict = replace(verdict, outcome=NOT_TESTABLE, reason=reason)
            return _told(verdict, fragment, found)
        effects = [each for each in seen.announced if each]
        if not self.safe and fragment.exposed is not None:
            written = self._written(fragment, found, seen)
            later = [each for each in written.announced if each and each not in effects]
            if None in written.announced:
                reason = f"code that is not run may write what it makes ({ROW}), and autograd would notice now"
                return _told(replace(verdict, outcome=NOT_TESTABLE, reason=reason), fragment, found)
            if later:
                known.append(f"code that is not run may write it, {ROW}")
                verdict = replace(verdict, differences=(*verdict.differences, *written.shown())[:_SHOWN])
            effects += later
        if effects:
            told = tuple((each.name, ANNOUNCED[each].effect) for each in effects)
            verdict = replace(verdict, outcome=DIFFERS_AS_ANNOUNCED, reason="; ".join(known), announced=told)
        return _told(verdict, fragment, found)


def _by(observable: str, found: Sequence[Seen], by: Sequence[Assumption | None]) -> str:
    """Return the name of the assumption that announces a difference as it is told: of all that it stands for."""
    of = [each for (what, *_), each in zip(found, by, strict=True) if what == observable]
    of = of or [each for (what, *_), each in zip(found, by, strict=True) if what.startswith(f"{observable}: ")]
    return "" if None in of or of[0] is None else of[0].name


def _told(verdict: Verdict, fragment: Fragment, found: list[Way]) -> Verdict:
    given = tuple(
        (hole.name, hole.code, " or ".join(dict.fromkeys(str(way[at]) for way in found)), assumed(hole))
        for at, hole in enumerate(fragment.holes)
    )
    return replace(verdict, before=fragment.before, after=fragment.after, given=given)
