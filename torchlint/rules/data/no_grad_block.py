"""The edits that put statements into a `with torch.no_grad():` block, neighbours into one, layout and comments kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.repairs import torch_name

Statement = cst.SimpleStatementLine

_SPANS_ROWS = re.compile(r"\"\"\"|'''|\\\r?\n")
"""What strings of several rows are written with."""
_FIRST_INDENT = re.compile(r":[ \t]*(?:#[^\n]*)?\r?\n([ \t]+)\S")
_MOST = 50
"""Statements in one block: each of their findings carries the edits of all."""


def statement_of(node: cst.CSTNode, context: FileContext) -> Statement | None:
    """Return the statement on lines of its own that a node is part of; None in a header, a one-liner or behind `;`."""
    for above in context.ancestors(node):
        if isinstance(above, cst.SimpleStatementLine):
            in_block = isinstance(context.parent(above), cst.IndentedBlock | cst.Module)
            return above if in_block and len(above.body) == 1 else None
        if isinstance(above, cst.BaseCompoundStatement | cst.SimpleStatementSuite | cst.Lambda):
            return None
    return None


def neighbours(
    statement: Statement, belongs: Callable[[Statement], bool], context: FileContext
) -> tuple[Statement, ...]:
    """Return the run of statements, the given one among them, that share one block."""
    above = context.parent(statement)
    if not isinstance(above, cst.IndentedBlock | cst.Module) or not belongs(statement):
        return (statement,)
    body = [*above.body]
    at = start = body.index(statement)
    stop = at + 1
    while start and _joins(body[start - 1], belongs):
        start -= 1
    while stop < len(body) and _joins(body[stop], belongs):
        stop += 1
    start += (at - start) // _MOST * _MOST
    run = (each for each in body[start : min(stop, start + _MOST)] if isinstance(each, cst.SimpleStatementLine))
    return tuple(run)


def _joins(other: cst.CSTNode, belongs: Callable[[Statement], bool]) -> bool:
    return isinstance(other, cst.SimpleStatementLine) and len(other.body) == 1 and belongs(other)


def no_grad_edits(run: Sequence[Statement], context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits for the block; None where indenting would change a string, or mix tabs and blanks wrongly."""
    if any(_SPANS_ROWS.search(context.code(line)) for line in run):
        return None
    source = context.source
    first = source.position(context.span(run[0].body[0])[0])[0]
    last = source.position(max(context.span(run[-1])[0], context.outer_span(run[-1].body[-1])[1] - 1))[0]
    unit = _indent_unit(run[0], context)
    head = source.line(first)
    indent = head[: len(head) - len(head.lstrip())]
    spelled = torch_name(context, "no_grad", run[0])
    if indent + unit != unit + indent or spelled is None:
        return None
    name, imports = spelled
    start = source.line_starts[first - 1]
    edits = [Edit(start, start, f"{indent}with {name}():\n{unit}")]
    for row in range(first + 1, last + 1):
        if source.line(row).strip():
            at = source.line_starts[row - 1]
            edits.append(Edit(at, at, unit))
    if imports and imports[0].start == start:
        return Edit(start, start, imports[0].text + edits[0].text), *edits[1:]
    return (*imports, *edits)


def _indent_unit(statement: Statement, context: FileContext) -> str:
    """Return one level of indentation as the file writes it around here."""
    above = context.parent(statement)
    if isinstance(above, cst.IndentedBlock):
        return above.indent or context.module.default_indent
    found = _FIRST_INDENT.search(context.source.text)
    return found.group(1) if found else "    "
