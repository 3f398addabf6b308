"""The edits that put statements into a `with torch.no_grad():` block, neighbours into one, layout and comments kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext, remembered
from torchlint.rules.repairs import Spelled, torch_name

Statement = cst.SimpleStatementLine | cst.If
Belongs = Callable[[cst.SimpleStatementLine], bool]
"""Whether a statement is one of those that go into the block."""

_STRINGS = (cst.SimpleString, cst.FormattedString)
_FIRST_INDENT = re.compile(r":[ \t]*(?:#[^\n]*)?\r?\n([ \t]+)\S")


def statement_of(node: cst.CSTNode, context: FileContext) -> cst.SimpleStatementLine | None:
    """Return the statement on lines of its own that a node is part of; None in a header, a one-liner or behind `;`."""
    for above in context.ancestors(node):
        if isinstance(above, cst.SimpleStatementLine):
            in_block = isinstance(context.parent(above), cst.IndentedBlock | cst.Module)
            return above if in_block and len(above.body) == 1 else None
        if isinstance(above, cst.BaseCompoundStatement | cst.SimpleStatementSuite | cst.Lambda):
            return None
    return None


def neighbours(statement: cst.SimpleStatementLine, belongs: Belongs, context: FileContext) -> list[Statement]:
    """Return the run of statements, the given one among them, that share one block.

    An `if` between or behind them goes in as a whole where all its branches hold such statements only.
    """
    run: list[Statement] = [statement]
    inner: Statement | None = statement
    while inner is not None:
        found = _run(inner, belongs, context)
        if found is None:
            break
        run = found
        inner = _branch_above(inner, context)
    return run


def no_grad_edits(run: Sequence[Statement], context: FileContext) -> tuple[Edit, ...] | None:
    """Make the edits for the block; None where indenting would change a string, or mix tabs and blanks wrongly."""
    if not _around_strings(context.module, context).isdisjoint(run):
        return None
    source = context.source
    first = source.position(context.span(_first_part(run[0]))[0])[0]
    last = source.position(max(context.span(run[-1])[0], _end(run[-1], context) - 1))[0]
    unit = _indent_unit(run[0], context)
    head = source.line(first)
    indent = head[: len(head) - len(head.lstrip())]
    if indent + unit != unit + indent:
        return None
    spelled = _no_grad(run[0], context)
    if spelled is None:
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


@remembered
def _no_grad(statement: Statement, context: FileContext) -> Spelled | None:
    return torch_name(context, "no_grad", statement)


def _run(statement: Statement, belongs: Belongs, context: FileContext) -> list[Statement] | None:
    """Return the statements around one in its own body that belong with it, from the first simple one on."""
    body = _body(statement, context)
    if statement not in body:
        return None
    at = body.index(statement)
    start, stop = at, at + 1
    while start > 0 and _joins(body[start - 1], belongs, context):
        start -= 1
    while stop < len(body) and _joins(body[stop], belongs, context):
        stop += 1
    while start < at and isinstance(body[start], cst.If):
        start += 1
    if isinstance(body[start], cst.If):
        return None
    run = [each for each in body[start:stop] if isinstance(each, cst.SimpleStatementLine | cst.If)]
    return run if _joins(statement, belongs, context) else None


def _body(statement: Statement, context: FileContext) -> Sequence[cst.BaseStatement]:
    above = context.parent(statement)
    if isinstance(above, cst.IndentedBlock | cst.Module):
        return [each for each in above.body if isinstance(each, cst.BaseStatement)]
    return []


def _branch_above(statement: Statement, context: FileContext) -> cst.If | None:
    """Return the whole `if` statement in a branch of which a statement stands."""
    above = context.parent(context.parent(statement) or statement)
    while isinstance(above, cst.Else) or (isinstance(above, cst.If) and isinstance(context.parent(above), cst.If)):
        above = context.parent(above)
    return above if isinstance(above, cst.If) else None


def _joins(statement: cst.BaseStatement, belongs: Belongs, context: FileContext) -> bool:
    if isinstance(statement, cst.SimpleStatementLine):
        return len(statement.body) == 1 and belongs(statement)
    return isinstance(statement, cst.If) and _branches_join(statement, belongs, context)


def _branches_join(statement: cst.If | cst.Else, belongs: Belongs, context: FileContext) -> bool:
    if isinstance(statement, cst.If):
        if not _is_plain_test(statement.test):
            return False
        if statement.orelse is not None and not _branches_join(statement.orelse, belongs, context):
            return False
    body = statement.body
    return isinstance(body, cst.IndentedBlock) and all(_joins(each, belongs, context) for each in body.body)


def _is_plain_test(test: cst.BaseExpression) -> bool:
    """Say whether grad mode cannot matter to a test: names, attributes and what they are compared with."""
    match test:
        case cst.Name() | cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner):
            return _is_plain_test(inner)
        case cst.BooleanOperation(left=left, right=right):
            return _is_plain_test(left) and _is_plain_test(right)
        case cst.Comparison(left=left, comparisons=others):
            return _is_plain_test(left) and all(_is_plain_test(each.comparator) for each in others)
        case cst.Call(func=cst.Name(value="isinstance" | "hasattr"), args=arguments):
            return all(_is_plain_test(each.value) or isinstance(each.value, cst.Tuple) for each in arguments)
    return False


def _first_part(statement: Statement) -> cst.CSTNode:
    return statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement


def _end(statement: cst.BaseStatement | cst.Else, context: FileContext) -> int:
    """Return the offset behind the last word of a statement, whatever follows on its line not counted."""
    if isinstance(statement, cst.SimpleStatementLine):
        return context.outer_span(statement.body[-1])[1]
    assert isinstance(statement, cst.If | cst.Else)
    if isinstance(statement, cst.If) and statement.orelse is not None:
        return _end(statement.orelse, context)
    last = statement.body.body[-1]
    return _end(last, context) if isinstance(last, cst.BaseStatement) else context.outer_span(last)[1]


@remembered
def _around_strings(_: cst.Module, context: FileContext) -> frozenset[cst.CSTNode]:
    """Return all that stands around strings of several rows."""
    strings = (each for kind in _STRINGS for each in context.concrete_nodes(kind))
    return frozenset(above for each in strings if "\n" in context.code(each) for above in context.ancestors(each))


def _indent_unit(statement: Statement, context: FileContext) -> str:
    """Return one level of indentation as the file writes it around here."""
    above = context.parent(statement)
    if isinstance(above, cst.IndentedBlock):
        return above.indent or context.module.default_indent
    found = _FIRST_INDENT.search(context.source.text)
    return found.group(1) if found else "    "
