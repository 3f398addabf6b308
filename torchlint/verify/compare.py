"""Deciding whether a new text does what the old one did, and naming the world and the observable where it does not."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from torchlint.diagnostics.model import Applicability
from torchlint.source.shortening import shortened
from torchlint.verify.observables import fills_memory
from torchlint.verify.observe import Observation, Snippet, observe, repeatable
from torchlint.verify.worlds import HOSTED, Pairs, World, on

_NO_DEVICE = ("not compiled with", "Found no NVIDIA driver", "No CUDA GPUs", "no XPU", "not linked with")
"""Words of torch's where a device is not on this machine."""
ABSENT = "(not there)"
"""What stands for an observable of what was not there."""
_OF_THE_HOST = ("device", "cuda", "CUDA", "not implemented for", "unsupported operation")
"""Words of torch's where something does not run on the host, and may on an accelerator or harms nothing there."""
_AGAIN = 3
_REPORTED = "modified by an inplace operation"
"""With this torch refuses a gradient that was silently wrong before: the new text is at work there, not broken."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """A world in which the new text does something else."""

    world: World
    observable: str
    before: object
    after: object

    def __str__(self) -> str:
        return f"[{self.world}] {self.observable}: {shown(self.before)} -> {shown(self.after)}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a claim in all the worlds that were tried."""

    worlds: int
    ran: int
    """In how many of them the old text ran; where it raised, the new one may do anything."""
    refutations: tuple[Refutation, ...]
    broken: int = 0
    """In how many worlds the old text ran and the new one raised, save where it shows a gradient that was wrong."""
    passed_over: tuple[tuple[str, int], ...] = ()
    """Why worlds do not apply, most frequent first, each reason with their number."""

    @property
    def allows(self) -> Applicability:
        """The strongest that a fix may claim which did this.

        Safe where no world refutes it, unsafe where some does, display where the new text runs nowhere at all.
        """
        if not self.refutations:
            return Applicability.SAFE
        return Applicability.DISPLAY if self.broken == self.ran else Applicability.UNSAFE

    @property
    def by_world(self) -> Iterator[tuple[World, tuple[Refutation, ...]]]:
        """Yield each world that refutes the claim, with all that differed in it."""
        for world, found in groupby(self.refutations, key=lambda each: each.world):
            yield world, tuple(found)

    @property
    def holds(self) -> bool:
        """Whether no world refutes the claim."""
        return not self.refutations


def differences(before: Observation, after: Observation) -> tuple[tuple[str, object, object], ...]:
    """Return each observable that differs, with both of its values.

    Where the old text raised, nothing is asked of the new one. A warning may go, and none may come.
    """
    if before.error is not None:
        return ()
    if after.error is not None:
        return (("exception", None, after.error),)
    names = dict.fromkeys([*before.facts, *after.facts])
    found = [(name, before.facts.get(name, ABSENT), after.facts.get(name, ABSENT)) for name in names]
    found = [each for each in found if each[1] != each[2]]
    new = [each for each in after.warnings if each not in before.warnings]
    return (*found, *([("warnings", before.warnings, after.warnings)] if new else []))


@dataclass(frozen=True, slots=True)
class Run:
    """Both texts in one world."""

    world: World
    hindrance: str
    """Why nothing is asked of the new text; empty where the old one ran."""
    differences: tuple[tuple[str, object, object], ...] = ()
    broken: bool = False
    """Whether the old text ran and the new one raised, save where it shows a gradient that was wrong."""
    is_fault: bool = False
    """Whether the old text raised, and not only because a device is not on this machine."""


def runs(before: Snippet, after: Snippet, worlds: Iterable[World]) -> Iterator[Run]:
    """Run both texts in each world, one by one, and compare what is observed."""
    with repeatable(), contextlib.ExitStack() as there:
        device = ""
        for world in worlds:
            if world.device != device:  # what each run would make and unmake is made once for many
                there.close()
                device = world.device
                there.enter_context(on(device))
            old = _raises_on_host(before, world) or observe(before, world)
            if old.error is not None:
                is_fault = old.is_there and not any(each in old.error for each in _NO_DEVICE)
                yield Run(world, old.hindrance, is_fault=is_fault)
                continue
            new = observe(after, world)
            different = differences(old, new)
            if different and not fills_memory():
                different = _lasting(before, after, world, different)
            yield Run(world, "", different, new.error is not None and _REPORTED not in new.error)


def pairwise(
    before: Snippet, after: Snippet, worlds: Iterable[World], pairs: Pairs, beside: Sequence[object] = ()
) -> Iterator[Run]:
    """Run both texts in so many worlds that each two traits meet in one in which the old text runs, if there is one."""
    for run in runs(before, after, pairs.choice(worlds, beside)):
        pairs.unmet = bool(run.hindrance)
        yield run


def judge(before: Snippet, after: Snippet, worlds: Iterable[World]) -> Judgement:
    """Run both texts in each world and put together what differs."""
    tried = tuple(runs(before, after, worlds))
    hindrances = Counter(each.hindrance for each in tried if each.hindrance)
    found = tuple(Refutation(run.world, *each) for run in tried for each in run.differences)
    broken = sum(each.broken for each in tried)
    return Judgement(len(tried), len(tried) - hindrances.total(), found, broken, tuple(hindrances.most_common()))


def _raises_on_host(text: Snippet, world: World) -> Observation | None:
    """Return how a text for a real accelerator raises on the host; None where it does not, or for want of a device.

    An index beyond a tensor's end is an error on the host. On an accelerator it is one of the device, which answers
    nothing more in this process.
    """
    if world.device in HOSTED:
        return None
    seen = observe(text, replace(world, device="cpu"))
    return None if seen.error is None or any(each in seen.error for each in _OF_THE_HOST) else seen


def mended(before: Snippet, after: Snippet, worlds: Iterable[World]) -> tuple[int, int]:
    """Count the worlds in which the old text raises, and those of them in which the new one runs."""
    raising = [run.world for run in runs(before, after, worlds) if run.is_fault]
    return len(raising), sum(running(after, raising))


def running(text: Snippet, worlds: Iterable[World]) -> Iterator[bool]:
    """Yield for each world whether a text runs in it."""
    with repeatable():
        yield from (observe(text, world).error is None for world in worlds)


def _lasting(
    before: Snippet, after: Snippet, world: World, found: tuple[tuple[str, object, object], ...]
) -> tuple[tuple[str, object, object], ...]:
    """Return those of some differences that show again: memory that nobody wrote may hold anything."""
    for _ in range(_AGAIN):
        names = {what for what, *_ in differences(observe(before, world), observe(after, world))}
        found = tuple(each for each in found if each[0] in names)
    return found


def shown(value: object) -> str:
    """Return a value in a line of at most 120 characters."""
    return shortened(value if isinstance(value, str) else repr(value), 120)
