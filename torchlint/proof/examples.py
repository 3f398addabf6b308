"""Verdicts on the rules themselves: every example of a rule's safe fixes in every world of the devices at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from torchlint.proof import confine
from torchlint.proof.cases import Case, repaired
from torchlint.proof.judge import judge
from torchlint.proof.observe import Snippet, observe
from torchlint.proof.table import of_rule
from torchlint.proof.verdicts import PROVEN, REFUTED, Difference, Verdict, unable
from torchlint.proof.worlds import devices, ordinary, telling

_SHOWN = 5


def at_hand() -> tuple[str, ...]:
    """Give the names of the devices on which worlds can be made here."""
    return devices()


def count(code: str) -> int:
    """Count a rule's examples."""
    return len(of_rule(code))


def verdicts(codes: Sequence[str], on: Sequence[str], seconds: float, jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Give the verdict on each rule, with its number, as they come; ``seconds`` is the time for one example."""
    torch.set_num_threads(1)
    observe(
        Snippet("def case(t):\n    return t.data.sum()"), ordinary("cpu")[0]
    )  # imports what torch loads at first use

    def works() -> Iterator[tuple[int, Callable[[], Verdict]]]:
        for number, code in enumerate(codes):
            pairs = [(case, repaired(case)) for case in of_rule(code)]
            yield number, partial(_tried, pairs, tuple(on))

    longest = max((count(code) for code in codes), default=0)
    for number, came in confine.each(works(), seconds * max(longest, 1), jobs):
        yield number, unable(came.reason) if isinstance(came, confine.Stopped) else came


def _tried(pairs: list[tuple[Case, str]], on: tuple[str, ...]) -> Verdict:
    if not pairs:
        return unable("its fixes are only shown, never applied")
    worlds = ran = differing = 0
    found: list[Difference] = []
    for case, after in pairs:
        before = Snippet(case.text)
        for device in on:
            judged = judge(before, Snippet(after), telling(device, before.given))
            worlds, ran = worlds + judged.worlds, ran + judged.ran
            differing += len({each.world for each in judged.refutations})
            found += [
                Difference(str(each.world), each.observable, repr(each.before), repr(each.after), case.title)
                for each in judged.refutations[:1]
            ]
    if found:
        return Verdict(REFUTED, "", worlds, ran, differing, tuple(found[:_SHOWN]))
    reason = "" if ran else "the old code raises in every world, so that nothing is asked of the new"
    return Verdict(PROVEN, reason, worlds, ran)
