"""What the calls of a private function give it: where all of them stand in one file, its arguments are known."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.inference.facts import Mode, Reason, Value, join_all
from torchlint.inference.lexical import spelled
from torchlint.inference.models import grad_mode
from torchlint.inference.models.devices import last_word
from torchlint.inference.models.operations import leaf
from torchlint.inference.presumptions import hook_mode
from torchlint.syntax.outline import Function, Outline

if TYPE_CHECKING:
    from torchlint.inference.flow import Flow
    from torchlint.inference.scope import File

_TEST = re.compile(r"^(test_.*|.*_test|conftest)\.py$")

_MOST_CALLS = 20
"""A function that is called more often is taken for a public one."""

_DEEPEST = 5
"""Callers of callers are followed this far up."""


@dataclass(frozen=True)
class Called:
    """The calls of one function, as its callers' own walks see them."""

    calls: tuple[ast.Call, ...]


class Callers:
    """The functions of one file that nobody else calls."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[ast.AST, Called | None] = {}

    def of(self, function: Function) -> Called | None:
        """Give all calls of a function; None where others may call it, or where it is handed around."""
        if function not in self._known:
            self._known[function] = self._look(function)
        return self._known[function]

    def argument(self, function: Function, index: int, word: str, default: Value | None) -> Value | None:
        """Give the join of what the calls give for an argument, or leave to its default; None where it is not known."""
        called = self.of(function)
        if called is None:
            return None
        values = []
        for call in called.calls:
            node = _given(call, index, word)
            value = self._value(call, node) if node is not None else default
            if value is None:
                return None
            values.append(value)
        return join_all(values)

    def mode(self, function: Function) -> Mode | None:
        """Give the join of the grad modes at the calls; None where they are not known."""
        called = self.of(function)
        if called is None:
            return hook_mode(self._file, function) if self._file.project.presuming else None
        joined = Mode(0)
        for call in called.calls:
            flow = self._flow(call)
            if flow is None or call not in flow.modes:
                return None
            joined |= flow.modes[call]
        return joined

    def _value(self, call: ast.Call, node: ast.expr) -> Value | None:
        flow = self._flow(call)
        value = flow.values.get(node) if flow is not None else None
        if value is None or not value.kind:
            return None
        return value.having(why_grad=_passed(value.why_grad, call), why_place=_passed(value.why_place, call))

    def _flow(self, call: ast.Call) -> Flow | None:
        owner = self._file.owner(call)
        project = self._file.project
        if owner is not None and (owner in project.running or project.nested > _DEEPEST):
            return None
        return self._file.flow_of(call)

    # ------------------------------------------------------------------ who calls
    def _look(self, function: Function) -> Called | None:
        if function.name.startswith("__") or function.args.vararg or not self._is_private(function):
            return None
        outline = self._file.outline
        method = isinstance(outline.parents.get(function), ast.ClassDef)
        if not all(_is_plain(each) for each in function.decorator_list):
            return None
        references = self._references(function.name, method)
        found = [call for each in references if (call := _call_of(each, outline.parents.get(each))) is not None]
        if len(found) != len(references) or not 0 < len(found) <= _MOST_CALLS:
            return None
        if any(self._file.owner(call) is function for call in found):
            return None
        starred = any(isinstance(each, ast.Starred) for call in found for each in call.args)
        if starred or any(keyword.arg is None for call in found for keyword in call.keywords):
            return None
        return Called(tuple(found))

    def _references(self, word: str, method: bool) -> list[ast.expr]:
        outline = self._file.outline
        attributes, names = outline.told(spelled, outline.tree)
        return [*attributes.get(word, ()), *(() if method else names.get(word, ()))]

    def _is_private(self, function: Function) -> bool:
        """Whether nobody outside the file calls a function, by its name, its place or what the file is."""
        outline, word = self._file.outline, function.name
        if outline.told(_names, outline.tree)[word] > 1:
            return False
        if isinstance(outline.parents.get(function), ast.ClassDef):
            return word.startswith("_")
        if self._file.owner(function) is not None or word.startswith("_"):
            return True
        return self._file.is_program and not word.startswith("test")


def _names(outline: Outline, _: ast.Module) -> Counter[str]:
    """Count the functions of a file by name."""
    functions: list[Function] = [*outline.nodes(ast.FunctionDef), *outline.nodes(ast.AsyncFunctionDef)]
    return Counter(each.name for each in functions)


def is_test(path: str) -> bool:
    """Whether a file is one that pytest collects, by its name."""
    return bool(_TEST.match(os.path.basename(path)))


def is_program(path: str, tree: ast.Module) -> bool:
    """Whether a file is run and not imported: a test, or a script outside of a package with its ``__main__`` guard."""
    if is_test(path):
        return True
    if os.path.isfile(os.path.join(os.path.dirname(path), "__init__.py")):
        return False
    return any(
        isinstance(each, ast.If) and "__main__" in ast.dump(each.test) and "__name__" in ast.dump(each.test)
        for each in tree.body
    )


_PLAIN_DECORATORS = frozenset({"lru_cache", "cache", "staticmethod"}) | frozenset(map(leaf, grad_mode.DECORATING))


def _is_plain(decorator: ast.expr) -> bool:
    """Whether a decorator leaves the calls as they are."""
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    word = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    return word in _PLAIN_DECORATORS


def _call_of(function: ast.expr, above: ast.AST | None) -> ast.Call | None:
    """Give the call of a function where that is all that is done with its name."""
    if not isinstance(above, ast.Call) or above.func is not function:
        return None
    if isinstance(function, ast.Attribute) and last_word(function.value)[:1].isupper():
        return None  # `Class.method(self, x)`
    return above


def _given(call: ast.Call, index: int, word: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == word:
            return keyword.value
    return call.args[index] if 0 <= index < len(call.args) else None


def _passed(reason: Reason | None, call: ast.Call) -> Reason | None:
    return Reason("{code} passes it", call, reason, weak=True) if reason is not None else None


__all__ = ["Called", "Callers", "is_program", "is_test"]
