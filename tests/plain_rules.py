"""Plain rules to put in the place of the real ones, for the tests of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst
import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Confidence, FileResult, Fix
from torchlint.diagnostics.registry import BY_CODE
from torchlint.rules.api import Draft, FileContext, Rule
from torchlint.rules.drafts import Check

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


def fixing(text: str, applicability: Applicability = SAFE, word: str = "data") -> Check:
    """Make a rule that reports each attribute of a name and puts text in its place."""

    def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == word:
            fix = Fix("Replace it", (context.replace(node.attr, text),), overruled=applicability)
            yield Draft(node.attr, f"`{word}` is at fault", Confidence.LIKELY, ("step",), fix)

    return check


def crashing(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    if context.source.path:
        raise ValueError("on purpose")
    yield Draft(node, "never said", Confidence.CERTAIN)


Install = Callable[..., Config]


def installer(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put checks in the place of rules: ``rules(TNS201=check)``; gives the configuration that selects just these."""

    def install(**checks: Check) -> Config:
        def load(code: str) -> Rule:
            return Rule(code, BY_CODE[code].name, visit={cst.Attribute: checks[code]})

        monkeypatch.setattr("torchlint.linter.rule_modules.load", load)
        monkeypatch.setattr("torchlint.linter.engine.ABOUT_TENSORS", ())
        return Config(select=tuple(checks))

    return install


def said(result: FileResult) -> list[tuple[str, int, int]]:
    assert result.source is not None
    return [(each.code, *result.source.position(each.start)) for each in result.findings]
