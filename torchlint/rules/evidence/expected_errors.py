"""Whether an error or a warning of the old code may be expected: a fix without it then changes what happens."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torchlint.diagnostics.assumptions import ERROR_NOT_EXPECTED, WARNING_NOT_EXPECTED, Decision
from torchlint.rules.api import FileContext

_HANDLES = re.compile(rb"^\s*except\b|raises|Raises|suppress", re.MULTILINE)
_WATCHES = re.compile(rb"warns|Warns|catch_warnings|simplefilter|filterwarnings|showwarning")


def error_not_expected(node: cst.CSTNode, context: FileContext, is_answered_alike: bool = False) -> Decision:
    """Decide whether nobody expects the error that a node raises, after whose fix nothing is raised.

    ``is_answered_alike``: or another error is raised at the same place.
    """
    if not context.is_parsed:
        return ERROR_NOT_EXPECTED.decided("an error may be expected here" if context.matches(_HANDLES) else None)
    return ERROR_NOT_EXPECTED.decided(context.errors_taken(_place(node, context), is_answered_alike))


def warning_not_expected(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether nobody expects the warning that torch or NumPy gives of a node and not of what replaces it."""
    if not context.is_parsed:
        return WARNING_NOT_EXPECTED.decided("a warning may be expected here" if context.matches(_WATCHES) else None)
    return WARNING_NOT_EXPECTED.decided(context.warnings_taken(_place(node, context)))


def _place(node: cst.CSTNode, context: FileContext) -> ast.AST:
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    return next((each for each in places if each is not None), context.tree)
