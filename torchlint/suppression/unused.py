"""Which suppressions silence nothing (TNS901), name no rule (TNS902) or are none (TNS903), and what to take away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from torchlint.config.selectors import nearest
from torchlint.diagnostics.model import Confidence, Edit, Finding, Fix, Severity
from torchlint.diagnostics.registry import BY_CODE, BY_NAME
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.source.text import Source
from torchlint.suppression.apply import ABOUT_SUPPRESSIONS, NEVER_SILENCED, Suppressions
from torchlint.suppression.directives import VERBS, Code, Directive, Scope, unread

UNUSED = RuleMetadata("TNS901", "unused-suppression", severity=Severity.WARNING)
UNKNOWN = RuleMetadata("TNS902", "unknown-code-in-suppression", severity=Severity.WARNING)
MISSPELT = RuleMetadata("TNS903", "unknown-directive", severity=Severity.WARNING)
_TRIGGER = re.compile(rb"noqa[^\r\n]*TNS\d|torchlint:", re.IGNORECASE)
_OWN_CODE = re.compile(r"TNS\d+", re.IGNORECASE)
_ORDERS = re.compile(
    r"(?:noqa|type|pyright|mypy|pylint|pragma|fmt|yapf|isort|ruff|flake8|torchlint|coding|nosec)\b", re.IGNORECASE
)
"""Words that would become an order to some tool if they came first in a comment."""
_FOREIGN = ABOUT_SUPPRESSIONS | {"TNS999"}
"""Codes whose suppression is never unused: the first would speak of itself, the last is flake8's for a failure."""
_ABOUT = _FOREIGN | NEVER_SILENCED

Ask = Callable[[frozenset[str]], Iterable[Finding]]
"""Gives what rules find that this run does not use: a prefix or a bare comment may stand for them."""


@dataclass(frozen=True, slots=True)
class _Faults:
    """The codes of one directive that silence nothing, and those that are unknown."""

    directive: Directive
    unused: tuple[Code, ...]
    unknown: tuple[Code, ...]


def audit(source: Source, found: Sequence[Finding], judged: frozenset[str], ask: Ask) -> list[Finding]:
    """Return what is wrong with a file's suppressions.

    ``found`` are the findings of the rules ``judged``, of every confidence, before suppression. A code whose rule was
    not asked is not judged. ``by_statement`` reads ``noqa`` as flake8 does.
    """
    if not _TRIGGER.search(source.utf8):
        return []
    orders = Suppressions(source)
    if not orders.reading.whole:
        return []
    looked_at = [each for each in orders.directives if _is_ours(each)]
    used = _used(orders, found)
    unsure = frozenset[str]().union(*(_unasked(code, judged) for each in looked_at for code in _idle(each, used)))
    if unsure:
        used |= _used(orders, [each for each in ask(unsure) if each.code in unsure])
    found_faulty = (_faults(each, used | orders.closing, judged) for each in looked_at)
    misread = (each for comment in orders.reading.comments for each in unread(comment))
    return [
        *(finding for faults in found_faulty for finding in _findings(source, faults)),
        *(_finding(MISSPELT, start, end, _misspelt(words), None) for words, start, end in misread),
    ]


def _misspelt(words: str) -> str:
    """Say what a comment may have meant."""
    verb = re.match(r"[\w-]*", words)
    assert verb is not None
    told = f"`torchlint: {words}` is not a directive that torchlint knows, so it silences nothing"
    if verb[0].lower() in ("noqa", "skip", "off", "nolint"):
        return f"{told}: write `torchlint: ignore[CODE]`, or `noqa: CODE`"
    return told + (nearest(verb[0], VERBS) or f": there are {', '.join(f'`{each}`' for each in VERBS)}")


def _is_ours(directive: Directive) -> bool:
    """Leave aside bare ``noqa`` comments, which are for other tools too, and code that was commented out."""
    at_the_start = directive.start == directive.comment.start
    return not (directive.shared and directive.codes is None) and (at_the_start or not directive.comment.alone)


def _used(orders: Suppressions, found: Iterable[Finding]) -> set[Code]:
    return {order.code for finding in found for order in orders.silencing(finding)}


def _idle(directive: Directive, used: set[Code]) -> Iterator[Code]:
    if directive.placed and directive.closed and directive.scope is not Scope.CLOSE:
        yield from (code for code in directive.every if code not in used)


def _unasked(code: Code, judged: frozenset[str]) -> frozenset[str]:
    """Return the rules to ask for a prefix or a bare comment; one rule by its code or name is not judged unasked."""
    meant = code.meant - _ABOUT
    return meant - judged if len(meant) > 1 and meant & judged else frozenset()


def _faults(directive: Directive, used: set[Code], judged: frozenset[str]) -> _Faults:
    if not directive.closed:
        return _Faults(directive, (), directive.codes or ())
    unknown = tuple(code for code in directive.every if _is_unknown(code, directive))
    seen: set[str] = set()
    unused = []
    for code in directive.every:
        if code.meant and (_is_unused(code, directive, used, judged) or code.text.upper() in seen):
            unused.append(code)
        seen.add(code.text.upper())
    return _Faults(directive, tuple(unused), unknown)


def _is_unknown(code: Code, directive: Directive) -> bool:
    if code.meant or code.text.upper() in _FOREIGN:
        return False
    return not directive.shared or _OWN_CODE.fullmatch(code.text) is not None


def _is_unused(code: Code, directive: Directive, used: set[Code], judged: frozenset[str]) -> bool:
    if not directive.placed:
        return True
    if code in used or code.meant <= _FOREIGN:
        return False
    if directive.scope is Scope.CLOSE:
        return True
    return code.meant <= NEVER_SILENCED or bool(code.meant & judged - _ABOUT)


# ---------------------------------------------------------------------- what is said
def _findings(source: Source, faults: _Faults) -> Iterator[Finding]:
    directive = faults.directive
    if not directive.closed:
        message = f"the bracket of `{directive.scope.value}[` is not closed, so the comment silences nothing"
        yield _finding(UNKNOWN, directive.start, directive.end, message, None)
        return
    if directive.codes == ():
        message = "the brackets name no rule, so the comment silences nothing"
        yield _finding(UNUSED, directive.start, directive.end, message, _fix(source, directive, ()))
    if faults.unused:
        yield _about(source, directive, faults.unused, UNUSED, _unused_message(directive, faults.unused))
    if faults.unknown:
        known = (*BY_CODE, *BY_NAME)
        said = ", ".join(f"`{each.text}`{nearest(each.text, known)}" for each in faults.unknown)
        yield _about(source, directive, faults.unknown, UNKNOWN, f"no rule is called {said}")


def _unused_message(directive: Directive, unused: tuple[Code, ...]) -> str:
    if not directive.placed:
        return f"`{directive.scope.value}` counts only on a line of its own, so it silences nothing here"
    if directive.scope is Scope.CLOSE:
        return "`enable` ends nothing: no `disable` of these rules runs at this indentation"
    if directive.codes is None:
        return f"`{directive.scope.value}` silences nothing here"
    last = len(unused) == 1
    return f"{', '.join(f'`{each.text}`' for each in unused)} silence{'s' * last} nothing here"


def _about(source: Source, directive: Directive, codes: tuple[Code, ...], rule: RuleMetadata, message: str) -> Finding:
    fix = _fix(source, directive, tuple(each for each in directive.every if each not in codes))
    return _finding(rule, codes[0].start, codes[-1].end, message, fix)


def _fix(source: Source, directive: Directive, kept: tuple[Code, ...]) -> Fix | None:
    edits = tuple(_without(directive.every, kept)) if kept else _removal(source, directive)
    gone = ", ".join(f"`{each.text}`" for each in directive.every if each not in kept)
    return Fix(f"Remove {gone}" if kept else "Remove the suppression", edits) if edits else None


def _finding(rule: RuleMetadata, start: int, end: int, message: str, fix: Fix | None) -> Finding:
    return Finding(rule.code, rule.name, start, end, message, Confidence.CERTAIN, (), fix, rule.severity)


# ---------------------------------------------------------------------- what is taken away
def _removal(source: Source, directive: Directive) -> tuple[Edit, ...]:
    """Take a whole directive away and leave what else the comment says; nothing where that would become an order."""
    comment = directive.comment
    end = comment.start + len(comment.text.encode())
    before = source.utf8[comment.start : directive.start].rstrip()
    words = source.slice(directive.end, end).lstrip(" \t,;:-–—")
    rest = end - len(words.encode())
    if words.startswith("#"):
        return (Edit(directive.start, rest, ""),)
    if words:
        return () if _ORDERS.match(words) else (Edit(directive.start, rest, "# "),)
    if before:
        return (Edit(comment.start + len(before), end, ""),)
    return (_whole(source, directive),)


def _without(every: tuple[Code, ...], kept: tuple[Code, ...]) -> Iterator[Edit]:
    """Take codes out of a list, each run of them with the commas that it brought."""
    last: Code | None = None
    for at, code in enumerate(every):
        if code not in kept:
            continue
        if last is not None and every[at - 1] is not last:
            yield Edit(last.end, every[at - 1].end, "")
        if last is None and at:
            yield Edit(every[0].start, code.start, "")
        last = code
    if last is not None and every[-1] is not last:
        yield Edit(last.end, every[-1].end, "")


def _whole(source: Source, directive: Directive) -> Edit:
    """Take the comment away: its row if it stands alone, else the blanks before it too."""
    comment = directive.comment
    start = source.line_starts[comment.row - 1]
    end = comment.start + len(comment.text.encode())
    if comment.alone:
        following = source.line_starts[comment.row] if comment.row < len(source.line_starts) else len(source.utf8)
        return Edit(start, following, "")
    code = source.utf8[start : comment.start].rstrip(b" \t\f")
    return Edit(start + len(code), end, "")
