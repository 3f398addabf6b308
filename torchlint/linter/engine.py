"""The straight line: bytes to findings, and findings to repaired bytes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.diagnostics.model import (
    Applicability,
    Confidence,
    FileResult,
    Finding,
    Fix,
    Settings,
    Severity,
    Trouble,
    in_order,
)
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.diagnostics.splice import splice
from torchlint.linter import rule_modules
from torchlint.linter.cell_fixes import fitted
from torchlint.linter.siblings import Siblings, complete, kindred
from torchlint.source.text import Source, SourceError, undecoded
from torchlint.suppression.apply import ABOUT_SUPPRESSIONS, split
from torchlint.suppression.unused import audit
from torchlint.syntax.ast_index import AstIndex, index_of, tree_of
from torchlint.syntax.parse import OtherLanguage, libcst_accepts, read
from torchlint.syntax.prefilter import triggered
from torchlint.syntax.regions import Region, candidate_regions, whole

if TYPE_CHECKING:
    from torchlint.config import Config
    from torchlint.diagnostics.changed_lines import Changed
    from torchlint.knowledge import Knowledge
    from torchlint.rules.api import Answers, Draft, FileContext
    from torchlint.syntax.cst import Definition

ROUNDS = 10
"""Fixes are looped until nothing is left to fix, at most this often."""

_DEPTH = 10_000
"""Python frames allowed while a file is looked at: both trees are walked by recursion in places."""

_ASYNC = re.compile(rb"async\s*=[^=]")
"""The argument of `x.cuda(async=True)`, which was another name for `non_blocking`."""
SYNTAX_ERROR = RuleMetadata("TNS900", "syntax-error", severity=Severity.ERROR)
TOO_LARGE = RuleMetadata("TNS904", "file-too-large")

ABOUT_TENSORS = ("TNS1", "TNS2", "TNS3", "TNS5")
"""Families of rules that have nothing to say where no tensor is met."""
ABOUT_WEIGHTS = ("TNS501",)
"""Rules about what only modules and optimizers are asked for: early stopping is written without torch."""

_Reads = dict[str, str | None]
_Asked = dict[tuple[str, ...], str | None]


@dataclass
class _Checked:
    """What came of looking at a file: ``reads`` and ``asked`` are what it rests on beside the file."""

    findings: list[Finding]
    troubles: tuple[Trouble, ...] = ()
    reads: _Reads = field(default_factory=dict)
    asked: _Asked = field(default_factory=dict)
    beside: list[Finding] = field(default_factory=list)
    """Findings of rules that are not on: what they find decides how far others are repaired."""
    newer: str = ""
    """:attr:`FileResult.newer`"""


def check_bytes(path: str, raw: bytes, config: Config) -> FileResult:
    """Check a file's bytes; code that does not parse is a finding, never an exception."""
    return _check_for(config.codes(path), path, raw, config)


def _check_for(
    codes: frozenset[str], path: str, raw: bytes, config: Config, changed: Changed | None = None
) -> FileResult:
    """Check for some rules; ``changed`` are the rows that are to be repaired, where that is not all."""
    try:
        reading = read(path, raw)
    except SourceError as error:
        return _unreadable(path, raw, error)
    except OtherLanguage as other:
        return FileResult(path, None, passed_over=f"not checked: {other}")
    source = reading.source
    if config.max_file_size and len(source.utf8) > config.max_file_size:
        return FileResult(path, source, (_too_large(len(source.utf8), config),))
    with _deep_recursion():
        siblings = Siblings(source, config, codes, changed)
        checked = _check(source, codes, config, siblings)
        found, beside = checked.findings, checked.beside
        found += [_syntax_error(_offset(source, each.row, each.column), each.message) for each in reading.faults]
        found += _audited(source, codes, config, checked) if not checked.troubles else []
    decided = siblings.decided([config.overruled(each) for each in (*found, *beside)])[: len(found)]
    wanted = in_order(each for each in decided if each.confidence >= config.min_confidence)
    kept, suppressed = split(source, wanted)
    kept = tuple(_told_once(source, kept))
    rests_on = tuple(checked.reads.items()), tuple(checked.asked.items())
    return FileResult(path, source, kept, suppressed, checked.troubles, *rests_on, newer=checked.newer)


def _told_once(source: Source, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Leave out what another finding of the line says already; where that one is not told, this one is."""
    told = {each.start for each in findings}
    for each in findings:
        if each.repeats is None:
            yield each
        elif each.repeats not in told or source.position(each.repeats)[0] != source.position(each.start)[0]:
            yield replace(each, repeats=None)


@dataclass(frozen=True, slots=True)
class FixResult:
    """All that fixing one file gave: its new bytes, the findings that were repaired, and what remains.

    ``raw`` equals the bytes that were read where nothing was repaired. ``remaining`` refers to ``raw``.
    """

    raw: bytes
    fixed: tuple[Finding, ...]
    remaining: FileResult
    changed: Changed | None = None
    """Where fixing was confined to some rows: which rows of ``raw`` these are now, those that fixes wrote included."""
    at_first: int = 0
    """How many findings had a fix before any was applied; others come up on the way."""


Approve = Callable[[Source, Sequence[Finding], Settings], Sequence[Finding]]
"""Tells which findings' fixes may be applied to a text; it is asked in every round, of none too."""


def fix_bytes(
    path: str, raw: bytes, config: Config, changed: Changed | None = None, approve: Approve | None = None
) -> FixResult:
    """Apply the fixes that the configuration allows and that are approved, round after round, until none is left.

    ``changed`` confines it to findings on these rows, and on those that the fixes write; ``remaining`` holds them all.
    The bytes are returned unchanged where a repaired text would not parse; a trouble then names the rule.
    """
    fixed: list[Finding] = []
    troubles: list[Trouble] = []
    refused: set[str] = set()
    at_first = 0
    for past in range(ROUNDS):
        current = _check_for(config.codes(path) | _following(fixed), path, raw, config, changed)
        wanted = list(_fixable(current, config, changed))
        at_first = at_first if past else len(wanted)
        chosen = _first([each for each in wanted if each.code not in refused])
        if current.source is None:
            break
        if approve:
            chosen = list(approve(current.source, chosen, config.settings))
        chosen = complete(current.source, wanted, chosen)
        if not chosen:
            break
        outcome = splice(current.source, chosen)
        broken = sum(each.code == SYNTAX_ERROR.code for each in current.findings)
        if _parses(path, outcome.raw, broken):
            raw = outcome.raw
            fixed.extend(outcome.taken)
            changed = changed and changed.after(current.source, outcome.edits)
            continue
        alone = ((each.code, splice(current.source, [each]).raw) for each in outcome.taken)
        culprits = {code for code, repaired in alone if not _parses(path, repaired, broken)}
        refused |= culprits or {each.code for each in outcome.taken}
        troubles.extend(_broken_fix(path, code) for code in sorted(refused))
    remaining = check_bytes(path, raw, config)
    remaining = replace(remaining, troubles=(*remaining.troubles, *troubles))
    return FixResult(raw, tuple(fixed), remaining, changed, at_first)


def _fixable(result: FileResult, config: Config, changed: Changed | None) -> Iterator[Finding]:
    if result.source is None or not result.source.lossless:
        return
    least = Applicability.UNSAFE if config.unsafe_fixes else Applicability.SAFE
    for finding in result.findings if changed is None else changed.of(result.source, result.findings):
        if (
            finding.fix
            and finding.fix.applicability >= least
            and config.fixable(finding.code)
            and config.shows(finding)
        ):
            yield finding


def _first(findings: list[Finding]) -> list[Finding]:
    """Leave suppressions alone until nothing else is to be fixed: the next round may show what one is there for."""
    return [each for each in findings if each.code not in ABOUT_SUPPRESSIONS] or findings


def _following(fixed: Iterable[Finding]) -> frozenset[str]:
    """Return the rules that clean up behind the fixes already applied."""
    done = {each.code for each in fixed}
    return frozenset(rule.code for rule in RULES if done.intersection(rule.follows))


def _broken_fix(path: str, code: str) -> Trouble:
    return Trouble(
        path, f"the fix of {code} would leave code that does not parse and was not applied: please report it"
    )


def _parses(path: str, raw: bytes, broken: int) -> bool:
    """Whether repaired bytes are fit to be written: they parse, and no more cells are broken than were before."""
    try:
        reading = read(path, raw)
    except SourceError:
        return False
    if len(reading.faults) > broken:
        return False
    try:
        index_of(reading.source)
    except (SyntaxError, ValueError):
        return libcst_accepts(reading.source.text)
    except (RecursionError, MemoryError):
        return False
    return True


# ---------------------------------------------------------------------- one file
def analysis(source: Source, config: Config) -> Knowledge:
    """Begin what is known of a file, for questions about its expressions.

    :raises SyntaxError: where the standard library's parser refuses the text.
    :raises RecursionError: where the code is nested too deeply.
    """
    from torchlint.knowledge import analyse

    with _deep_recursion():
        tree = tree_of(_absolute(source, config), source.utf8, source.text)
        return analyse(index_of(source, tree), config.settings, _absolute(source, config))


def _absolute(source: Source, config: Config) -> str:
    return os.path.normpath(os.path.join(config.cwd or os.getcwd(), source.path))


def _check(source: Source, codes: frozenset[str], config: Config, siblings: Siblings | None = None) -> _Checked:
    """Look for what some rules find; with ``siblings``, those that are akin to them are asked, too."""
    entries: Sequence[RuleMetadata] = triggered(codes, source.utf8)
    if siblings is not None:
        akin = kindred(each.code for each in entries)
        entries = triggered(codes | akin, source.utf8) if entries else entries
    try:
        tree = tree_of(_absolute(source, config), source.utf8, source.text)
        made = index_of(source, tree) if entries else tree
    except (SyntaxError, ValueError) as error:
        return _check_without_index(source, error, entries, config, siblings)
    except (RecursionError, MemoryError):
        return _Checked([_too_deep()])
    if not isinstance(made, AstIndex):
        return _Checked([])
    try:
        return _check_index(made, entries, config, siblings)
    except RecursionError:  # Python 3.12 has a limit of its own where C and Python call each other by turns
        return _Checked([_too_deep()])


def _check_index(
    made: AstIndex, entries: Sequence[RuleMetadata], config: Config, siblings: Siblings | None
) -> _Checked:
    """Ask the rules about the regions that hold a candidate; inference is imported only where there is one."""
    if not _candidates(made, entries):
        return _Checked([])
    from torchlint.knowledge import analyse

    with closing(analyse(made, config.settings, _absolute(made.source, config))) as known:
        if not known.may_hold_tensors:
            kept = () if known.uses_other_frameworks else ABOUT_WEIGHTS
            entries = [each for each in entries if each.code in kept or not each.code.startswith(ABOUT_TENSORS)]
        checked = _check_regions(known, _candidates(made, entries), entries, siblings)
        return replace(checked, reads=dict(known.reads), asked=dict(known.asked))


def _candidates(made: AstIndex, entries: Sequence[RuleMetadata]) -> list[Region]:
    """Return the regions that hold a word of some rules."""
    of_packages = tuple(entry.triggers for entry in entries if entry.triggers.packages)
    entries = [entry for entry in entries if not entry.triggers.packages]
    called = frozenset[str]().union(*(entry.called_words for entry in entries))
    elsewhere = frozenset[str]().union(*(entry.words - entry.called_words for entry in entries))
    dotted = frozenset[str]().union(*((*each.triggers.functions, *each.triggers.methods) for each in entries))
    builtins = frozenset[str]().union(*(each.triggers.builtins for each in entries)) - elsewhere - dotted
    return candidate_regions(made, called | elsewhere, called - elsewhere, builtins, of_packages)


def _audited(source: Source, codes: frozenset[str], config: Config, checked: _Checked) -> list[Finding]:
    """Look at the suppressions, once all else is known of the file; add to ``checked`` what that rests on."""
    found = checked.findings
    if not codes & ABOUT_SUPPRESSIONS or any(each.code == SYNTAX_ERROR.code for each in found):
        return []

    def ask(others: frozenset[str]) -> list[Finding]:
        more = _check(source, others, config)
        checked.reads.update(more.reads)
        checked.asked.update(more.asked)
        return more.findings

    faults = audit(source, found, codes, ask)
    fixes = (each.fix and fitted(each.fix, source) for each in faults)
    return [replace(each, fix=fix) for each, fix in zip(faults, fixes, strict=True) if each.code in codes]


def _check_regions(
    known: Knowledge, places: Sequence[Region], entries: Sequence[RuleMetadata], siblings: Siblings | None
) -> _Checked:
    from torchlint.syntax.cst import Definition, NotParsed

    source = known.index.source
    try:
        definitions = [Definition(source, place) for place in places]
    except NotParsed:
        try:
            definitions = [Definition(source, whole(known.index))]
        except NotParsed as error:
            at = source.offset(min(error.row, len(source.line_starts)), 0)
            return _Checked([_syntax_error(at, f"LibCST cannot parse this file: {error.message}")])
    return _run_rules(definitions, known, entries, siblings)


def _check_without_index(
    source: Source,
    error: SyntaxError | ValueError,
    entries: Sequence[RuleMetadata],
    config: Config,
    siblings: Siblings | None,
) -> _Checked:
    """Look with LibCST alone at code that the stdlib's parser refuses: it may be newer than this Python."""
    from torchlint.knowledge import analyse_unparsed
    from torchlint.syntax.cst import Definition, NotParsed

    row, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
    message = getattr(error, "msg", None) or str(error)
    at = _offset(source, row, column)
    if _ASYNC.match(source.utf8, at):
        message = f"{message}: `async` is a keyword since Python 3.7, and torch says `non_blocking` since 0.4"
    failure = _syntax_error(at, message)
    if "too many nested" in message:  # LibCST's parser would overflow the stack on it
        return _Checked([failure])
    try:
        definition = Definition(source, Region(0, len(source.utf8), ()))
    except NotParsed:
        return _Checked([failure])
    with closing(analyse_unparsed(source, config.settings)) as known:
        checked = _run_rules([definition], known, entries, siblings)
    is_of_interest = entries and b"torch" in source.utf8
    return replace(checked, newer=source.cited(f", line {row}")[2:] if is_of_interest else "")


def _run_rules(
    definitions: Sequence[Definition], known: Knowledge, entries: Sequence[RuleMetadata], siblings: Siblings | None
) -> _Checked:
    """Ask the rules, and those a second time whose fixes rewrite statements that are to stay as they are."""
    findings, crashes = _visit(definitions, known, entries, {})
    if siblings is None:
        return _Checked(findings, tuple(crashes.values()))
    standing, codes = siblings.in_the_way(findings)
    if codes:
        again = [each for each in entries if each.code in codes]
        findings = [each for each in findings if each.code not in codes]
        findings += _visit(definitions, known, again, standing)[0]
    own = [each for each in findings if each.code in siblings.codes]
    beside = [each for each in findings if each.code not in siblings.codes]
    troubles = tuple(trouble for code, trouble in crashes.items() if code in siblings.codes)
    return _Checked(own, troubles, beside=beside)


def _visit(
    definitions: Iterable[Definition],
    known: Knowledge,
    entries: Sequence[RuleMetadata],
    standing: Mapping[tuple[int, int], Applicability],
) -> tuple[list[Finding], dict[str, Trouble]]:
    """Return what the rules find, and by their codes which of them failed."""
    from torchlint.rules.api import FileContext

    findings: list[Finding] = []
    troubles: dict[str, Trouble] = {}
    answers: Answers = {}
    contexts = [(each, FileContext(each, known, answers, standing)) for each in definitions]
    for entry in entries:  # one rule after the other: what later ones ask takes nothing from the budget of the first
        for definition, context in contexts:
            try:
                for drafts in _drafts(entry, definition, context):
                    findings += [_finding(entry, draft, definition) for draft in drafts]
            except RecursionError:
                raise
            except Exception as error:  # noqa: BLE001 - one crashing rule never takes the run down
                troubles.setdefault(entry.code, _crash(definition.source, entry, error))
    answers.clear()  # some of them hold what asked for them
    return findings, troubles


def _drafts(entry: RuleMetadata, definition: Definition, context: FileContext) -> Iterator[list[Draft]]:
    """Yield what a rule says of each node of a region."""
    for kind, visit in rule_modules.load(entry.code).visit.items():
        yield from (list(visit(node, context)) for node in definition.by_type.get(kind, ()))


def _finding(entry: RuleMetadata, draft: Draft, definition: Definition) -> Finding:
    start, end = definition.span(draft.at)
    fix = _offered(draft.fix, definition)
    if fix is not None and fix.otherwise is not None:
        fix = replace(fix, otherwise=_offered(fix.otherwise, definition))
    why = tuple(definition.source.cited(step) for step in draft.why)
    severity = entry.severity if draft.severity is None else draft.severity
    repeats = definition.span(draft.repeats)[0] if draft.repeats is not None else None
    return Finding(entry.code, entry.name, start, end, draft.message, draft.confidence, why, fix, severity, repeats)


def _offered(fix: Fix | None, definition: Definition) -> Fix | None:
    """Return a fix as it is offered; None where its place cannot be edited."""
    if fix is None or not definition.faithful:
        return None
    if any(definition.prints_source(each.start, each.end) for each in fix.edits):
        return None
    return fitted(fix, definition.source)


def _crash(source: Source, entry: RuleMetadata, error: Exception) -> Trouble:
    cause = f"{type(error).__name__}: {error}"
    return Trouble(source.path, f"rule {entry.code} ({entry.name}) failed here, please report it: {cause}")


# ---------------------------------------------------------------------- text that is no Python
def _unreadable(path: str, raw: bytes, error: SourceError) -> FileResult:
    at = len(raw[: error.offset].decode("utf-8", "replace").encode())
    return FileResult(path, undecoded(path, raw, error.offset), (_syntax_error(at, error.message),))


def _offset(source: Source, row: int, column: int) -> int:
    row = max(1, min(row, len(source.line_starts)))
    return source.line_starts[row - 1] + len(source.line(row)[: max(column - 1, 0)].encode())


def _too_large(size: int, config: Config) -> Finding:
    message = f"not checked: {size:,} bytes of code, `max-file-size` is {config.max_file_size:,}"
    return Finding(TOO_LARGE.code, TOO_LARGE.name, 0, 0, message, Confidence.CERTAIN, severity=TOO_LARGE.severity)


def _too_deep() -> Finding:
    return _syntax_error(
        0, "the code is nested too deeply to be checked: split the expression or the chain of branches"
    )


def _syntax_error(at: int, message: str) -> Finding:
    return Finding(
        SYNTAX_ERROR.code, SYNTAX_ERROR.name, at, at, message, Confidence.CERTAIN, severity=SYNTAX_ERROR.severity
    )


@contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
