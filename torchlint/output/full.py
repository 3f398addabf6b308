"""The report for people: the source line with a caret, the steps that led there, and the fix as a small diff.

What may break a run is shown so. What is only old takes a line for each finding, and where there is much of it a line
for each file, unless all is asked for.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from torchlint.diagnostics.model import Applicability, Fix, Severity
from torchlint.output import concise
from torchlint.output.excerpts import changes, cropped
from torchlint.output.report import SEVERITY_STYLES, LocatedFinding, Report
from torchlint.output.screen import Screen, code, columns, printable

_DIFF_LINES = 12
_PROMISE = {
    Applicability.SAFE: "",
    Applicability.UNSAFE: " (unsafe: with --unsafe-fixes)",
    Applicability.DISPLAY: " (shown only, never applied)",
}


_MOST_LINES = 20
"""Findings of what is only old that are shown by a line for each."""
_MOST_FILES = 25


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the lines of the report, an empty one behind each finding that is shown in full."""
    old = []
    for place in report.places:
        if report.is_short and place.finding.severity is Severity.LEGACY:
            old.append(place)
            continue
        yield from _finding(place, report, screen)
        yield ""
    if len(old) <= _MOST_LINES:
        yield from (concise.line(each, screen, report.fixable(each.finding)) for each in old)
    else:
        yield from _by_file(old, screen)
    if old:
        yield ""


def _by_file(places: list[LocatedFinding], screen: Screen) -> Iterator[str]:
    """Yield a line for each file, those with most findings first, and how to see more."""
    files: dict[str, Counter[str]] = {}
    for place in places:
        files.setdefault(place.path, Counter())[place.finding.code] += 1
    ordered = sorted(files.items(), key=lambda each: (-each[1].total(), each[0]))
    for path, codes in ordered[:_MOST_FILES]:
        parts = (f"{screen.paint(code, 'cyan')} × {count}" for code, count in sorted(codes.items()))
        yield f"{screen.paint(printable(path), 'bold')}: {codes.total()} legacy ({', '.join(parts)})"
    if rest := ordered[_MOST_FILES:]:
        yield f"… and {sum(codes.total() for _, codes in rest)} more in {len(rest)} file{'s' * (len(rest) != 1)}"
    yield "To see each of them, use --output-format concise, or -v for reasons and repairs."


def _finding(place: LocatedFinding, report: Report, screen: Screen) -> Iterator[str]:
    finding, row = place.finding, place.start[0]
    mark, style = "[*] " if report.fixable(finding) else "", SEVERITY_STYLES[finding.severity]
    head = f"{finding.code} {mark}{printable(finding.message)}"
    first, *others = _wrapped(head, screen.width, "  ")
    painted = screen.paint(finding.code, style) + (" " + screen.paint("[*]", "cyan") if mark else "")
    yield first.replace(f"{finding.code} {mark}".rstrip(), painted, 1)
    yield from others
    gutter = " " * max(len(str(row)), len(str(place.end[0])))
    arrow = screen.paint(f"{gutter}-->", "blue")
    rating = f"{screen.paint(str(finding.severity), style)}, {finding.confidence}"
    yield f"{arrow} {printable(place.where)} {screen.paint(finding.name, 'dim')} ({rating})"
    if place.source is not None:
        yield from _excerpt(place, gutter, screen)
    for step in finding.why:
        yield from _note("why", step, gutter, screen)
    if finding.fix is not None:
        yield from _fix(place, finding.fix, gutter, screen)


def _excerpt(place: LocatedFinding, gutter: str, screen: Screen) -> Iterator[str]:
    (row, column), (end_row, end_column) = place.start, place.end
    bar = screen.paint("|", "blue")
    line = place.line
    stop = end_column - 1 if end_row == row else len(line)
    before, word, after = code(line[: column - 1]), code(line[column - 1 : stop]), code(line[stop:])
    before, word, after = cropped(before, word, after, screen.code_width - len(gutter) - 3)
    yield f"{gutter} {bar}"
    yield f"{screen.paint(str(row).rjust(len(gutter)), 'blue')} {bar} {before}{word}{after}".rstrip()
    caret = screen.paint("^" * max(columns(word), 1), SEVERITY_STYLES[place.finding.severity])
    yield f"{gutter} {bar} {' ' * columns(before)}{caret}"


def _note(label: str, text: str, gutter: str, screen: Screen, style: str = "bold") -> Iterator[str]:
    lines = _wrapped(printable(text), screen.width - len(gutter) - len(label) - 5, "")
    lead = f"{gutter} {screen.paint('=', 'blue')} {screen.paint(f'{label}:', style)} "
    for line in lines:
        yield lead + line
        lead = " " * (len(gutter) + len(label) + 5)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    lines = textwrap.wrap(
        text, max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines or [""]


def _fix(place: LocatedFinding, fix: Fix, gutter: str, screen: Screen) -> Iterator[str]:
    yield from _note("fix", fix.title + _PROMISE[fix.applicability], gutter, screen, "green")
    if place.source is None:
        return
    room = screen.code_width - len(gutter) - 5
    for shown, (_, sign, line) in enumerate(changes(place.source, fix, room)):
        if shown == _DIFF_LINES:
            yield f"{gutter}   …"
            return
        yield f"{gutter}   {screen.paint(f'{sign} {line}'.rstrip(), 'red' if sign == '-' else 'green')}"
