"""One state of a user's file as extraction sees it: its text, its tree, what is known, and how code is refused."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from torchlint.diagnostics.model import Edit, Settings
from torchlint.facts.value import Mode, Value
from torchlint.knowledge import Knowledge, analyse
from torchlint.source.shortening import one_line
from torchlint.syntax.ast_index import AstIndex, index_of
from torchlint.syntax.parse import read as text

Step = tuple[str, int | None]
"""From a node to one below it: the field, and the place in it where the field is a list."""


@dataclass(frozen=True)
class FileText:
    """A file's text with its tree and what inference says of it."""

    index: AstIndex
    settings: Settings

    @cached_property
    def analysis(self) -> Knowledge:
        """What inference says."""
        return analyse(self.index, self.settings, os.path.abspath(self.index.source.path))

    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression."""
        return self.analysis.value(node)

    def grad_is_off(self, node: ast.expr) -> bool:
        """Whether an expression is never evaluated with grad mode on."""
        return self.analysis.mode(node) == Mode.OFF

    def code(self, node: ast.AST) -> str:
        """Return an expression's text in one spelling."""
        return " ".join(ast.unparse(node).split())

    def brief(self, node: ast.AST) -> str:
        """Return an expression's text as far as it fits into a reason."""
        return one_line(ast.unparse(node), 40)

    def touched(self, node: ast.expr | ast.stmt, edits: tuple[Edit, ...]) -> bool:
        """Whether one of the edits changes something inside a node."""
        start, end = self.index.start(node), self.index.end(node)
        return any(
            start < each.start < end if each.start == each.end else each.start < end and each.end > start
            for each in edits
        )

    def encloses(self, node: ast.expr, edits: tuple[Edit, ...]) -> bool:
        """Whether all edits lie inside a node, none of them an insertion at its rim."""
        start, end = self.index.start(node), self.index.end(node)
        return all(
            start < each.start < end if each.start == each.end else start <= each.start and each.end <= end
            for each in edits
        )


@lru_cache(maxsize=8)
def read(path: str, raw: bytes, settings: Settings) -> FileText:
    """Read a file's bytes; those read last are remembered, as a file has many fixes.

    :raises SyntaxError: where the running Python cannot parse them.
    """
    return FileText(index_of(text(path, raw).source), settings)


def children(node: ast.AST) -> Iterator[tuple[Step, ast.AST]]:
    """Yield the nodes below a node with the steps that lead to them."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield (name, None), value
        elif isinstance(value, list):
            yield from (((name, at), each) for at, each in enumerate(value) if isinstance(each, ast.AST))


def follow(node: ast.AST, steps: tuple[Step, ...]) -> ast.AST | None:
    """Return the node that the same steps lead to from another node; None where they lead nowhere."""
    found: object = node
    for name, at in steps:
        found = getattr(found, name, None)
        if at is not None:
            found = found[at] if isinstance(found, list) and at < len(found) else None
    return found if isinstance(found, ast.AST) else None


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
    """Return the words for a form of code that is refused."""
    return _FORMS.get(type(node), f"`{type(node).__name__}`, which is not on the list")
