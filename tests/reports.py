"""Reports that hold everything at once, with hostile paths and texts, for the tests of the formats."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from tests.documents import MACHINE
from torchlint.diagnostics.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, Trouble
from torchlint.diagnostics.registry import BY_CODE, RULES
from torchlint.output import renderer
from torchlint.output.report import Report
from torchlint.output.screen import Screen
from torchlint.source.text import Source, decode

HOSTILE = (
    "a\n\r\t\x1b[31m\x07\x85 %41 ::error::x]]> </script><!-- & \"quoted\" 'é日𝒳' "
    "\u202e\u2028\ufeff\ufffe\uffff {0} \\u0041"
)
PATHS = (
    "plain.py",
    "a b/c d.py",
    "new\nline.py",
    "a,b:c%41;d=e.py",
    "quote\"'<&>]]>.py",
    "é/日本.py",
    "\x1b[2J.py",
    "\udcff\udc80.py",
    "/outside/a b.py",
    "-",
)
TEXT = "# é日𝒳\r\nx = 1\r\n\ty = 'é𝒳'; z = w.numpy(\r\n).data  # </script>\x01\r\n"


def source(path: str = "a.py", text: str = TEXT) -> Source:
    return decode(path, text.encode())


def finding(of: Source, word: str = "numpy", code: str = "TNS101", **changes: Any) -> Finding:
    at = of.utf8.index(word.encode())
    names = {entry.code: entry.name for entry in RULES}
    fields = {
        "message": "`.numpy()` may fail",
        "confidence": Confidence.CERTAIN,
        "severity": BY_CODE[code].severity,
        **changes,
    }
    return Finding(code, names[code], at, at + len(word.encode()), **fields)


def several_edits(of: Source, applicability: Applicability = Applicability.SAFE) -> Fix:
    """A fix in three places: two rows apart, one over a line end, one with line ends of its own."""
    numpy, end, one = (of.utf8.index(each) for each in (b"numpy", b"\r\n).data", b"1"))
    edits = (Edit(numpy, numpy, "detach().é𝒳"), Edit(end, end + 3, ")"), Edit(one, one + 1, "2\nv = '𝒳'\n"))
    return Fix("in three places", edits, overruled=applicability)


def everything() -> Report:
    """Findings of every kind under every path, and troubles with and without findings beside them."""
    results = []
    for path in PATHS:
        of = source(path)
        results.append(
            FileResult(
                path,
                of,
                (
                    finding(of, why=(HOSTILE, "a step, line 2", "another, other file.py line 7"), message=HOSTILE),
                    finding(of, "data", "TNS201", confidence=Confidence.LIKELY, fix=several_edits(of)),
                    finding(of, "data", "TNS203", fix=several_edits(of, Applicability.DISPLAY)),
                    finding(
                        of, "w.", "TNS103", confidence=Confidence.POSSIBLE, fix=several_edits(of, Applicability.UNSAFE)
                    ),
                    finding(of, "é", "TNS900"),
                ),
                (finding(of, "z", "TNS301", why=("silenced",)),),
            )
        )
    results.append(
        FileResult(
            "unread.py",
            None,
            (Finding("TNS900", "syntax-error", 0, 0, HOSTILE, Confidence.CERTAIN),),
        )
    )
    troubles = (
        Trouble("plain.py", "rule TNS101 failed here"),
        Trouble("\udcff\n.py", HOSTILE),
        Trouble("x.py", "gone"),
    )
    return Report(tuple(results), troubles=troubles)


def document(output_format: str, report: Report) -> bytes:
    text = io.StringIO()
    for line in renderer(output_format)(report, Screen()):
        print(line, file=text)
    return text.getvalue().encode("ascii" if output_format in (*MACHINE, "html") else "utf-8")


def applied(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]], measure: Callable[[str], Any]) -> str:
    """Apply edits given by row and column, as a consumer does; ``measure`` gives a row in the columns' units."""
    lines = text.splitlines(keepends=True)
    starts = [sum(len(measure(line)) for line in lines[:row]) for row in range(len(lines) + 1)]
    whole = measure(text)
    for start, end, new in sorted(edits, reverse=True):
        at, stop = starts[start[0] - 1] + start[1] - 1, starts[end[0] - 1] + end[1] - 1
        whole = whole[:at] + measure(new) + whole[stop:]
    return whole if isinstance(whole, str) else whole.decode()
