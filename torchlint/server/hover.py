"""What is shown where the pointer rests: what is known of the expression there, and the pages of the rules at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position

from torchlint.model import Finding
from torchlint.output.facts import Known, known_at
from torchlint.output.sarif_rules import linked
from torchlint.registry import BY_CODE
from torchlint.rule_docs import page
from torchlint.server.checks import Checked
from torchlint.server.documents import Open

_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_FENCE = re.compile(r"^```.*\n?", re.MULTILINE)


def hover(opened: Open, checked: Checked, uri: str, position: Position, markdown: bool) -> Hover | None:
    """Say what there is to say at a place; None where there is nothing."""
    known = checked.known
    source = known.outline.source if known is not None else checked.source
    offset = opened.offset(source, uri, position) if source is not None else None
    if source is None or offset is None or not source.is_code(offset):
        return None
    told = known_at(known, offset) if known is not None and known.works_with_torch else []
    found = [each for each in checked.result.findings if each.start <= offset <= each.end]
    parts = [*([_facts(told)] if told else []), *(_page(each) for each in found)]
    if not parts:
        return None
    text = "\n\n---\n\n".join(parts)
    content = (
        MarkupContent(MarkupKind.Markdown, text) if markdown else MarkupContent(MarkupKind.PlainText, _plain(text))
    )
    span = (told[-1].start, told[-1].end) if told else (found[0].start, found[0].end)
    where = opened.span(source, *span)
    return Hover(content, where.range if where is not None else None)


def _facts(known: Sequence[Known]) -> str:
    lines = [line for each in known for line in _lines(each)]
    return "\n".join([*lines, f"grad mode: {known[-1].mode}"])


def _lines(known: Known) -> Iterator[str]:
    yield f"{_code(known.code)}: {known.value}"
    yield ""
    if known.why:
        yield from (f"- {step}" for step in known.why)
        yield ""


def _page(finding: Finding) -> str:
    entry = BY_CODE[finding.code]
    text = _HEADING.sub(r"##\1 ", linked(page(entry)).strip())
    return f"### {finding.code} {finding.name} ({finding.confidence})\n\n{finding.message}\n\n{text}"


def _code(text: str) -> str:
    """Quote code, which may hold backticks itself."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}"


def _plain(text: str) -> str:
    return _HEADING.sub("", _FENCE.sub("", text))
