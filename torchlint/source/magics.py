"""IPython's own syntax as neutral Python: every character of it makes room for one other, so that places stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.source.notebook_json import Span
from torchlint.source.valid_python import is_python

PYTHON_CELLS = frozenset(
    "capture debug filprofile heat memit memray_flamegraph prun pyinstrument scalene snakeviz time timeit".split()
)
"""Cell magics whose body is Python that runs in the notebook's own namespace."""

# A pair of carriage return and newline is one thing here: read in two ways, each line would double the work.
_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*%%(\w+)(?!\w*\?)")
_MAYBE = re.compile(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*(?:\#.*)?\r?$", re.MULTILINE)
_ESCAPE = re.compile(r"[ \t]*(?=[%!?,;/])")
_ASSIGNED = re.compile(r"[ \t]*(?=%\w|!)")
_TO_THE_END = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|\r|\n|.|\Z))*")
"""Up to the end of the line, or of the lines that backslashes join to it."""

# A statement behind one of these is run as it stands. Options are ASCII, so that no byte moves either; few, because
# `-tt` can be read in two ways.
_TIMED = re.compile(
    r"[ \t]*%(?:time|(?:timeit|memit|prun)(?:[ \t]+-(?:[nrpltsTDi][ \t]*[!-~]+|[tcqovr]+)){0,8})[ \t]+(?=[^\s?-])",
    re.ASCII,
)
_TOKEN = re.compile(
    r"""(?P<string>'''(?:\\.|(?!''').)*(?:'''|\Z)|\"""(?:\\.|(?!\""").)*(?:\"""|\Z)
          |'(?:\\.|[^'\\\r\n])*'?|"(?:\\.|[^"\\\r\n])*"?)
      |(?P<comment>\#[^\r\n]*)
      |(?P<joined>\\(?:\r\n|\r|\n))
      |(?P<end>\r\n|\r|\n)
      |(?P<open>[(\[{]) | (?P<close>[)\]}])
      |(?P<operator>(?:\*\*|//|<<|>>|[=!<>:+\-*/%@&|^])=)
      |(?P<assign>=)
      |(?P<help>\?+)
      |(?P<blank>[ \t\f]+)
      |(?P<other>[^'"\#\\\r\n()\[\]{}=!<>:+\-*/%@&|^? \t\f]+|.)""",
    re.DOTALL | re.VERBOSE,
)
_QUESTION = re.compile(r"[ \t]*([^ \t\r\n][^\r\n]*)(?<=[\w*\]?])\?[ \t]*(?:\#[^\r\n]*)?\Z")
_ROW = re.compile(r"[^\r\n]+")
_ALONE = re.compile(
    r"\s*(?:pip|pip3|conda|mamba|micromamba|uv|apt|apt-get|cd|ls|ll|cat|cp|mv|rm|mkdir|rmdir|pwd|man|less|more|ldir|env"
    r"|who|whos|time|timeit|matplotlib|pylab|load_ext|reload_ext|run|autoreload|debug|history|pinfo|store|reset)"
    r"(?:[ \t][^\r\n]*)?\s*"
)


@dataclass(frozen=True, slots=True)
class Neutral:
    """Python in which every character stands where it stood, and the spans whose original is something else."""

    text: str
    shielded: tuple[Span, ...] = ()


def neutral(source: str) -> Neutral:
    """Write a cell's magics, shell commands and questions as Python that does nothing and of which nothing is known.

    A cell whose magic takes its body for something other than Python becomes comments.
    """
    magic = _CELL_MAGIC.match(source)
    if magic is not None and magic[1] not in PYTHON_CELLS:
        return silenced(source)
    if magic is None and not _MAYBE.search(source):
        return Neutral(source)
    start = magic.start(1) - 2 if magic is not None else 0
    pieces, spans, last = [source[:start]], [], start
    if magic is not None:
        last = _end_of_line(source, start)
        pieces.append(_commented(source[start:last]))
        spans.append((start - 1, last))
    for first, end, written in _escapes(source, last):
        pieces += [source[last:first], written]
        spans.append((first, end))
        last = end
    return Neutral("".join([*pieces, source[last:]]), tuple(spans))


def silenced(source: str) -> Neutral:
    """Write a whole cell as comments."""
    return Neutral(_commented(source.replace("\0", " ")), ((-1, len(source)),))


def runs_by_itself(source: str) -> bool:
    """Whether a cell that is no Python is one magic written without its `%`, which IPython allows on a single line."""
    return _ALONE.fullmatch(source) is not None


def _commented(text: str) -> str:
    return _ROW.sub(lambda row: "#" + row[0][1:], text)


def _escapes(source: str, at: int) -> Iterator[tuple[int, int, str]]:
    """Yield each part of the source that is not Python: from, up to, and what stands for it."""
    while at < len(source):
        if escape := _ESCAPE.match(source, at):
            end = _end_of_line(source, at)
            yield _escaped(source, escape.end(), end)
            at = end
        else:
            at, found = _logical_line(source, at)
            if found is not None:
                yield found
        at = _next_line(source, at)


def _logical_line(source: str, start: int) -> tuple[int, tuple[int, int, str] | None]:
    """Read a line of Python with all that brackets and backslashes join to it; give its end and what is no Python."""
    depth, at, assigned, asks = 0, start, False, False
    while at < len(source):
        token = _TOKEN.match(source, at)
        assert token is not None
        kind, at = token.lastgroup, token.end()
        if kind == "end" and depth == 0:
            at = token.start()
            break
        depth = max(depth + (kind == "open") - (kind == "close"), 0)
        if kind == "assign" and depth == 0 and not assigned:
            assigned = True
            if command := _ASSIGNED.match(source, at):
                first, end = command.end(), _end_of_line(source, command.end())
                return end, (first, end, "__"[: end - first] + _commented(source[first + 2 : end]))
        if kind not in ("blank", "comment", "joined", "end"):
            asks = kind == "help" and depth == 0
    question = _QUESTION.match(source, start, at) if asks else None
    return at, _opaque(source, question.start(1), at) if question is not None else None


def _escaped(source: str, start: int, end: int) -> tuple[int, int, str]:
    timed = _TIMED.match(source, start)
    if timed is not None and is_python(f"0;{source[timed.end() : end]}"):
        return start, timed.end(), "0" + " " * (timed.end() - start - 2) + ";"
    return _opaque(source, start, end)


def _opaque(source: str, start: int, end: int) -> tuple[int, int, str]:
    return start, end, "0" + _commented(source[start + 1 : end])


def _end_of_line(source: str, at: int) -> int:
    found = _TO_THE_END.match(source, at)
    assert found is not None
    return found.end()


def _next_line(source: str, at: int) -> int:
    found = re.compile(r"\r\n|\r|\n").match(source, at)
    return found.end() if found is not None else at + 1
