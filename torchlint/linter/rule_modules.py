"""The modules of the rules, imported when a file has something for them."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from torchlint.diagnostics.registry import BY_CODE

if TYPE_CHECKING:
    from torchlint.rules.api import Rule


@cache
def load(code: str) -> Rule:
    """Import the rule of a code."""
    module = importlib.import_module(f"torchlint.rules.{BY_CODE[code].module}")
    rule: Rule = module.RULE
    return rule
