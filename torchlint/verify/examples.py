"""Verdicts on the rules themselves: every example of a rule's safe fixes in every world of the devices at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import torch

from torchlint.verify import accelerators, sandbox
from torchlint.verify.cases import Case, repaired
from torchlint.verify.compare import judge, mended
from torchlint.verify.observe import Snippet, warm
from torchlint.verify.readable import readable
from torchlint.verify.table import of_rule
from torchlint.verify.verdicts import (
    NOT_TESTABLE,
    PROVEN,
    REFUTED,
    REPAIRED,
    Difference,
    Verdict,
    repairing,
    told_together,
    unable,
)
from torchlint.verify.worlds import telling

_SHOWN = 5


def count(code: str) -> int:
    """Count a rule's examples."""
    return len(of_rule(code))


def verdicts(
    codes: Sequence[str], on: Sequence[str], seconds: float, jobs: int, done: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdict on each rule, with its number, as they come.

    Each example is run in a process of its own, which may take so many ``seconds``; ``done`` is told of each.
    """
    torch.set_num_threads(1)
    warm(on)
    pieces = [(number, case) for number, code in enumerate(codes) for case in of_rule(code)]
    yield from ((number, _SHOWN_ONLY) for number, code in enumerate(codes) if not of_rule(code))
    works = ((at, partial(_tried, case, repaired(case), tuple(on))) for at, (_, case) in enumerate(pieces))
    came: dict[int, Verdict] = {}
    for at, part in sandbox.each(works, seconds, jobs, partial(accelerators.wake, on)):
        came[at] = unable(part.reason) if isinstance(part, sandbox.Stopped) else part
        done(1)
        mine = [each for each, (number, _) in enumerate(pieces) if number == pieces[at][0]]
        if all(each in came for each in mine):
            yield pieces[at][0], _summed([came[each] for each in mine])


_SHOWN_ONLY = unable("its fixes are only shown, never applied")


def _tried(case: Case, after: str, on: tuple[str, ...]) -> Verdict:
    """Judge one example on every device."""
    before, differing, found = Snippet(case.text), 0, []
    worlds = ran = raising = running = 0
    hindrances = []
    for device in on:
        judged = judge(before, Snippet(after), telling(device, before.given))
        worlds, ran = worlds + judged.worlds, ran + judged.ran
        hindrances.append(judged.passed_over)
        differing += len({each.world for each in judged.refutations})
        found += [
            Difference(str(world), *told, case.title)
            for world, seen in islice(judged.by_world, 1)
            for told in readable([(each.observable, each.before, each.after) for each in seen])[:1]
        ]
    passed_over = told_together(hindrances)
    if not ran:
        for device in on:
            raised, runs = mended(before, Snippet(after), telling(device, before.given))
            raising, running = raising + raised, running + runs
        if not running:
            return Verdict(NOT_TESTABLE, "the code raises in every world here", worlds, passed_over=passed_over)
        reason = repairing(raising, running)
        return Verdict(REPAIRED, reason, worlds, passed_over=passed_over, repaired=running)
    outcome = REFUTED if found else PROVEN
    return Verdict(outcome, "", worlds, ran, differing, tuple(found), passed_over=passed_over)


def _summed(parts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a rule by those on its examples."""
    worlds, ran = sum(each.worlds for each in parts), sum(each.ran for each in parts)
    found = [difference for each in parts for difference in each.differences]
    passed_over = told_together(each.passed_over for each in parts)
    if found:
        differing = sum(each.differing for each in parts)
        return Verdict(REFUTED, "", worlds, ran, differing, tuple(found[:_SHOWN]), passed_over=passed_over)
    unseen = [each for each in parts if each.outcome == NOT_TESTABLE]
    stopped = [each for each in unseen if not each.worlds or len(unseen) == len(parts)]
    if stopped:
        return stopped[0]
    running = sum(each.repaired for each in parts)
    if not ran:
        return Verdict(REPAIRED, repairing(worlds, running), worlds, passed_over=passed_over, repaired=running)
    always = sum(each.outcome == REPAIRED for each in parts)
    known = [f"in {always} the old code raises everywhere, and the new one runs"] if always else []
    known += [f"{len(unseen)} raise in every world here"] if unseen else []
    reason = f"of {len(parts)} examples {', '.join(known)}" if known else ""
    return Verdict(PROVEN, reason, worlds, ran, passed_over=passed_over, repaired=running)
