"""Where a function is called, in its file and in others, and which function of the file a call runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import FileContext


def calls_of(function: ast.FunctionDef, context: FileContext) -> Iterator[tuple[FileContext, ast.Call]]:
    """Yield the calls of a function in the project, where no other can be meant, each with its file.

    None of a generator, nor of what a decorator may change, and none by which a function calls itself.
    """
    if context.own(function, ast.Yield, ast.YieldFrom):
        return
    for file, call in context.calls_of(function):
        if file is not context or function not in context.ancestors(call):
            yield file, call


def called_in_sight(call: ast.Call, context: FileContext) -> ast.FunctionDef | None:
    """Return the function of the file that a call runs: one of the module, a method, a module's `forward`."""
    found = context.called(call)
    return None if found is None or context.own(found, ast.Yield, ast.YieldFrom) else found
