"""How often each rule spoke, most often first, for ``--statistics``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from torchlint.output.report import Report
from torchlint.output.screen import Screen


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Give a table; ``[*]`` marks rules that ``--fix`` repairs everywhere, ``[-]`` those it repairs in places."""
    rows = list(_rows(report))
    width = max((len(str(count)) for _, _, count, _ in rows), default=0)
    for code, name, count, fixable in rows:
        mark = "[*]" if fixable == count else "[-]" if fixable else "[ ]"
        yield f"{count:>{width}}  {screen.paint(code, 'red')}  {screen.paint(mark, 'cyan')} {name}"


def as_json(report: Report) -> str:
    """Give the same as a list of objects."""
    return json.dumps(
        [
            {"code": code, "name": name, "count": count, "fixable_count": fixable}
            for code, name, count, fixable in _rows(report)
        ],
        indent=2,
    )


def _rows(report: Report) -> Iterator[tuple[str, str, int, int]]:
    every = [finding for result in report.results for finding in result.findings]
    fixable = Counter(each.code for each in every if report.fixable(each))
    counts = Counter((each.code, each.name) for each in every)
    for (code, name), count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        yield code, name, count, fixable[code]
