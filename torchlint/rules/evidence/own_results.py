"""What functions and modules of the file itself give: where they are defined, and what they return."""

from __future__ import annotations

import ast
from collections import Counter

from torchlint.rules.api import GRAD_MODES, FileContext, Function, decorators_of, remembered
from torchlint.rules.evidence.local_bindings import names_of

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def returned(function: ast.expr, context: FileContext) -> list[ast.expr] | None:
    """Return what a function of the file may return, `None` aside; None where another function may be meant."""
    if not isinstance(function, ast.Name):
        return None
    found = _defined(function, context)
    return _results(found, context) if isinstance(found, ast.FunctionDef) else None


def called_function(function: ast.expr, context: FileContext) -> ast.FunctionDef | None:
    """Return the function of the file that a name means beyond doubt, if none of its decorators may change it."""
    found = _defined(function, context) if isinstance(function, ast.Name) else None
    return found if isinstance(found, ast.FunctionDef) and _results(found, context) is not None else None


def named_class(node: ast.expr, context: FileContext) -> ast.ClassDef | None:
    """Return the class of the file that a name means beyond doubt, if no decorator may change it."""
    found = _defined(node, context) if isinstance(node, ast.Name) else None
    return found if isinstance(found, ast.ClassDef) and not found.decorator_list else None


def _results(function: Function, context: FileContext) -> list[ast.expr] | None:
    """Return what a function returns; None for a generator, and behind a decorator that may change it."""
    calls = decorators_of(function)
    if not all((names := names_of(each, context)) and names <= GRAD_MODES for each in calls):
        return None
    if isinstance(function, ast.AsyncFunctionDef) or context.own(function, ast.Yield, ast.YieldFrom):
        return None
    return [each.value for each in context.own(function, ast.Return) if each.value is not None]


def _defined(name: ast.Name, context: FileContext) -> ast.stmt | None:
    """Return the definition at module level that a name means; None where anything else may bind the name."""
    return _definitions(context.tree, context).get(name.id)


@remembered
def _definitions(tree: ast.Module, context: FileContext) -> dict[str, ast.stmt]:
    """Return the functions and classes at a module's level whose name nothing else in the file binds."""
    defined = [each for each in tree.body if isinstance(each, _DEFINITIONS)]
    aliases = [alias.asname or alias.name for each in context.imports for alias in each.names]
    if "*" in aliases:
        return {}
    others = {alias.partition(".")[0] for alias in aliases}
    others |= {each.id for each in context.nodes(ast.Name) if not isinstance(each.ctx, ast.Load)}
    others |= {each.arg for each in context.nodes(ast.arg)}
    others |= {word for each in context.nodes(ast.Global) for word in each.names}
    every = (each for kind in _DEFINITIONS for each in context.nodes(kind))
    counts = Counter(
        each.name
        for each in every
        if isinstance(each, _DEFINITIONS) and not isinstance(context.parent(each), ast.ClassDef)
    )
    return {each.name: each for each in defined if each.name not in others and counts[each.name] == 1}
