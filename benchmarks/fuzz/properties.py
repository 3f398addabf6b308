"""What must hold for any bytes whatever: the promises of a check and of a fix, told without torchlint's own words."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Edit, FileResult, Finding
from torchlint.diagnostics.splice import splice
from torchlint.linter.engine import check_bytes, fix_bytes
from torchlint.source.edits import written
from torchlint.source.notebook_module import Notebook
from torchlint.source.text import Source
from torchlint.syntax.parse import read

SAFE = Config(select=("ALL",))
UNSAFE = Config(select=("ALL",), unsafe_fixes=True, min_confidence=Confidence.UNPROVEN)


def broken(path: str, raw: bytes) -> list[str]:
    """Return the promises that torchlint breaks on these bytes, in words."""
    return list(_broken(path, raw))


def _broken(path: str, raw: bytes) -> Iterator[str]:
    first, second = check_bytes(path, raw, UNSAFE), check_bytes(path, raw, UNSAFE)
    if told(first) != told(second):
        yield "two checks differ"
    yield from (f"check: {each.message}" for each in first.troubles)
    if first.source is not None:
        yield from _places(first.source, first.findings)
        yield from _one_round(path, first.source, first.findings)
    for config in (SAFE, UNSAFE):
        yield from _fixed(path, raw, config)


def told(result: FileResult) -> tuple[object, ...]:
    """Return what a result says, without the source."""
    return result.findings, result.suppressed, result.troubles, result.reads, result.passed_over


def _places(source: Source, findings: Iterable[Finding]) -> Iterator[str]:
    for each in findings:
        if not 0 <= each.start <= each.end <= len(source.utf8):
            yield f"{each.code} lies at {each.start}-{each.end} of {len(source.utf8)}"
        if min(*source.position(each.start), *source.address(each.start), *source.stored(each.start)) < 1:
            yield f"{each.code} has no row and column"


def _fixed(path: str, raw: bytes, config: Config) -> Iterator[str]:
    done = fix_bytes(path, raw, config)
    yield from (f"fix: {each.message}" for each in done.remaining.troubles)
    again = fix_bytes(path, done.raw, config)
    if again.raw != done.raw or again.fixed:
        yield f"a second run fixes {sorted({each.code for each in again.fixed})}"
    if not done.fixed and done.raw != raw:
        yield "the bytes changed and nothing is said to be fixed"
    before = sum(each.code == "TNS900" for each in check_bytes(path, raw, config).findings)
    if sum(each.code == "TNS900" for each in done.remaining.findings) > before:
        yield "what was repaired does not parse"


def _one_round(path: str, source: Source, findings: Sequence[Finding]) -> Iterator[str]:
    """Splice all fixes once and compare what lies outside of their edits."""
    if not source.lossless or not any(each.fix for each in findings):
        return
    done = splice(source, findings)
    edits = sorted({edit for each in done.taken if each.fix for edit in each.fix.edits}, key=lambda each: each.start)
    new = read(path, done.raw).source
    if isinstance(source, Notebook):
        yield from _notebook(source, done.raw, edits)
        return
    if new.utf8 != _by_hand(source, edits):
        yield "text outside the edits changed"
    elif new.encoding != source.encoding or new.bom != source.bom:
        yield "the encoding changed"
    else:
        yield from _statements(source, new, edits)


def _by_hand(source: Source, edits: Sequence[Edit]) -> bytes:
    raw = source.utf8
    for edit in reversed(edits):
        raw = raw[: edit.start] + written(source, edit).encode() + raw[edit.end :]
    return raw


def _statements(source: Source, new: Source, edits: Sequence[Edit]) -> Iterator[str]:
    """Look for each simple statement that no edit touches where it must stand now."""
    old_tree = _parsed(source.text)
    if old_tree is None:
        return
    new_tree = _parsed(new.text)
    if new_tree is None:
        yield "the repaired text does not parse"
        return
    there = {new.offset(each.lineno, each.col_offset): ast.dump(each) for each in _simple(new_tree)}
    for each in _simple(old_tree):
        start, end = source.offset(each.lineno, each.col_offset), source.offset(*_end(each))
        if any(edit.start <= end and edit.end >= start for edit in edits):
            continue
        before = [edit for edit in edits if edit.start < start]
        now = start + sum(len(written(source, edit).encode()) - (edit.end - edit.start) for edit in before)
        if there.get(now) != ast.dump(each):
            yield f"the statement in row {each.lineno} is another one after a fix elsewhere"


def _simple(tree: ast.Module) -> Iterator[ast.stmt]:
    statements = (each for each in ast.walk(tree) if isinstance(each, ast.stmt))
    return (each for each in statements if not hasattr(each, "body") and not isinstance(each, ast.Match))


def _end(node: ast.stmt) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _notebook(source: Notebook, raw: bytes, edits: Sequence[Edit]) -> Iterator[str]:
    old, new = json.loads(source.raw), json.loads(raw)
    if _shell(old) != _shell(new):
        yield "something beside the cells' sources changed"
    touched = {source.index(edit.start) for edit in edits}
    parts = read(source.path, raw).source
    assert isinstance(parts, Notebook)
    if len(parts.parts) != len(source.parts):
        yield "the number of cells changed"
        return
    for at, (one, other) in enumerate(zip(source.parts, parts.parts, strict=True)):
        if at not in touched and one.cell.source != other.cell.source:
            yield f"part {at} changed without an edit"


def _shell(document: Any) -> Any:
    """Return a notebook without the sources of its cells of code."""
    if isinstance(document, list):
        return [_shell(each) for each in document]
    if isinstance(document, dict):
        code = document.get("cell_type") == "code"
        return {key: _shell(each) for key, each in document.items() if not (code and key in ("source", "input"))}
    return repr(document)
