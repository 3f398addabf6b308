"""How it is said that code may not be in a fragment."""

from __future__ import annotations

import ast


class RefusedError(Exception):
    """Code that a fragment may not hold; the text says which and why."""


_FORMS: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.Await: "an `await`",
    ast.Yield: "a `yield`",
    ast.YieldFrom: "a `yield`",
    ast.NamedExpr: "a `:=`",
    ast.While: "a `while` loop",
    ast.Try: "a `try`",
    ast.FunctionDef: "a function",
    ast.AsyncFunctionDef: "a function",
    ast.ClassDef: "a class",
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Delete: "a `del`",
    ast.Global: "a `global`",
    ast.Nonlocal: "a `nonlocal`",
}


def form(node: ast.AST) -> str:
    """Give the words for a form of code that is refused."""
    return _FORMS.get(type(node), f"`{type(node).__name__}`, which is not on the list")


def shortened(code: str) -> str:
    """Give code as far as it fits into a reason."""
    return code if len(code) <= 40 else f"{code[:37]}..."
