"""Findings that belong together: what one statement has of a kind is repaired as a whole, or stays as it is.

Of a kind are findings of one family whose rules look at the same words, as all of TNS2 look at ``.data``. One
word of many in common makes no kind: rules of ``torch.tensor(...)`` and of losses ask different things of it.
"""

from __future__ import annotations

import bisect
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torchlint.config import Config
from torchlint.diagnostics.assumptions import SIBLINGS_ARE_REPAIRED
from torchlint.diagnostics.changed_lines import Changed
from torchlint.diagnostics.model import Applicability, Finding, Fix
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.splice import apart
from torchlint.source.text import Source
from torchlint.suppression.apply import split

_QUIET = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_FAMILY = len("TNS1")


def _kinds() -> dict[str, str]:
    found: dict[str, str] = {}
    for rule in RULES:
        family = (each for each in RULES if each.code[:_FAMILY] == rule.code[:_FAMILY] and each.words)
        first = next((each for each in family if each.words <= rule.words or each.words >= rule.words), None)
        if first is not None:
            found[rule.code] = found.get(first.code, first.code)
    return found


KINDS: Mapping[str, str] = _kinds()
"""The kind of each rule that repairs code, named by the first rule of it."""

Group = tuple[int, str]
"""The number of a statement and a kind."""


def kindred(codes: Iterable[str]) -> frozenset[str]:
    """Return the rules of the kinds of some rules."""
    kinds = {KINDS.get(code) for code in codes} - {None}
    return frozenset(code for code, kind in KINDS.items() if kind in kinds)


class Statements:
    """Where the statements of a file begin: simple ones, and the headers of compound ones."""

    def __init__(self, source: Source) -> None:
        self._starts = list(_starts(source))

    def number(self, offset: int) -> int:
        """Return the number of the statement that an offset lies in, in reading order."""
        return bisect.bisect_right(self._starts, offset)

    def span(self, number: int) -> tuple[int, int]:
        """Return where a statement begins, and where the next one does."""
        around = [0, *self._starts, 1 << 62]
        return around[number], around[number + 1]


def _starts(source: Source) -> Iterator[int]:
    """Yield the offset of each statement's first word; of a text that tokenize refuses, the rest by its rows."""
    depth, begins, reached = 0, True, 1
    try:
        for kind, text, (row, column), _, _ in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            reached = row
            if kind not in _QUIET and begins:
                yield source.offset(row, len(source.line(row)[:column].encode()))
                begins = False
            if kind == tokenize.OP:
                depth += (text in "([{") - (text in ")]}")
            if kind == tokenize.NEWLINE or (text == ";" and not depth):
                begins = True
    except (tokenize.TokenError, SyntaxError):
        yield from source.line_starts[reached:]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a repair may go: that of a finding, or that of a statement, which is its weakest finding's."""

    trust: Applicability
    why: str = ""
    """What keeps it from being safe, as a clause."""


_FREE = Standing(Applicability.SAFE)


def _trust(standing: Standing) -> Applicability:
    return standing.trust


@dataclass(frozen=True)
class Siblings:
    """Which findings of a file hold others back: ``codes`` are the rules that are on, ``changed`` rows that count."""

    source: Source
    config: Config
    codes: frozenset[str]
    changed: Changed | None = None

    def decided(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return the findings, each fix with what it rests on beside its own place.

        The findings are all of the file, with those that are silenced, not selected, or too weak to be told.
        """
        if all(each.fix is None or each.code not in KINDS for each in findings):
            return list(findings)
        table = _Table(self, findings)
        return [replace(each, fix=table.decided(each)) if each.fix else each for each in findings]

    def in_the_way(self, findings: Sequence[Finding]) -> tuple[dict[tuple[int, int], Applicability], frozenset[str]]:
        """Return the statements that the fixes of others rewrite though they may not go as far, and those fixes' rules.

        Of each statement it is said how far its own repair may go.
        """
        own = [self.config.overruled(each) for each in findings]
        if all(each.fix is None or len(each.fix.edits) < _OF_A_BLOCK or each.code not in KINDS for each in own):
            return {}, frozenset()
        table = _Table(self, own)
        found: dict[tuple[int, int], Applicability] = {}
        codes: set[str] = set()
        for each in own:
            for number, standing in table.reached(each):
                if each.fix is not None and standing.trust < each.fix.applicability:
                    found[table.statements.span(number)] = standing.trust
                    codes.add(each.code)
        return found, frozenset(codes)

    def standings(self, findings: Sequence[Finding]) -> list[Standing]:
        """Return how far each finding is repaired, for itself alone."""
        silenced = {id(each) for each in split(self.source, findings)[1]}
        counting = findings if self.changed is None else self.changed.of(self.source, findings)
        new = {id(each) for each in counting}
        return [self._standing(each, id(each) in silenced, id(each) in new) for each in findings]

    def _standing(self, finding: Finding, is_silenced: bool, is_new: bool) -> Standing:
        fix, config = finding.fix, self.config
        for holds, why in (
            (is_silenced, "is suppressed"),
            (not is_new, "is on no changed line"),
            (finding.code not in self.codes, "is not selected"),
            (finding.confidence < config.min_confidence, "is below `min-confidence`"),
            (not config.shows(finding), "is left out by its severity"),
            (not config.fixable(finding.code), "is not to be fixed by this project's configuration"),
            (fix is None, "has no fix"),
            (fix is not None and fix.applicability is Applicability.DISPLAY, "leaves a choice"),
        ):
            if holds:
                return Standing(Applicability.DISPLAY, f"`{finding.code}` beside it {why}")
        if fix is not None and fix.applicability is Applicability.UNSAFE:
            return Standing(Applicability.UNSAFE, f"the fix of `{finding.code}` beside it is unsafe")
        return _FREE


_OF_A_BLOCK = 2
"""Edits that a fix has at least that reaches into another statement."""


class _Table:
    """The findings of a file by statement and kind; several at one word are one, of which the best repair counts."""

    def __init__(self, siblings: Siblings, findings: Sequence[Finding]) -> None:
        self.statements = Statements(siblings.source)
        self._places: dict[Group, dict[int, Standing]] = defaultdict(dict)
        self._left: set[int] = set()
        for finding, standing in zip(findings, siblings.standings(findings), strict=True):
            group = self._group(finding)
            if group is None:
                continue
            if finding.fix is None or standing.trust < finding.fix.applicability:
                self._left.add(id(finding))
            places = self._places[group]
            places[finding.start] = max(places.get(finding.start, standing), standing, key=_trust)

    def _group(self, finding: Finding) -> Group | None:
        kind = KINDS.get(finding.code)
        return (self.statements.number(finding.start), kind) if kind is not None else None

    def reached(self, finding: Finding) -> Iterator[tuple[int, Standing]]:
        """Yield the other statements with findings of the kind that a finding's fix writes into."""
        own = self._group(finding)
        if own is None or finding.fix is None:
            return
        # An edit that writes a line, as the header of a block or a decorator, leaves the statement below it as it is.
        within = (edit.start for edit in finding.fix.edits if "\n" not in edit.text)
        for number in sorted({self.statements.number(start) for start in within} - {own[0]}):
            if (number, own[1]) in self._places:
                yield number, min(self._places[number, own[1]].values(), key=_trust)

    def decided(self, finding: Finding) -> Fix | None:
        """Return a finding's fix with the decision on its siblings; as it is where it has none."""
        own, fix = self._group(finding), finding.fix
        if own is None or fix is None or id(finding) in self._left:
            return fix
        others = [standing for _, standing in self.reached(finding)]
        others += [standing for start, standing in self._places[own].items() if start != finding.start]
        if not others:
            return fix
        weakest = min(others, key=_trust)
        if weakest.trust >= fix.applicability:
            return fix.assuming(SIBLINGS_ARE_REPAIRED.proven())
        is_likely = weakest.trust is Applicability.UNSAFE
        # What a team trusts or distrusts is the rule, whose repair is not what is in doubt here.
        return replace(fix, overruled=None).assuming(SIBLINGS_ARE_REPAIRED.open("", weakest.why, is_likely))


def complete(source: Source, wanted: Sequence[Finding], chosen: Sequence[Finding]) -> list[Finding]:
    """Return those of the chosen findings whose siblings among the wanted ones are chosen, too."""
    left = {each.start for each in wanted if each.code in KINDS} - {each.start for each in chosen}
    if not left:
        return list(chosen)
    statements = Statements(source)
    broken = {(statements.number(each.start), KINDS.get(each.code)) for each in wanted if each.start in left}
    return [each for each in chosen if (statements.number(each.start), KINDS.get(each.code, each.code)) not in broken]


def joined(source: Source, finding: Finding, findings: Iterable[Finding]) -> Finding:
    """Return a finding with the repair of its siblings in its fix; without it where they write over each other."""
    if finding.fix is None or finding.code not in KINDS:
        return finding
    statements = Statements(source)
    number, kind = statements.number(finding.start), KINDS[finding.code]
    edits = set(finding.fix.edits)
    for each in findings:
        if each.fix is None or each.start == finding.start or KINDS.get(each.code) != kind:
            continue
        if statements.number(each.start) == number and each.fix.applicability > Applicability.DISPLAY:
            edits.update(each.fix.edits)
    ordered = tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))
    return replace(finding, fix=replace(finding.fix, edits=ordered)) if apart(ordered) else finding
