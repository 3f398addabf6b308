"""What a rule is, and what it says of a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.diagnostics.rule_metadata import RuleMetadata


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule saw: the word at fault, what is wrong with it, how sure that is, and the repair."""

    at: cst.CSTNode
    message: str
    confidence: Confidence
    why: tuple[str, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    """What happens where the finding is right; None where it is what the rule says of all."""
    repeats: cst.CSTNode | None = None
    """The word at which another rule says the same of the statement: where that is told, this is not."""


Check = Callable[[Any, Any], Iterator[Draft]]
"""What a rule does with a node of a type that it visits, and with what it may ask of the file."""


@dataclass(frozen=True)
class Rule(RuleMetadata):
    """A rule as data: its metadata, and what it visits. Its module's docstring is its page."""

    visit: Mapping[type[cst.CSTNode], Check] = field(kw_only=True)
