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
    left = f"{_parted(counts)}{_hint(counts)}{_known(report)}"
    if not fixed:
        yield f"Found {left}"
    elif counts["found"]:
        yield f"Fixed {_findings(fixed)}; left: {left}"
    else:
        yield f"Fixed {_findings(fixed)}, nothing is left.{_known(report)}"


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


def would_fix(count: int, paths: int) -> str:
    """Return the closing line of ``--diff``."""
    return f"Would fix {_findings(count)} in {paths} file{'s' * (paths != 1)}." if count else "No fix to apply."


def did_fix(report: Report) -> str:
    """Return the closing line of ``--fix-only``."""
    return f"Fixed {_findings(sum(len(findings) for _, findings in report.fixed))}."


def silenced(count: int, paths: int) -> str:
    """Return the closing line of ``--add-noqa``."""
    return f"Silenced {_findings(count)} in {paths} file{'s' * (paths != 1)}." if count else "Nothing to silence."


def gone(count: int, name: str, told: bool) -> str:
    """Tell that entries of a baseline have no finding any more."""
    more = "" if told else " (-v lists them)"
    return f"{_findings(count)} that {name} knows went away{more}: --prune-baseline takes them out"


def _parted(counts: Counter[str]) -> str:
    """Return ``12 hazards (3 fixable), 85 legacy (71 fixable)``."""
    hazards = f"{counts['hazards']} hazard{'s' * (counts['hazards'] != 1)}"
    parts = []
    for word, told in (("hazards", hazards), ("legacy", f"{counts['legacy']} legacy")):
        fixable = counts[f"{word} fixable"]
        if counts[word]:
            parts.append(told + f" ({fixable} fixable)" * bool(fixable))
    return ", ".join(parts)


def _hint(counts: Counter[str]) -> str:
    """Return which flags repair what is fixable."""
    offers = ["fix with --fix"] * bool(counts["fixable"])
    if counts["unsafe"]:
        offers.append(f"{counts['unsafe']}{' more' * bool(offers)} with --unsafe-fixes")
    return f": {', '.join(offers)}." if offers else "."


def _known(report: Report) -> str:
    return f" {report.known} known." if report.known else ""


def _findings(count: int) -> str:
    return f"{count} finding{'s' * (count != 1)}"
