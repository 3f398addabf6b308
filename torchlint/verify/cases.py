"""Pieces of code that the rules repair, and verdicts on the rules by running each of them before and after."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache

from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Confidence, Settings
from torchlint.diagnostics.registry import BY_CODE
from torchlint.diagnostics.rule_docs import page
from torchlint.linter.engine import fix_bytes

_IS_NO_PART = re.compile(r"import|^\s*assert isinstance")
"""Lines by which no example is known from another one."""

Target = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Case:
    """Code in which one rule finds something: a whole module's text, most often with a function ``case``."""

    code: str
    text: str

    @property
    def title(self) -> str:
        """One line by which a reader knows the case."""
        body = self.text.partition("def case(")[2].partition("\n")[2] or self.text
        lines = [line.strip() for line in body.splitlines() if line.strip() and not _IS_NO_PART.search(line)]
        return f"{self.code} " + "; ".join(lines)[:100]

    @property
    def digest(self) -> str:
        """A short name for what is proven: the old text, and what the rule makes of it today."""
        return self.digest_for(None)

    def digest_for(self, target: Target) -> str:
        """Return the short name of what is proven for a torch that code must run on.

        The same one for the same fixes.
        """
        usual = [self.code, self.text, repaired(self), repaired(self, unsafe=True)]
        special = [repaired(self, target=target), repaired(self, True, target)]
        whole = "\0".join(usual if special == usual[2:] else usual + special)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]


@cache
def repaired(case: Case, unsafe: bool = False, target: Target = None) -> str:
    """Return the text after the rule's own fixes: the safe ones alone, or the unsafe ones too.

    ``target`` is the oldest torch that the code must run on, as ``(1, 13)``; None where it is not known.
    """
    settings = Settings(target_torch=target)
    config = Config(settings=settings, select=(case.code,), unsafe_fixes=unsafe, min_confidence=Confidence.UNPROVEN)
    return fix_bytes("<case>", case.text.encode(), config).raw.decode()


def claim(case: Case, target: Target = None) -> Applicability:
    """Return what the rule claims of its fix in a case, where the code must run on a torch (None: not known)."""
    if repaired(case, target=target) != case.text:
        return Applicability.SAFE
    return Applicability.UNSAFE if repaired(case, True, target) != case.text else Applicability.DISPLAY


def page_example(code: str) -> Case:
    """Make a case of the bad example on a rule's page."""
    found = re.search(r"^```python\n(.*?)^```", page(BY_CODE[code]), re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"the page of {code} shows no example")
    return Case(code, found[1])
