"""One self-contained page for people who decide: each finding, the worst first, with code, reasons and repair."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby, islice

from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.diagnostics.registry import BY_CODE
from torchlint.output.excerpts import changes, cropped
from torchlint.output.highlight import highlighted
from torchlint.output.report import LocatedFinding, Report, page
from torchlint.output.screen import Screen, code, columns, printable
from torchlint.output.statistics import Tally, advice, by_file, by_folder, by_rule
from torchlint.source.text import Source
from torchlint.version import VERSION

_AROUND = 2
"""Rows of code shown above and below a finding."""
_WIDTH = 300
"""Columns of a row that are shown: a data file of one long row must not make a page of megabytes."""
_CHANGED = 40
"""Rows of a repair that are shown."""
_FOLDERS = 12
"""Folders that have a bar of their own; the rest share one."""
_OPEN = 20
"""A report of at most so many findings shows them unfolded."""
_PROMISE = {
    "safe": "Repaired by --fix",
    "unsafe": "Repaired by --fix --unsafe-fixes: something observable may differ",
    "display": "Shown only, never applied",
}
_FIXES = {
    "safe": "repaired by --fix",
    "unsafe": "repaired by --unsafe-fixes",
    "display": "repair shown only",
    "none": "no repair",
}


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield the page, in ASCII: its bytes must not hang on the encoding of the stream."""
    del screen
    for line in _page(report):
        yield line.encode("ascii", "xmlcharrefreplace").decode()


def _page(report: Report) -> Iterator[str]:
    places = sorted(report.places, key=lambda each: (each.finding.severity, each.finding.confidence), reverse=True)
    style, script = (_part(name) for name in ("html.css", "html.js"))
    title = f"{_many(len(places), 'finding')} in {_many(len(by_file(report)), 'file')}" if places else "No findings"
    yield "<!DOCTYPE html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<link rel="icon" href="data:,">'
    yield f"<title>torchlint: {title}</title>"
    yield f"<style>{style}</style>"
    yield "</head>"
    yield "<body>"
    yield f"<header><h1>torchlint: {title}</h1>"
    yield from _totals(report, places)
    yield "</header>"
    yield "<main>"
    yield from _troubles(report)
    if places:
        yield from _findings(places)
        yield from _charts(report)
    yield "</main>"
    yield f"<footer>Made by torchlint {VERSION}. Lines and columns count from 1.</footer>"
    yield f"<script>{script}</script>"
    yield "</body>"
    yield "</html>"


def _part(name: str) -> str:
    return (files("torchlint") / "output" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow this page's own style and script and nothing else: no address can be fetched, no smuggled script run."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    style_hash, script_hash = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _text(value: str) -> str:
    """Return text that is only text, in an element or an attribute."""
    return escape(printable(value))


def _prose(text: str) -> str:
    """Return a sentence as HTML, what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


# ---------------------------------------------------------------------- above the findings
def _totals(report: Report, places: list[LocatedFinding]) -> Iterator[str]:
    yield '<dl class="totals">'
    for severity, count in Counter(place.finding.severity for place in places).items():
        mark = f'data-field="severity" data-value="{severity}"'
        yield f'<div class="{severity}"><dt {mark}>{severity}</dt><dd>{count:,}</dd></div>'
    fixed = sum(len(each) for _, each in report.fixed)
    silenced = sum(len(each.suppressed) for each in report.results)
    for words, count in (("repaired in this run", fixed), ("silenced by comments", silenced)):
        if count:
            yield f"<div><dt>{words}</dt><dd>{count:,}</dd></div>"
    yield "</dl>"
    if begin := "".join(f"<li><code>{_text(command)}</code> {_text(does)}</li>" for command, does in advice(report)):
        yield f'<ul class="begin">{begin}</ul>'


def _troubles(report: Report) -> Iterator[str]:
    if not report.troubles:
        return
    yield '<section aria-labelledby="troubles"><h2 id="troubles">Not checked</h2><ul>'
    for trouble in report.troubles:
        yield f'<li><span class="path">{_text(trouble.path)}</span>: {_prose(trouble.message)}</li>'
    yield "</ul></section>"


# ---------------------------------------------------------------------- findings
def _findings(places: list[LocatedFinding]) -> Iterator[str]:
    yield '<section aria-labelledby="findings"><h2 id="findings">Findings</h2>'
    yield from _filters(places)
    yield '<p id="none" class="quiet" hidden>No finding matches: take a filter away.</p>'
    for path, listed in groupby(places, key=lambda place: place.path):
        yield f'<section class="file"><h3 class="path">{_text(path)}</h3>'
        for place in listed:
            yield from _details(place, len(places) <= _OPEN)
        yield "</section>"
    yield "</section>"


def _fields(place: LocatedFinding) -> dict[str, str]:
    """Return what can be filtered by: a value of the finding for each field of the form."""
    finding = place.finding
    return {
        "severity": str(finding.severity),
        "rule": finding.code,
        "folder": os.path.dirname(place.path) or ".",
        "confidence": str(finding.confidence),
        "fix": str(finding.fix.applicability) if finding.fix is not None else "none",
    }


def _filters(places: list[LocatedFinding]) -> Iterator[str]:
    """Yield the form; the script shows it, since without the script it could do nothing."""
    found = [_fields(place) for place in places]
    hint = "words in path, message or code"
    yield '<form id="filters" hidden>'
    yield f'<label class="wide">Search<input type="search" name="search" placeholder="{hint}"></label>'
    for label, name, words in (
        ("Severity", "severity", {str(each): str(each) for each in reversed(Severity)}),
        ("Rule", "rule", {key: f"{key} {entry.name}" for key, entry in BY_CODE.items()}),
        ("Folder", "folder", {each: each for each in sorted({each["folder"] for each in found})}),
        ("Confidence", "confidence", {str(each): str(each) for each in reversed(Confidence)}),
        ("Repair", "fix", _FIXES),
    ):
        counts = Counter(each[name] for each in found)
        yield f'<label>{label}<select name="{name}"><option value="">all</option>'
        for key, told in words.items():
            if counts[key]:
                yield f'<option value="{_text(key)}">{_text(told)} ({counts[key]:,})</option>'
        yield "</select></label>"
    yield '<div class="actions"><output id="shown" aria-live="polite"></output>'
    yield '<button type="button" id="more" aria-expanded="false">Filters</button>'
    yield '<button type="button" id="open">Unfold</button><button type="button" id="close">Fold</button>'
    yield '<button type="reset">Clear filters</button></div></form>'


def _details(place: LocatedFinding, unfolded: bool) -> Iterator[str]:
    finding, fields = place.finding, _fields(place)
    marks = " ".join(f'data-{name}="{_text(value)}"' for name, value in fields.items())
    yield f"<details {marks}{' open' * unfolded}><summary><b>{finding.code}</b>"
    yield f'<span class="message">{_prose(finding.message)}</span>'
    yield f'<span class="tags"><span class="{finding.severity}">{finding.severity}</span> · '
    yield f'{finding.confidence} · {place.spot}</span></summary><div class="body">'
    if place.source is not None:
        yield from _context(place, place.source)
    if finding.why:
        yield "<h4>Why</h4><ol>"
        yield from (f"<li>{_prose(step)}</li>" for step in finding.why)
        yield "</ol>"
    if finding.fix is not None:
        yield f"<h4>{_PROMISE[fields['fix']]}</h4><p>{_prose(finding.fix.title)}</p>"
        if place.source is not None:
            yield from _diff(place.source, finding.fix)
    yield f'<p><a href="{page(finding.name)}" rel="noreferrer">{finding.code} {finding.name}</a></p>'
    yield "</div></details>"


def _context(place: LocatedFinding, source: Source) -> Iterator[str]:
    row = source.position(place.finding.start)[0]
    last = len(source.line_starts) - (source.line_starts[-1] == len(source.utf8) and len(source.line_starts) > 1)
    around = range(max(row - _AROUND, 1), min(row + _AROUND, max(last, row)) + 1)
    lines = {each: code(source.original.line(each)) for each in around if source.cell(each) == source.cell(row)}
    indent = min(_indent(lines.values()), len(code(place.line[: place.start[1] - 1])))
    rows = []
    for each, line in lines.items():
        shown = _faulty(place, indent) if each == row else highlighted(_cut(line[indent:]))
        rows.append(f'<span data-row="{_row(source, each)}">{shown}</span>')
    yield f'<pre tabindex="0" aria-label="Code around line {place.start[0]}">{"".join(rows)}</pre>'


def _row(source: Source, row: int) -> int:
    return source.address(source.line_starts[row - 1])[0]


def _indent(lines: Iterable[str]) -> int:
    """Count the blanks that all lines begin with: code is shown without them, for those who read it on a telephone."""
    return min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)


def _faulty(place: LocatedFinding, indent: int) -> str:
    (row, column), (end_row, end_column) = place.start, place.end
    line = place.line
    stop = end_column - 1 if end_row == row else len(line)
    parts = cropped(code(line[: column - 1])[indent:], code(line[column - 1 : stop]), code(line[stop:]), _WIDTH)
    before, word, after = (highlighted(part) for part in parts)
    return f"{before}<mark>{word}</mark>{after}" if word else f"{before}{after}"


def _cut(line: str) -> str:
    return line if columns(line) <= _WIDTH else "".join(cropped("", "", line, _WIDTH))


def _diff(source: Source, fix: Fix) -> Iterator[str]:
    made = list(islice(changes(source, fix, _WIDTH), _CHANGED + 1))
    several = len({row for row, _, _ in made}) > 1
    indent = _indent(line for _, _, line in made)
    rows, before = [], 0
    for row, sign, line in made[:_CHANGED]:
        if several and row != before:
            cell = f"cell {source.cell(row)}, " if source.cell(row) is not None else ""
            rows.append(f"<span>{cell}line {_row(source, row)}</span>")
        before = row
        rows.append(f"<{_tag(sign)}>{highlighted(line[indent:])}</{_tag(sign)}>")
    if len(made) > _CHANGED:
        rows.append("<span>…</span>")
    if rows:
        yield f'<pre class="diff" tabindex="0" aria-label="What the repair changes">{"".join(rows)}</pre>'


def _tag(sign: str) -> str:
    return "del" if sign == "-" else "ins"


# ---------------------------------------------------------------------- below the findings
def _charts(report: Report) -> Iterator[str]:
    yield '<section aria-labelledby="where"><h2 id="where">Where they are</h2>'
    if report.counts()["fixable"]:
        flags = "--fix --unsafe-fixes" if report.unsafe_fixes else "--fix"
        yield f'<p class="key quiet">{_swatch("safe")}repaired by <code>{flags}</code>{_swatch("all")}the rest</p>'
    rules = [(f"<b>{each.key}</b> {BY_CODE[each.key].name}", each) for each in by_rule(report)]
    folders = [(f'<span class="path">{_text(each.key)}</span>', each) for each in by_folder(report)]
    yield '<div class="charts">'
    yield from _chart("rule", rules)
    yield from _chart("folder", folders[:_FOLDERS], folders[_FOLDERS:])
    yield "</div></section>"


def _swatch(kind: str) -> str:
    return f'<svg aria-hidden="true"><rect class="{kind}" width="100%" height="100%"/></svg>'


def _chart(field: str, rows: list[tuple[str, Tally]], rest: Sequence[tuple[str, Tally]] = ()) -> Iterator[str]:
    """Yield bars as a table, so that they read without being seen; those that share a row have none."""
    longest = max(tally.count for _, tally in rows)
    yield f"<table><caption>By {field}</caption><tbody>"
    for label, tally in rows:
        mark = f'data-field="{field}" data-value="{_text(tally.key)}"'
        yield f'<tr><th scope="row" {mark}>{label}</th>{_bar(tally, longest)}</tr>'
    if rest:
        words, count = _many(len(rest), f"more {field}"), sum(tally.count for _, tally in rest)
        yield f'<tr class="quiet"><th scope="row">{words}</th><td></td><td class="n">{count:,}</td></tr>'
    yield "</tbody></table>"


def _bar(tally: Tally, longest: int) -> str:
    whole, part = (100 * each / longest for each in (tally.count, tally.fixable))
    return (
        f'<td><svg aria-hidden="true"><rect class="all" width="{whole:.2f}%" height="100%" rx="2"/>'
        f'<rect class="safe" width="{part:.2f}%" height="100%" rx="2"/></svg></td><td class="n">{tally.count:,}</td>'
    )
