"""The project's own decorators and context managers: the grad mode they make, and whether results pass through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import Kind, Mode, Value, of_kind
from torchlint.inference.models import grad_mode
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.operations import leaf
from torchlint.syntax.ast_index import FUNCTIONS, Function
from torchlint.syntax.signatures import decorators_of, positional_parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})

_DEEPEST = 3
"""Decorators made of other decorators are followed this deep."""

_ENTER = "__enter__"


class Wrappers:
    """What the project's functions do to the functions and blocks that they are put around."""

    def __init__(self, file: File) -> None:
        self._file = file

    def decorated(self, decorator: Value, mode: Mode, depth: int = _DEEPEST) -> Mode:
        """Return the grad mode in the body of a function under a decorator of the project, ``mode`` being outside."""
        inside = Mode(0)
        for home, node in self._functions(decorator):
            inside |= home.wrappers.calls_under(node, mode, depth)
        return inside or mode

    def calls_under(self, decorator: Function, mode: Mode, depth: int) -> Mode:
        """Return the join of the grad modes in which a decorator calls the function that it is given."""
        arguments = positional_parameters(decorator)
        if not arguments or not depth:
            return mode
        word = arguments[-1].arg if arguments[0].arg in ("self", "cls") else arguments[0].arg
        inside = Mode(0)
        for call in self._file.index.inside(decorator, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == word:
                at = self._file.flow_of(call).modes.get(call, mode)
                inside |= at if _switches(decorator) else mode
            elif any(isinstance(each, ast.Name) and each.id == word for each in call.args):
                wrapper = self._file.flow_of(call).values.get(call.func)
                if wrapper is not None and grad_mode.switches(wrapper):
                    inside |= grad_mode.decorated(wrapper, mode)
                elif wrapper is not None and any(self._functions(wrapper)):
                    inside |= self.decorated(wrapper, mode, depth - 1)
        return inside or mode

    def outermost(self, function: Function, under: int) -> int | None:
        """Return the place of the first decorator of the project that may change what calls give; None where none does.

        The first ``under`` decorators are left out.
        """
        for at in range(under, len(function.decorator_list)):
            if self._is_own(self.decorator(function, at)) and not self._is_manager_call(function, at):
                return at
        return None

    def mode_above(self, function: Function, places: range, mode: Mode) -> Mode:
        """Return the grad mode below some of a function's decorators, ``mode`` being the one at the call."""
        for at in places:
            node, decorator = function.decorator_list[at], self.decorator(function, at)
            callee = self._file.outside(function, node.func) if isinstance(node, ast.Call) else None
            mode = self.below(decorator, callee, mode)
        return mode

    def below(self, decorator: Value, callee: Value | None, mode: Mode) -> Mode:
        """Return the grad mode below one decorator; ``callee`` is what was called to make it."""
        if callee is not None and self.is_context_manager(callee):
            return self.entered(callee, mode)
        if decorator.instance:
            return grad_mode.entered(decorator, mode, self.of_classes(decorator, mode))
        return self.decorated(decorator, grad_mode.decorated(decorator, mode))

    def decorator(self, function: Function, at: int) -> Value:
        """Return the value of one of a function's decorators."""
        return self._file.outside(function, function.decorator_list[at])

    def _is_own(self, value: Value) -> bool:
        definitions = self._file.project.definitions
        return any(name in definitions for name in value.names | value.instance)

    def _is_manager_call(self, function: Function, at: int) -> bool:
        node = function.decorator_list[at]
        return isinstance(node, ast.Call) and self.is_context_manager(self._file.outside(function, node.func))

    def entered(self, callee: Value, mode: Mode) -> Mode:
        """Return the grad mode inside ``with callee(...):`` for a function of the project.

        One that is no context manager makes a context out of sight: if it speaks of grad mode, that may be either.
        """
        inside = Mode(0)
        for home, node in self._functions(callee):
            if not _is_manager(home, node):
                inside |= Mode.ON | Mode.OFF if _switches(node) else mode
                continue
            for each in home.index.inside(node, ast.Yield):
                inside |= home.summaries.modes(node, mode).get(each, mode)
        return inside or mode

    def of_classes(self, context: Value, mode: Mode) -> dict[str, Mode]:
        """Return the grad mode inside the blocks of a context, by those of its classes that are the project's own.

        It is the one that ``__enter__`` leaves behind, or that of a context of torch from which the class derives.
        """
        inside = {}
        for name in context.instance:
            home, node = self._file.project.definitions.get(name, (self._file, None))
            if not isinstance(node, ast.ClassDef):
                continue
            known = home.classes.of(node)
            found = known.method(_ENTER)
            left = found[0].wrappers.left_behind(found[1]) if found is not None else None
            bases = frozenset(base for each in known.line() for base in each.bases) & grad_mode.GRAD_MODES
            inherited = grad_mode.entered(of_kind(Kind.OTHER, instance=bases), mode) if found is None else mode
            inside[name] = inherited if left is None else left
        return inside

    def is_context_manager(self, callee: Value) -> bool:
        """Whether a function of the project makes contexts from what it yields."""
        found = [_is_manager(home, node) for home, node in self._functions(callee)]
        return bool(found) and all(found)

    def left_behind(self, function: Function) -> Mode | None:
        """Return the grad mode that calling a function leaves behind; None where it leaves it as it was."""
        index = self._file.index
        words = grad_mode.AT_ONCE | {_ENTER}
        if not any(each.attr in words for each in index.inside(function, ast.Attribute)):
            return None
        calls = [each.value for each in index.inside(function, ast.Expr) if isinstance(each.value, ast.Call)]
        switched = any(getattr(call.func, "attr", None) in words for call in calls)
        return self._file.general(function).env.mode if switched else None

    def _functions(self, value: Value) -> Iterator[tuple[File, Function]]:
        for name in sorted(value.names):
            home, node = self._file.project.definitions.get(name, (self._file, None))
            if isinstance(node, FUNCTIONS):
                yield home, node


def _is_manager(home: File, node: Function) -> bool:
    return any(home.outside(node, each).names & _CONTEXT_MANAGERS for each in node.decorator_list)


def is_resumed_alike(function: Function | None) -> bool:
    """Whether a generator goes on in the grad mode in which it left off, whoever goes on with it.

    Torch's own decorators set it each time, though not for a coroutine; a context is left in the mode in which it was
    entered.
    """
    words = set(map(last_word_of_name, decorators_of(function))) if function is not None else set()
    alike = {leaf(each) for each in _CONTEXT_MANAGERS}
    return not words.isdisjoint(alike if isinstance(function, ast.AsyncFunctionDef) else alike | grad_mode.WORDS)


def _switches(node: ast.AST) -> bool:
    return any(getattr(each, "attr", getattr(each, "id", None)) in grad_mode.WORDS for each in ast.walk(node))
