"""What SARIF says of a rule: its page, its address, its family and how grave it is."""

from __future__ import annotations

import re

from torchlint.output.report import FAMILIES, page
from torchlint.registry import BY_NAME
from torchlint.rule_docs import page as text_of
from torchlint.rule_docs import summary
from torchlint.rule_metadata import RuleMetadata

_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md\)")
_MARKS = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def described(entry: RuleMetadata) -> dict[str, object]:
    """Give a rule's descriptor."""
    text = text_of(entry)
    return {
        "id": entry.code,
        "name": entry.name,
        "shortDescription": {"text": summary(entry)},
        "fullDescription": {"text": _plain(_reason(text))},
        "help": {"text": _plain(text), "markdown": linked(text)},
        "helpUri": page(entry.name),
        "defaultConfiguration": {"enabled": entry.default, "level": "error" if not entry.words else "warning"},
        "properties": {"tags": ["pytorch", "correctness", FAMILIES[entry.code[:4]].tag]},
    }


def linked(text: str) -> str:
    """Give a rule's page with its links to other rules as addresses, to be shown outside the documentation."""
    return _LINK.sub(_addressed, text)


def _reason(text: str) -> str:
    """Give the first paragraph of what a rule does, or of the page where it has no such part."""
    found = re.search(r"^## What it does\n+(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return " ".join((found[1] if found else text.rsplit("\n\n", maxsplit=1)[-1]).split())


def _plain(text: str) -> str:
    return _MARKS.sub(r"\1", text)


def _addressed(found: re.Match[str]) -> str:
    return f"]({page(found[1])})" if found[1] in BY_NAME else found[0]
