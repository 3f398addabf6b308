"""What a rule is: the nodes it visits, and what it says of one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import libcst as cst

from torchlint.catalogue import BY_CODE, Entry
from torchlint.model import Confidence, Fix
from torchlint.rule.context import FileContext


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
class Rule:
    """A rule as data: what it visits. Its module's docstring is its page, its catalogue entry its name and words."""

    code: str
    visit: Mapping[type[cst.CSTNode], Check]

    @cached_property
    def entry(self) -> Entry:
        """The rule's line in the catalogue."""
        return BY_CODE[self.code]


@cache
def load(code: str) -> Rule:
    """Import the rule of a code."""
    module = importlib.import_module(f"torchlint.rules.{BY_CODE[code].module}")
    rule: Rule = module.RULE
    return rule
