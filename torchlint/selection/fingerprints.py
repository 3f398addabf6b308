"""What makes a finding the same finding after its file was moved, renamed or reformatted."""

from __future__ import annotations

import ast
import bisect
import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.diagnostics.model import Finding
from torchlint.source.text import Source

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields that hold statements: what stands in them is no part of the statement around them."""
_FORM_ONLY = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields that say how code is written, or what its place says already."""
_Unit = ast.stmt | ast.excepthandler | ast.match_case


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A statement's place in the text, the definition around it, and the statement that holds it (by index)."""

    start: int
    end: int
    scope: str
    above: int
    node: _Unit


@dataclass(frozen=True, slots=True)
class Identity:
    """What a finding is known by: its fingerprint, and the definition around it (``Net.forward``, empty at the top)."""

    fingerprint: str
    scope: str


def identities(source: Source | None, findings: Sequence[Finding]) -> tuple[Identity, ...]:
    """Return what each finding of a file is known by, in the order given.

    A fingerprint is 32 hexadecimal digits. They follow from the rule, the qualified name of the definition around the
    finding, the code of its statement without regard to blanks, line breaks, quotes, parentheses and comments, and a
    count of the findings that are alike in all of this. Neither the path nor the row has a part. The count goes by
    place, so give all findings of a file at once, suppressed and known ones too: silencing the first of two alike must
    not rename the second.
    """
    units = _units(source)
    contents = [_content(source, finding, units) for finding in findings]
    seen: Counter[tuple[str, ...]] = Counter()
    made: dict[int, Identity] = {}
    for at in sorted(range(len(findings)), key=lambda at: (findings[at].start, findings[at].end, findings[at].code)):
        key = (findings[at].code, *contents[at])
        made[at] = Identity(digest(*key, str(seen[key])), contents[at][0])
        seen[key] += 1
    return tuple(made[at] for at in range(len(findings)))


def digest(*parts: str) -> str:
    """Return 32 hexadecimal digits for some texts."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _content(source: Source | None, finding: Finding, units: list[_Stretch]) -> tuple[str, str]:
    """Return the definition's name and the normalised code; the bare row where no statement is known."""
    if source is None:
        return "", ""
    at = bisect.bisect_right(units, finding.start, key=lambda unit: unit.start) - 1
    while at >= 0 and units[at].end < finding.end:
        at = units[at].above
    if at < 0:
        row = source.position(finding.start)[0]
        return "", "".join(source.original.line(row).split())
    return units[at].scope, "".join(_normal(units[at].node))


def _units(source: Source | None) -> list[_Stretch]:
    """Return every statement of a file in order of place, those around before those inside.

    None if it does not parse.
    """
    if source is None:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[_Stretch] = []
    stack: list[tuple[ast.AST, str, int]] = [(child, "", -1) for child in reversed(tree.body)]
    while stack:
        node, around, above = stack.pop()
        if not isinstance(node, _Unit):
            continue
        found.append(_region(source, node, around, above))
        inside = around
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{around}.{node.name}" if around else node.name
        below = [each for name in _BLOCKS for each in getattr(node, name, ())]
        stack.extend((each, inside, len(found) - 1) for each in reversed(below))
    return found


def _region(source: Source, node: _Unit, around: str, above: int) -> _Stretch:
    if isinstance(node, ast.match_case):
        last = node.body[-1]
        start = source.offset(node.pattern.lineno, node.pattern.col_offset)
        return _Stretch(start, _end(source, last), around, above, node)
    first: list[ast.stmt | ast.excepthandler | ast.expr] = [node, *getattr(node, "decorator_list", ())]
    start = min(source.offset(each.lineno, each.col_offset) for each in first)
    return _Stretch(start, _end(source, node), around, above, node)


def _end(source: Source, node: ast.stmt | ast.excepthandler) -> int:
    return source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)


def _normal(unit: ast.AST) -> Iterator[str]:
    """Spell a statement without its blocks, alike on every Python: fields that are empty are left out."""
    stack: list[object] = [unit]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.AST):
            yield type(each).__name__ + "("
            stack.append(_Text(")"))
            stack.extend(reversed(list(_fields(each, each is unit))))
        elif isinstance(each, list):
            yield "["
            stack.append(_Text("]"))
            stack.extend(reversed(each))
        else:
            yield each if isinstance(each, _Text) else f"{each!a},"


def _fields(node: ast.AST, outermost: bool) -> Iterator[object]:
    for name, value in ast.iter_fields(node):
        kept = _said(node.values) if isinstance(node, ast.JoinedStr) else value
        empty = (value is None and not isinstance(node, ast.Constant)) or (isinstance(kept, list) and not kept)
        if not (empty or name in _FORM_ONLY or (outermost and name in _BLOCKS)):
            yield _Text(f"{name}=")
            yield kept


def _said(values: list[ast.expr]) -> list[ast.expr]:
    """Python 3.12 ends the format in an f-string with an empty text, the others do not."""
    return [each for each in values if not (isinstance(each, ast.Constant) and each.value == "")]


class _Text(str):
    """A piece of the spelling itself, not a value that is spelled."""

    __slots__ = ()
