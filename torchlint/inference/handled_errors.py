"""Which functions a text calls where it handles errors, or expects them; told by its lines, without a tree.

More is found than stands there: a word in a string counts, and whether the error is one of a conversion is told by the
names of the classes alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENING = re.compile(r"([^\S\n]*)(?:(try)\s*:|(?:async\s+)?with\b[^\n]*(?:[Rr]aises|suppress)\w*\s*\()")
_EXCEPT = re.compile(r"except\b\s*\*?\s*(.*?)(?:\s+as\s+\w+)?\s*:")
_GIVEN = re.compile(r"(?:[Rr]aises\w*|suppress|retry)\s*\([^()\n]*,\s*(?:lambda\b[^:\n]*:\s*)?([\w.]+)")
"""``assertRaises(RuntimeError, to_array, x)``: a function that is handed over."""
_CALLED = re.compile(r"(\w+)\s*\(|[(\[,=]\s*(?:\w+\.)*(\w+)\s*(?=[,)\]])")
# fmt: off
UNRELATED = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "BrokenPipeError", "ConnectionError", "EOFError",
    "FileExistsError", "FileNotFoundError", "FloatingPointError", "GeneratorExit", "IOError", "ImportError",
    "InterruptedError", "KeyError", "KeyboardInterrupt", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "OSError", "OverflowError", "PermissionError", "RecursionError", "StopAsyncIteration",
    "StopIteration", "SyntaxError", "SystemExit", "TimeoutError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "ZeroDivisionError",
})
# fmt: on
"""Built-in classes of errors that no conversion of a tensor raises: their handlers expect something else."""


def called_where_handled(text: str) -> frozenset[str]:
    """Return the names of functions that a text calls, or hands over, where an error of theirs would be handled."""
    if not any(word in text for word in ("except", "aises", "suppress", "retry")):
        return frozenset()
    lines = text.splitlines()
    found = {each.rpartition(".")[2] for each in _GIVEN.findall(text)}
    for at, line in enumerate(lines):
        opening = _OPENING.match(line)
        if opening is None:
            continue
        block, behind = _block(lines, at, len(opening[1]))
        if opening[2] is None or any(_may_take(each) for each in _handlers(lines, behind, len(opening[1]))):
            found.update(word for pair in _CALLED.findall("\n".join((line, *block))) for word in pair if word)
    return frozenset(found)


def _block(lines: list[str], at: int, indent: int) -> tuple[list[str], int]:
    """Return the lines below one that belong to it, and where those behind them begin."""
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    return lines[at + 1 : end], end


def _handlers(lines: list[str], at: int, indent: int) -> Iterator[str]:
    """Yield the classes that the handlers behind a block name, as they are written."""
    while at < len(lines) and _indent(lines[at]) == indent and (found := _EXCEPT.match(lines[at].lstrip())):
        yield found[1]
        at = _block(lines, at, indent)[1]


def _may_take(classes: str) -> bool:
    names = [each.rpartition(".")[2] for each in re.findall(r"[\w.]+", classes)]
    return not names or any(name not in UNRELATED for name in names)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
