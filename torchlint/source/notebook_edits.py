"""Edits of a notebook's text as edits of its JSON: only the strings of the lines that change are written anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from torchlint.source.notebook_json import Cell, positions, rows, spelled
from torchlint.source.notebook_module import Notebook, Part
from torchlint.source.text import Edit


@dataclass(frozen=True, slots=True)
class _Change:
    """Characters of a cell's source, from and up to, and what takes their place."""

    start: int
    end: int
    text: str


def allows(notebook: Notebook, edits: Iterable[Edit]) -> bool:
    """Whether edits stay within one cell each and leave alone what is not the user's Python."""
    return all(_allows(notebook, edit) for edit in edits)


def _allows(notebook: Notebook, edit: Edit) -> bool:
    index = notebook.index(edit.start)
    if index < 0 or notebook.index(max(edit.end - 1, edit.start)) != index or not notebook.parts[index].cell.literals:
        return False
    start = len(notebook.slice(notebook.starts[index], edit.start))
    end = start + len(notebook.slice(edit.start, edit.end))
    return not any(_meets(start, end, first, last) for first, last in notebook.parts[index].shielded)


def _meets(start: int, end: int, first: int, last: int) -> bool:
    """Whether an edit changes a shielded span: at its very beginning and end something may be inserted."""
    return first < start < last if start == end else first < end and start < last


def rewrite(notebook: Notebook, edits: Sequence[Edit]) -> bytes:
    """Return the notebook's bytes with the edits of its text in their place; they may not overlap."""
    pieces, last = [], 0
    for start, end, written in rewritten(notebook, edits):
        pieces += [notebook.json[last:start], written]
        last = end
    return "".join([*pieces, notebook.json[last:]]).encode("utf-8")


def rewritten(notebook: Notebook, edits: Sequence[Edit]) -> Iterator[tuple[int, int, str]]:
    """Yield what changes in the JSON, in order: from and up to a character, and what is written there."""
    ordered = sorted(edits, key=lambda each: (each.start, each.end))
    for index, group in groupby(ordered, key=lambda each: notebook.index(each.start)):
        part = notebook.parts[index]
        changes = _joined([_change(notebook, index, edit) for edit in group], part)
        start, end, written = _rewritten(notebook.json, part.cell, changes)
        before = notebook.json[start:end]
        alike = len(os.path.commonprefix([before, written]))  # noqa: RUF071  # characters are meant
        same = len(os.path.commonprefix([before[alike:][::-1], written[alike:][::-1]]))  # noqa: RUF071
        yield start + alike, end - same, written[alike : len(written) - same]


def _change(notebook: Notebook, index: int, edit: Edit) -> _Change:
    part = notebook.parts[index]
    text = re.sub(r"(?<!\r)\n", part.newline + part.margin, edit.text)
    return _Change(notebook.origin(index, edit.start), notebook.origin(index, edit.end), text)


def _joined(changes: list[_Change], part: Part) -> list[_Change]:
    """Join changes that touch, and make one that reaches behind the cell end with the cell.

    The newline that ends a cell is in the text only: where its row is deleted, the newline before it goes instead.
    """
    found: list[_Change] = []
    for change in changes:
        if found and found[-1].end == change.start:
            before = found.pop()
            found.append(_Change(before.start, change.end, before.text + change.text))
        else:
            found.append(change)
    length = len(part.cell.source)
    if found and found[-1].end > length:
        start, text = found[-1].start, found.pop().text
        if start > length:  # behind that newline, which is then a line's like the others
            found += [_Change(length, length, part.newline + text.removesuffix(part.newline))] if text else []
        elif text:
            found.append(_Change(start, length, text.removesuffix(part.newline)))
        else:
            start -= next((len(each) for each in ("\r\n", "\n", "\r") if part.cell.source[:start].endswith(each)), 0)
            found.append(_Change(start, length, ""))
    return found


def _rewritten(text: str, cell: Cell, changes: list[_Change]) -> tuple[int, int, str]:
    """Return the span of the JSON that is written anew, and what is written there."""
    ascii_only = text.isascii()
    if cell.array is None:
        literal = cell.literals[0]
        content, _ = _spliced(text, cell, 0, 0, changes, ascii_only)
        return literal[0] + 1, literal[1] - 1, content
    items = _items(text, cell, changes, ascii_only)
    return cell.array[0], cell.array[1], _array(text, cell, items)


@dataclass(frozen=True, slots=True)
class _Item:
    """A string of the new list as it is spelled, and the first and last of the old strings that it stands for."""

    spelled: str
    first: int
    last: int


def _items(text: str, cell: Cell, changes: list[_Change], ascii_only: bool) -> list[_Item]:
    items: list[_Item] = []
    done = 0
    for first, last, group in _groups(text, cell, changes):
        items += [_Item(text[slice(*cell.literals[at])], at, at) for at in range(done, first)]
        content, whole = _spliced(text, cell, first, last, group, ascii_only)
        for row in [content] if whole and content else rows(content):
            items.append(_Item(f'"{row}"', first, last))
        done = last + 1
    items += [_Item(text[slice(*cell.literals[at])], at, at) for at in range(done, len(cell.literals))]
    return items


def _groups(text: str, cell: Cell, changes: list[_Change]) -> list[tuple[int, int, list[_Change]]]:
    """Say which strings change together: those that one change touches, and the next where a line loses its end."""
    starts, total = [], 0
    for literal in cell.literals:
        starts.append(total)
        total += len(positions(text, literal)) - 1
    found: list[tuple[int, int, list[_Change]]] = []
    for change in changes:
        first = max((at for at, start in enumerate(starts) if start <= change.start), default=0)
        last = max((at for at, start in enumerate(starts) if start < max(change.end, change.start + 1)), default=0)
        behind = starts[last + 1] if last + 1 < len(starts) else total
        whole_rows = change.start == starts[first] and not change.text
        if change.end == behind and not whole_rows and not change.text.endswith("\n") and last + 1 < len(starts):
            last += 1
        if found and found[-1][1] >= first:
            before = found.pop()
            first, last, group = before[0], max(before[1], last), [*before[2], change]
        else:
            group = [change]
        found.append((first, last, group))
    return found


def _spliced(
    text: str, cell: Cell, first: int, last: int, changes: list[_Change], ascii_only: bool
) -> tuple[str, bool]:
    """Return what some neighbouring strings spell together after the changes; tell if it was one of several lines."""
    places: list[tuple[int, int]] = []  # of each character: where it is spelled, and up to where
    base = 0
    for at, literal in enumerate(cell.literals[: last + 1]):
        found = positions(text, literal)
        if at < first:
            base += len(found) - 1
        else:
            places += pairwise(found)
    pieces, done = [], 0
    for change in changes:
        pieces += [text[start:end] for start, end in places[done : change.start - base]]
        pieces.append(spelled(change.text, ascii_only))
        done = change.end - base
    pieces += [text[start:end] for start, end in places[done:]]
    whole = first == last and len(rows(text[cell.literals[first][0] + 1 : cell.literals[first][1] - 1])) > 1
    return "".join(pieces), whole


def _array(text: str, cell: Cell, items: list[_Item]) -> str:
    """Spell the list, the blanks between two strings kept where both were neighbours, else as between the first two.

    One string that stands close to its bracket tells none: a space follows a comma where one stands before the list.
    """
    assert cell.array is not None
    start, end = cell.array
    if not items:
        return "[]"
    gaps = [text[one[1] : other[0]] for one, other in pairwise(cell.literals)]
    head, tail = text[start : cell.literals[0][0]], text[cell.literals[-1][1] : end]
    usual = gaps[0] if gaps else "," + (head[1:] or text[:start][-1:].strip(":"))
    pieces = [head, items[0].spelled]
    for one, other in pairwise(items):
        pieces += [gaps[one.last] if one.last + 1 == other.first else usual, other.spelled]
    return "".join([*pieces, tail])
