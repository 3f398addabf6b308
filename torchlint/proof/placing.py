"""Where a fix works in a file: the statements it changes, before and after, and the expressions around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.model import Edit
from torchlint.proof.reading import Reading, Step, children, follow


class NotPlacedError(Exception):
    """The fix cannot be found again in the new text; the text says why."""


@dataclass(frozen=True)
class Place:
    """The statements that a fix changes, in the old and in the new text."""

    before: Reading
    after: Reading
    edits: tuple[Edit, ...]
    """Without those that only add an import or move lines to the right."""
    old: tuple[ast.stmt, ...]
    new: tuple[ast.stmt, ...]

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row of the old statements."""
        return self.old[0].lineno, self.old[-1].end_lineno or self.old[-1].lineno


def place(before: Reading, after: Reading, edits: tuple[Edit, ...]) -> Place:
    """Find the statements that a fix changes.

    :raises NotPlacedError: where there are none, or the new text has none in their place.
    """
    core = tuple(each for each in edits if not _adds_import(each)) or edits
    low, high = min(each.start for each in core), max(each.end for each in core)
    utf8 = before.outline.source.utf8
    while high < len(utf8) and utf8[high : high + 1] in (b" ", b"\t"):
        high += 1
    old_block, new_block = before.outline.tree.body, after.outline.tree.body
    added = sum(each.text.count("import ") for each in edits if each not in core)
    while True:
        at = [i for i, each in enumerate(old_block) if _start(before, each) <= high and before.outline.end(each) >= low]
        if not at:
            raise NotPlacedError("the fix changes no statement")
        first, last = at[0], at[-1]
        inner = _inner(before, old_block[first], low, high) if first == last else None
        behind = len(old_block) - last - 1
        new = new_block[first + (added if new_block is after.outline.tree.body else 0) : len(new_block) - behind]
        if inner is None:
            telling = tuple(each for each in core if not _only_layout(before, each)) or core
            return Place(before, after, telling, tuple(old_block[first : last + 1]), tuple(new))
        step, old_block = inner
        found = follow(new[0], step[:-1]) if len(new) == 1 and len(step) > 1 else new[0] if len(new) == 1 else None
        new_block = getattr(found, step[-1][0], None) or []


def _adds_import(edit: Edit) -> bool:
    try:
        found = ast.parse(edit.text).body
    except SyntaxError:
        return False
    return (
        edit.start == edit.end and bool(found) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in found)
    )


def _only_layout(reading: Reading, edit: Edit) -> bool:
    return not edit.text.strip() and not reading.outline.source.slice(edit.start, edit.end).strip()


def _start(reading: Reading, node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([reading.outline.start(node), *(reading.outline.start(each) for each in decorators)])


def _inner(reading: Reading, node: ast.stmt, low: int, high: int) -> tuple[tuple[Step, ...], list[ast.stmt]] | None:
    """Give the block inside a statement in which the whole fix lies, and the steps that lead to it."""
    for steps, block in _blocks(node):
        start, end = _start(reading, block[0]), reading.outline.end(block[-1])
        row = reading.outline.source.line_starts[reading.outline.source.position(start)[0] - 1]
        begin = row if not reading.outline.source.utf8[row:start].strip() else start
        if begin <= low and high <= max(end, start):
            return steps, block
    return None


def _blocks(node: ast.AST) -> Iterator[tuple[tuple[Step, ...], list[ast.stmt]]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield ((name, None),), block
    for name in ("handlers", "cases"):
        for at, each in enumerate(getattr(node, name, ())):
            yield ((name, at), ("body", None)), each.body


def expressions(found: Place) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Give the expressions that hold the whole fix, widest first, each with its new form.

    The third is whether an expression is whole: not merely the beginning of a chain of attributes and calls.
    """
    if len(found.old) != 1 or len(found.new) != 1:
        return
    node: ast.AST = found.old[0]
    steps: list[Step] = []
    chain: list[tuple[ast.expr, tuple[Step, ...], bool]] = []
    while True:
        inner = next((each for each in children(node) if _around(found, each[1])), None)
        if inner is None:
            break
        step, below = inner
        steps.append(step)
        if isinstance(below, ast.expr):
            begins = isinstance(node, ast.Attribute | ast.Subscript | ast.Call) and step[0] in ("value", "func")
            chain.append((below, tuple(steps), not begins))
        node = below
    for each, way, whole in chain:
        new = follow(found.new[0], way)
        if isinstance(new, ast.expr):
            yield each, new, whole


def _around(found: Place, node: ast.AST) -> bool:
    if isinstance(node, ast.expr):
        return found.before.encloses(node, found.edits)
    if isinstance(node, ast.keyword | ast.comprehension | ast.withitem):
        return any(_around(found, each) for _, each in children(node))
    return False


def in_annotation(found: Place) -> bool:
    """Whether the fix changes nothing but an annotation, which does nothing at run time."""
    for node in ast.walk(found.old[0]):
        annotation = node.annotation if isinstance(node, ast.arg | ast.AnnAssign) else getattr(node, "returns", None)
        if isinstance(annotation, ast.expr):
            start, end = found.before.outline.start(annotation), found.before.outline.end(annotation)
            if all(start <= each.start and each.end <= end for each in found.edits):
                return True
    return False
