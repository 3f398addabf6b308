"""The edits that put statements into a `with torch.no_grad():` block, neighbours into one, layout and comments kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.repairs import torch_name

Statement = cst.SimpleStatementLine

_SPANS_ROWS = re.compile(r"\"\"\"|'''|\\\r?\n")
"""What strings of several rows are written with."""
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

    def belongs_too(other: cst.CSTNode) -> bool:
        return isinstance(other, cst.SimpleStatementLine) and len(other.body) == 1 and belongs(other)

    body = [*above.body]
    at = body.index(statement)
    before = [*takewhile(belongs_too, reversed(body[:at]))]
    run = [*reversed(before), *takewhile(belongs_too, body[at:])]
    start = len(before) // _MOST * _MOST
    return tuple(each for each in run[start : start + _MOST] if isinstance(each, cst.SimpleStatementLine))


def no_grad_edits(run: Sequence[Statement], context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits for the block; None where indenting would change a string, or mix tabs and blanks wrongly."""
    if any(_SPANS_ROWS.search(context.code(line)) for line in run):
        return None
    source = context.source
    first = source.position(context.span(run[0].body[0])[0])[0]
    last = source.position(max(context.span(run[-1])[0], context.outer_span(run[-1].body[-1])[1] - 1))[0]
    above = context.parent(run[0])
    unit = (isinstance(above, cst.IndentedBlock) and above.indent) or context.module.default_indent
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
