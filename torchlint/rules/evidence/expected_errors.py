"""Whether an error of the old code may be expected: a fix after which nothing is raised then changes what happens."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import ERROR_NOT_EXPECTED, Decision
from torchlint.rules.api import UNRELATED, FileContext, remembered

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CATCHES = re.compile(r"raises|suppress|xfail|expected_?failure|catch|retry", re.IGNORECASE)
"""Words of what takes an error: ``pytest.raises``, ``assertRaises``, ``contextlib.suppress``, ``mark.xfail``."""
_HANDLES = re.compile(rb"^\s*except\b|raises|Raises|suppress", re.MULTILINE)
_EXPECTS_ALL = re.compile(rb"^pytestmark\b.*\bxfail\b", re.MULTILINE)


def error_not_expected(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether nobody expects the error that a node raises, after whose fix nothing is raised."""
    return ERROR_NOT_EXPECTED.decided(_expected_here(node, context) or _expected_elsewhere(node, context))


def _expected_here(node: cst.CSTNode, context: FileContext) -> str | None:
    """Return why an error that a node raises may be expected, as a clause; None where nothing speaks for it.

    A handler or a test that expects errors may stand around the node, or around what names its function in this file.
    """
    if not context.is_parsed:
        return "an error may be expected here" if context.matches(_HANDLES) else None
    if context.matches(_EXPECTS_ALL):
        return "the tests of this file are expected to fail"
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    place = next((each for each in places if each is not None), context.tree)
    if _is_caught(place, context):
        return "the code around may expect the error"
    for function in _functions_around(place, context):
        if any(_is_caught(each, context) for each in _mentions(function, context)):
            return f"a caller of `{function.name}` may expect the error"
    return None


def _expected_elsewhere(node: cst.CSTNode, context: FileContext) -> str | None:
    """Return which other file of the project may expect an error of the functions around a node; None for none."""
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    place = next((each for each in places if each is not None), None)
    if place is None:
        return None
    names = (_called_by(each, context) for each in _functions_around(place, context))
    return next((found for name in names if (found := context.other_texts.handles(name)) is not None), None)


def _called_by(function: Function, context: FileContext) -> str:
    """Return the name by which other code calls a function: that of its class for a constructor."""
    above = context.parent(function)
    return above.name if isinstance(above, ast.ClassDef) and function.name == "__init__" else function.name


def _functions_around(place: ast.AST, context: FileContext) -> Iterator[Function]:
    """Yield the function that a place stands in, and those around it: all of these run before the place does."""
    for above in context.ancestors(place):
        if isinstance(above, _FUNCTIONS):
            yield above


@remembered
def _mentions(function: Function, context: FileContext) -> tuple[ast.AST, ...]:
    """Return where the file names a function, or the class that it makes objects of."""
    above = context.parent(function)
    made = above.name if isinstance(above, ast.ClassDef) and function.name == "__init__" else None
    words = {function.name, made or function.name}
    names = (each for each in context.nodes(ast.Name) if each.id in words)
    return (*names, *(each for each in context.nodes(ast.Attribute) if each.attr in words))


def _is_caught(place: ast.AST, context: FileContext) -> bool:
    """Whether something around a place, up to the function that it stands in, takes errors or expects them."""
    below = place
    for above in context.ancestors(place):
        match above:
            case ast.With(body=body, items=items) | ast.AsyncWith(body=body, items=items):
                caught = below in body and any(_expects(each.context_expr) for each in items)
            case ast.Call(func=function):
                caught = below is not function and _expects(above)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return _is_marked(above, context)
            case _:
                handlers = getattr(above, "handlers", ())
                caught = bool(handlers) and below in getattr(above, "body", ()) and any(map(_takes, handlers))
        if caught:
            return True
        below = above
    return False


def _is_marked(function: Function, context: FileContext) -> bool:
    """Whether a decorator of a function, or of a class around it, takes errors or expects them."""
    around = (each for each in context.ancestors(function) if isinstance(each, ast.ClassDef))
    return any(_CATCHES.search(ast.unparse(mark)) for each in (function, *around) for mark in each.decorator_list)


def _takes(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may take the error and go on: one that ends with ``raise`` hands it on."""
    if isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None:
        return False
    return handler.type is None or _may_be_raised(handler.type)


def _expects(node: ast.expr) -> bool:
    """Whether an expression says that an error of a kind that conversions raise is expected."""
    match node:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=args):
            return bool(_CATCHES.search(word)) and (not args or any(map(_may_be_raised, args)))
    return False


def _may_be_raised(kind: ast.expr) -> bool:
    """Whether a class of errors, or one of several, is none of those that are known to be others."""
    if isinstance(kind, ast.Tuple):
        return any(map(_may_be_raised, kind.elts))
    return not (isinstance(kind, ast.Name) and kind.id in UNRELATED)
