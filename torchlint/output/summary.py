"""The words at the end of a run: how many findings, how many of them a flag would fix, and what was fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchlint.output.report import Report
from torchlint.output.screen import Screen, printable


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the closing line."""
    counts = report.counts()
    fixed = sum(len(findings) for _, findings in report.fixed)
    if not counts["found"] and not fixed:
        yield screen.paint("All checks passed!", "green") + _known(report)
        return
    left = f"{_parted(counts)}{_hint(counts, report.is_repaired)}{_known(report)}"
    if not fixed:
        yield f"Found {left}"
    elif counts["found"]:
        yield f"Fixed {_findings(fixed)}{_later(fixed, report.at_first)}; left: {left}"
    else:
        yield f"Fixed {_findings(fixed)}{_later(fixed, report.at_first)}, nothing is left.{_known(report)}"


def fixes(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the list of ``--show-fixes``."""
    total = sum(len(findings) for _, findings in report.fixed)
    if not total:
        return
    yield f"Fixed {_findings(total)}:"
    for path, findings in report.fixed:
        if findings:
            yield f"- {screen.paint(printable(path), 'bold')}:"
            for (code, name), count in sorted(Counter((each.code, each.name) for each in findings).items()):
                yield f"    {count} × {screen.paint(code, 'red')} ({name})"
    yield ""


def would_fix(report: Report, paths: int) -> str:
    """Return the closing line of ``--diff``."""
    count = sum(len(findings) for _, findings in report.fixed)
    more = _later(count, report.at_first)
    return f"Would fix {_findings(count)} in {paths} file{'s' * (paths != 1)}{more}." if count else "No fix to apply."


def did_fix(report: Report) -> str:
    """Return the closing line of ``--fix-only``."""
    count = sum(len(findings) for _, findings in report.fixed)
    return f"Fixed {_findings(count)}{_later(count, report.at_first)}."


def silenced(count: int, paths: int) -> str:
    """Return the closing line of ``--add-noqa``."""
    return f"Silenced {_findings(count)} in {paths} file{'s' * (paths != 1)}." if count else "Nothing to silence."


def gone(count: int, name: str, told: bool) -> str:
    """Tell that entries of a baseline have no finding any more."""
    more = "" if told else f"; -v lists {'it' if count == 1 else 'them'}"
    no_longer = "1 baseline entry no longer matches" if count == 1 else f"{count} baseline entries no longer match"
    return f"{no_longer} ({name}{more}); remove {'it' if count == 1 else 'them'} with --prune-baseline"


def _parted(counts: Counter[str]) -> str:
    """Return ``1 syntax error, 12 hazards (3 fixable), 85 legacy (71 fixable), 1 file skipped``."""
    kinds = {
        "broken": f"{counts['broken']} syntax error{'s' * (counts['broken'] != 1)}",
        "hazards": f"{counts['hazards']} hazard{'s' * (counts['hazards'] != 1)}",
        "legacy": f"{counts['legacy']} legacy",
        "skipped": f"{counts['skipped']} file{'s' * (counts['skipped'] != 1)} skipped",
    }
    parts = []
    for word, told in kinds.items():
        fixable = counts[f"{word} fixable"]
        if counts[word]:
            parts.append(told + f" ({fixable} fixable)" * bool(fixable))
    return ", ".join(parts)


def _hint(counts: Counter[str], is_repaired: bool) -> str:
    """Return which flags repair what is fixable; what is left of a repaired file could not be."""
    offers = ["fix with --fix"] * bool(counts["fixable"] and not is_repaired)
    if counts["unsafe"]:
        offers.append(f"{counts['unsafe']}{' more' * bool(offers)} with --unsafe-fixes")
    return f": {', '.join(offers)}." if offers else "."


def _later(fixed: int, at_first: int) -> str:
    """Say how many fixes came up when others were applied: a name that nothing uses any more, for one."""
    later = fixed - at_first
    return f" ({later} of them came up after other fixes)" if 0 < later < fixed else ""


def _known(report: Report) -> str:
    return f" {report.known} known." if report.known else ""


def _findings(count: int) -> str:
    return f"{count} finding{'s' * (count != 1)}"
