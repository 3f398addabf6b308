"""Whether an error of the old code may be expected: a fix after which nothing is raised then changes what happens."""

from __future__ import annotations

import re

import libcst as cst

from torchlint.diagnostics.assumptions import ERROR_NOT_EXPECTED, Decision
from torchlint.rules.api import FileContext

_HANDLES = re.compile(rb"^\s*except\b|raises|Raises|suppress", re.MULTILINE)


def error_not_expected(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether nobody expects the error that a node raises, after whose fix nothing is raised."""
    return ERROR_NOT_EXPECTED.decided(_expected(node, context))


def _expected(node: cst.CSTNode, context: FileContext) -> str | None:
    if not context.is_parsed:
        return "an error may be expected here" if context.matches(_HANDLES) else None
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    place = next((each for each in places if each is not None), context.tree)
    return context.errors_taken(place)
