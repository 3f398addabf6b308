"""One finding on the page: its code in context, the steps that led there, and what its repair changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import islice

from torchlint.model import Fix
from torchlint.output.excerpts import changes, cropped
from torchlint.output.report import Place, page
from torchlint.output.screen import code, columns, printable
from torchlint.source import Source

_AROUND = 2
"""Rows of code shown above and below a finding."""
_WIDTH = 300
"""Columns of a row that are shown: a data file of one long row must not make a page of megabytes."""
_CHANGED = 40
"""Rows of a repair that are shown."""
_PROMISE = {
    "safe": "Repaired by --fix",
    "unsafe": "Repaired by --fix --unsafe-fixes: something observable may differ",
    "display": "Shown only, never applied",
}


def details(place: Place, folder: str, repair: str, unfolded: bool) -> Iterator[str]:
    """Give the element of a finding; ``folder`` is escaped, ``repair`` is a word for what becomes of it."""
    finding = place.finding
    marks = (
        f'data-rule="{finding.code}" data-folder="{folder}" data-confidence="{finding.confidence}" data-fix="{repair}"'
    )
    yield f"<details {marks}{' open' * unfolded}><summary><b>{finding.code}</b>"
    yield f'<span class="message">{prose(finding.message)}</span>'
    yield f'<span class="tags">{finding.confidence} · {place.spot}</span></summary><div class="body">'
    if place.source is not None:
        yield from _context(place, place.source)
    if finding.why:
        yield "<h4>Why</h4><ol>"
        yield from (f"<li>{prose(step)}</li>" for step in finding.why)
        yield "</ol>"
    if finding.fix is not None:
        yield f"<h4>{_PROMISE[repair]}</h4><p>{prose(finding.fix.title)}</p>"
        if place.source is not None:
            yield from _diff(place.source, finding.fix)
    yield f'<p><a href="{page(finding.name)}" rel="noreferrer">{finding.code} {finding.name}</a></p>'
    yield "</div></details>"


def prose(text: str) -> str:
    """Give a sentence as HTML, what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(printable(text)))


def _context(place: Place, source: Source) -> Iterator[str]:
    row = source.position(place.finding.start)[0]
    last = len(source.line_starts) - (source.line_starts[-1] == len(source.utf8) and len(source.line_starts) > 1)
    rows = []
    for each in range(max(row - _AROUND, 1), min(row + _AROUND, max(last, row)) + 1):
        if source.cell(each) != source.cell(row):
            continue
        shown = _faulty(place) if each == row else escape(_cut(code(source.original.line(each))))
        rows.append(f'<span data-row="{_row(source, each)}">{shown}</span>')
    yield f'<pre tabindex="0" aria-label="Code around row {place.start[0]}">{"".join(rows)}</pre>'


def _row(source: Source, row: int) -> int:
    return source.address(source.line_starts[row - 1])[0]


def _faulty(place: Place) -> str:
    (row, column), (end_row, end_column) = place.start, place.end
    line = place.line
    stop = end_column - 1 if end_row == row else len(line)
    parts = cropped(code(line[: column - 1]), code(line[column - 1 : stop]), code(line[stop:]), _WIDTH)
    before, word, after = (escape(part) for part in parts)
    return f"{before}<mark>{word}</mark>{after}" if word else f"{before}{after}"


def _cut(line: str) -> str:
    return line if columns(line) <= _WIDTH else "".join(cropped("", "", line, _WIDTH))


def _diff(source: Source, fix: Fix) -> Iterator[str]:
    made = list(islice(changes(source, fix, _WIDTH), _CHANGED + 1))
    several = len({row for row, _, _ in made}) > 1
    rows, before = [], 0
    for row, sign, line in made[:_CHANGED]:
        if several and row != before:
            cell = f"cell {source.cell(row)}, " if source.cell(row) is not None else ""
            rows.append(f"<span>{cell}row {_row(source, row)}</span>")
        before = row
        rows.append(f"<{_tag(sign)}>{escape(line)}</{_tag(sign)}>")
    if len(made) > _CHANGED:
        rows.append("<span>…</span>")
    if rows:
        yield f'<pre class="diff" tabindex="0" aria-label="What the repair changes">{"".join(rows)}</pre>'


def _tag(sign: str) -> str:
    return "del" if sign == "-" else "ins"
