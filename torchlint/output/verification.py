"""Verdicts on fixes and on rules, as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from torchlint.output.report import LocatedFinding
from torchlint.output.screen import Screen, printable
from torchlint.source.shortening import shortened
from torchlint.verify.verdicts import (
    DIFFERS_AS_ANNOUNCED,
    NOT_TESTABLE,
    OUTCOMES,
    PROVEN,
    REFUTED,
    REPAIRED,
    Verdict,
    counted,
)

_ALWAYS = (PROVEN, REFUTED, NOT_TESTABLE)
"""Outcomes that are counted even where there is none."""
_REASONS, _LONGEST = 5, 160
"""Reasons for which worlds do not apply that are shown, and characters of one."""
_STYLES = {PROVEN: "green", DIFFERS_AS_ANNOUNCED: "green", REPAIRED: "green", REFUTED: "red", NOT_TESTABLE: "yellow"}


@dataclass(frozen=True, slots=True)
class Tried:
    """A fix of a user's code, and the verdict on it."""

    place: LocatedFinding
    verdict: Verdict

    @property
    def where(self) -> str:
        """The place as editors read it."""
        return self.place.where


@dataclass(frozen=True, slots=True)
class Ruled:
    """A rule, how many examples its safe fixes have, and the verdict on all of them."""

    code: str
    name: str
    examples: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Bench:
    """What the verdicts were found with."""

    torch: str
    devices: tuple[str, ...]


def text(tried: Sequence[Tried], screen: Screen, quiet: bool = False, verbose: bool = False) -> Iterator[str]:
    """Yield the verdict on each fix, and a closing line; ``verbose`` tells of all that was seen."""
    for each in tried:
        if quiet and each.verdict.outcome != REFUTED:
            continue
        finding = each.place.finding
        assert finding.fix is not None
        head = f"{screen.paint(printable(each.where), 'bold')}: {finding.code} ({finding.fix.applicability} fix)"
        yield f"{head} {_told(each.verdict, screen)}"
        yield from _seen(each.verdict, screen, verbose)
        if verbose:
            yield from _not_applying(each.verdict)
    if not quiet:
        yield _closing("fix", "fixes", [each.verdict for each in tried])


def rules(
    ruled: Sequence[Ruled], bench: Bench, screen: Screen, quiet: bool = False, verbose: bool = False
) -> Iterator[str]:
    """Yield the verdict on each rule, and a closing line; ``verbose`` tells of all that was seen."""
    width = max((len(each.name) for each in ruled), default=0)
    for each in ruled:
        if quiet and each.verdict.outcome != REFUTED:
            continue
        yield f"{each.code}  {each.name:<{width}}  {_told(each.verdict, screen)}"
        yield from _seen(each.verdict, screen, verbose)
        if verbose:
            yield from _not_applying(each.verdict)
    if not quiet:
        yield _closing("rule", "rules", [each.verdict for each in ruled])
        yield f"Run with torch {bench.torch} on {', '.join(bench.devices)}."


def _told(verdict: Verdict, screen: Screen) -> str:
    outcome = screen.paint(verdict.outcome, _STYLES[verdict.outcome])
    if verdict.outcome in (REPAIRED, NOT_TESTABLE):
        return f"{outcome}: {printable(verdict.reason)}"
    effects = "".join(f"{effect}; " for _, effect in verdict.announced)
    reason = f" ({printable(verdict.reason)})" if verdict.reason else ""
    return f"{outcome}: {effects}{_worlds(verdict)}{reason}"


def _worlds(verdict: Verdict) -> str:
    """Return in how many worlds what was seen: "52 worlds agree, 8 do not apply; pairwise, 60 of 602 worlds"."""
    counts = (
        (verdict.differing, "differs", "differ"),
        (verdict.agreeing, "agrees", "agree"),
        (verdict.worlds - verdict.ran, "does not apply", "do not apply"),
    )
    shown = [(count, one if count == 1 else several) for count, one, several in counts if count]
    if not shown:
        return "no world was tried"
    (count, word), *others = shown
    first = f"{count} world{'s' * (count != 1)} {word}"
    told = ", ".join([first, *(f"{count} {word}" for count, word in others)])
    pairwise = f"; pairwise, {verdict.worlds} of {verdict.available} worlds"
    return told + pairwise if verdict.worlds < verdict.available else told


def _not_applying(verdict: Verdict) -> Iterator[str]:
    shown, others = verdict.passed_over[:_REASONS], verdict.passed_over[_REASONS:]
    rest = sum(count for _, count in others)
    for reason, count in (*shown, *([(f"{len(others)} other reasons", rest)] if others else ())):
        yield f"    = {count} {'does' if count == 1 else 'do'} not apply: {printable(shortened(reason, _LONGEST))}"


def _seen(verdict: Verdict, screen: Screen, verbose: bool) -> Iterator[str]:
    if verdict.outcome != REFUTED and not (verbose and verdict.outcome in (DIFFERS_AS_ANNOUNCED, REPAIRED)):
        return
    for name, code, kinds, assumed in verdict.given:
        stands = f" for `{printable(code)}`" if code != name else ""
        yield f"    = given: {name}{stands}: {kinds}{' (assumed)' if assumed else ''}"
    for sign, lines, style in (("-", verdict.before, "red"), ("+", verdict.after, "green")):
        for line in lines.splitlines()[1:]:
            yield f"    {screen.paint(f'{sign} {printable(line[4:])}', style)}"
    for each in verdict.differences:
        announced = f" (announced by {each.announced_by})" if each.announced_by else ""
        yield f"    = {printable(str(each))}{announced}"


def _closing(one: str, several: str, verdicts: list[Verdict]) -> str:
    counts = counted(verdicts)
    told = {DIFFERS_AS_ANNOUNCED: "differ as announced" if counts[DIFFERS_AS_ANNOUNCED] > 1 else DIFFERS_AS_ANNOUNCED}
    listed = [each for each in OUTCOMES if counts[each] or each in _ALWAYS]
    shares = ", ".join(f"{counts[each]} {told.get(each, each)}" for each in listed)
    return f"{len(verdicts)} {one if len(verdicts) == 1 else several}: {shares}."


# ---------------------------------------------------------------------- for programs
def json_of_fixes(tried: Iterable[Tried], bench: Bench) -> str:
    """Return one document on all fixes."""
    return _document(bench, "fixes", [_fix(each) for each in tried])


def json_of_rules(ruled: Iterable[Ruled], bench: Bench) -> str:
    """Return one document on all rules."""
    listed = [
        {"code": each.code, "name": each.name, "examples": each.examples} | _verdict(each.verdict) for each in ruled
    ]
    return _document(bench, "rules", listed)


def _document(bench: Bench, name: str, listed: list[dict[str, object]]) -> str:
    counts = {outcome: sum(each["verdict"] == outcome for each in listed) for outcome in OUTCOMES}
    return json.dumps({**asdict(bench), "counts": counts, name: listed}, indent=2)


def _fix(tried: Tried) -> dict[str, object]:
    (row, column), finding, verdict = tried.place.start, tried.place.finding, tried.verdict
    assert finding.fix is not None
    given = [
        {"name": name, "stands_for": code, "kind": kind, "assumed": assumed}
        for name, code, kind, assumed in verdict.given
    ]
    return {
        "filename": tried.place.path,
        "location": {"row": row, "column": column},
        "code": finding.code,
        "name": finding.name,
        "applicability": str(finding.fix.applicability),
        **_verdict(verdict),
        "fragment": {"before": verdict.before, "after": verdict.after, "given": given} if verdict.before else None,
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "verdict": verdict.outcome,
        "reason": verdict.reason or None,
        "worlds": verdict.worlds,
        "available": max(verdict.available, verdict.worlds),
        "ran": verdict.ran,
        "differing": verdict.differing,
        "repaired": verdict.repaired,
        "not_applying": [{"worlds": count, "reason": reason} for reason, count in verdict.passed_over],
        "differences": [asdict(each) for each in verdict.differences],
        "announced": [{"assumption": name, "effect": effect} for name, effect in verdict.announced],
    }
