"""Pieces of code that the rules repair: what is run before and after to prove each rule's claim.

The new text is never written by hand: torchlint itself makes it of the old one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from torchlint.catalogue import BY_CODE
from torchlint.config import Config
from torchlint.engine import fix_bytes
from torchlint.pages import page


@dataclass(frozen=True, slots=True)
class Case:
    """Code in which one rule finds something: a whole module's text, most often with a function ``case``."""

    code: str
    text: str

    @property
    def title(self) -> str:
        """One line by which a reader knows the case."""
        body = self.text.partition("def case(")[2].partition("\n")[2] or self.text
        lines = [line.strip() for line in body.splitlines() if line.strip() and "import" not in line]
        return f"{self.code} " + "; ".join(lines)[:100]


@cache
def repaired(case: Case, unsafe: bool = False) -> str:
    """Give the text after the rule's own fixes: the safe ones alone, or the unsafe ones too."""
    config = replace(Config(), select=(case.code,), unsafe_fixes=unsafe)
    return fix_bytes("case.py", case.text.encode(), config).raw.decode()


def digest(cases: Iterable[Case]) -> str:
    """Give a short name for what was proven: the old texts and what the rules make of them today."""
    whole = "\0".join(f"{case.code}\0{case.text}\0{repaired(case)}" for case in cases)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def page_example(code: str) -> Case:
    """Make a case of the bad example on a rule's page."""
    found = re.search(r"^```python\n(.*?)^```", page(BY_CODE[code]), re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"the page of {code} shows no example")
    return Case(code, found[1])
