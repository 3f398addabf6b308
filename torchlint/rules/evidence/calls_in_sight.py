"""Where a function is called, in its file and in others, and which function of the file a call runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from torchlint.rules.api import GRAD_MODES, FileContext, Kind, decorators_of, remembered
from torchlint.rules.evidence.local_bindings import names_of
from torchlint.rules.evidence.own_results import called_function, named_class

_FREE = GRAD_MODES | {"builtins.staticmethod"}
"""Decorators that leave alone what a function gives."""


def calls_of(function: ast.FunctionDef, context: FileContext) -> Iterator[tuple[FileContext, ast.Call]]:
    """Yield the calls of a function in the project, where no other can be meant, each with its file.

    None of a generator, nor of what a decorator may change.
    """
    if context.own(function, ast.Yield, ast.YieldFrom) or not _is_free(function, context):
        return
    uses: list[ast.Name | ast.Attribute] = []
    owner = context.parent(function)
    if isinstance(owner, ast.Module):
        uses += (each for each in context.names_by_word().get(function.name, []))
    elif isinstance(owner, ast.ClassDef) and function.name == "__init__":
        uses += (each for each in context.names_by_word().get(owner.name, []) if named_class(each, context) is owner)
    elif _is_only_method(function, context):
        uses += (each for each in context.attributes_by_word().get(function.name, []))
    for each in uses:
        call = context.parent(each)
        if not isinstance(call, ast.Call) or call.func is not each or function in context.ancestors(call):
            continue
        is_of_class = function.name == "__init__" and isinstance(owner, ast.ClassDef)
        if isinstance(each, ast.Attribute) or is_of_class or called_function(each, context) is function:
            yield context, call
    yield from context.calls_elsewhere(function)


def _is_only_method(function: ast.FunctionDef, context: FileContext) -> bool:
    """Whether a function is a method, and the only one in the file of that name."""
    if not isinstance(context.parent(function), ast.ClassDef):
        return False
    return _methods(context.tree, context).get(function.name) == 1


def _is_free(function: ast.FunctionDef, context: FileContext) -> bool:
    """Whether no decorator may change what a function gives."""
    return all((names := names_of(each, context)) and names <= _FREE for each in decorators_of(function))


@remembered
def _methods(tree: ast.Module, context: FileContext) -> dict[str, int]:  # noqa: ARG001
    """Return how many functions of a file have a name."""
    found: Counter[str] = Counter()
    found.update(each.name for each in context.nodes(ast.FunctionDef))
    found.update(each.name for each in context.nodes(ast.AsyncFunctionDef))
    return found


def called_in_sight(function: ast.expr, context: FileContext) -> ast.FunctionDef | None:
    """Return the function of the file that a call runs: one of the module, a method of `self`, a module's `forward`."""
    if isinstance(function, ast.Name) and (found := called_function(function, context)) is not None:
        return found
    match function:
        case ast.Attribute(value=ast.Name(id="self"), attr=word):
            around = context.nearest(function, ast.ClassDef)
            own = _method(around, word) if around is not None else None
            if own is not None:
                return own if _is_only_method(own, context) and _is_free(own, context) else None
    known = context.value(function)
    classes = [each for each in context.nodes(ast.ClassDef) if _is_of(known.instance, each)]
    forward = _method(classes[0], "forward") if len(classes) == len(known.instance) == 1 else None
    return forward if forward is not None and known.must(Kind.MODULE) and _is_free(forward, context) else None


def _is_of(instance: frozenset[str], owner: ast.ClassDef) -> bool:
    """Whether an object is known to be of a class, by the name under which values carry it."""
    return any(each.endswith(f".{owner.name}@{owner.lineno}") for each in instance)


def _method(owner: ast.ClassDef, word: str) -> ast.FunctionDef | None:
    return next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == word), None)
