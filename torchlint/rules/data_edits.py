"""The edits that take a `.data` away or put `.detach()` in its place, comments on the way kept."""

from __future__ import annotations

import libcst as cst

from torchlint.model import Edit
from torchlint.rule import FileContext


def detached(node: cst.Attribute, context: FileContext) -> Edit:
    """Write ``x.detach()`` for ``x.data``."""
    return context.replace(node.attr, "detach()")


def dropped(node: cst.Attribute, context: FileContext, instead: str = "") -> Edit:
    """Write ``x`` for ``x.data``, with something behind it if asked for; a comment before the dot stays."""
    start = context.outer_span(node.value)[1]
    end = context.span(node.attr)[1]
    gap = context.source.slice(start, end)
    if "#" not in gap:
        return Edit(start, end, instead)
    dot = end - len(gap[gap.rindex(".") :].encode())
    row, _ = context.source.position(dot)
    rest = context.source.slice(end, len(context.source.utf8)).split("\n", 1)[0]
    if not rest.strip() and not instead:  # the line holds nothing else: it goes with its newline
        return Edit(_newline_before(context, row), end, "")
    if rest.lstrip().startswith("#") and not instead:
        end += len(rest) - len(rest.lstrip())
    return Edit(dot, end, instead)


def _newline_before(context: FileContext, row: int) -> int:
    return context.source.line_starts[row - 2] + len(context.source.line(row - 1).encode())
