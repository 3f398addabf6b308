"""What a rule is: the nodes it visits, and what it says of one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import libcst as cst

from torchlint.model import Confidence, Fix
from torchlint.registry import BY_CODE
from torchlint.rule.context import FileContext
from torchlint.rule_metadata import RuleMetadata


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule saw: the word at fault, what is wrong with it, how sure that is, and the repair."""

    at: cst.CSTNode
    message: str
    confidence: Confidence
    why: tuple[str, ...] = ()
    fix: Fix | None = None


Check = Callable[[Any, FileContext], Iterator[Draft]]


@dataclass(frozen=True)
class Rule(RuleMetadata):
    """A rule as data: its metadata, and what it visits. Its module's docstring is its page."""

    visit: Mapping[type[cst.CSTNode], Check] = field(kw_only=True)


@cache
def load(code: str) -> Rule:
    """Import the rule of a code."""
    module = importlib.import_module(f"torchlint.rules.{BY_CODE[code].module}")
    rule: Rule = module.RULE
    return rule
