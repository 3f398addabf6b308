"""The project's own decorators and context managers: the grad mode they make, and whether results pass through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.inference import modes
from torchlint.inference.facts import Mode, Value
from torchlint.inference.library import MODES

if TYPE_CHECKING:
    from torchlint.inference.binding import Function
    from torchlint.inference.scope import File

_CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})

_MODES = MODES.keys() | {"torch.set_grad_enabled"}

_SWITCHES = frozenset({"no_grad", "inference_mode", "set_grad_enabled", "enable_grad"})

_DEEPEST = 3
"""Decorators made of other decorators are followed this deep."""


class Wrappers:
    """What the project's functions do to the functions and blocks that they are put around."""

    def __init__(self, file: File) -> None:
        self._file = file

    def decorated(self, decorator: Value, mode: Mode, depth: int = _DEEPEST) -> Mode:
        """Give the grad mode in the body of a function under a decorator of the project, ``mode`` being outside."""
        inside = Mode(0)
        for home, node in self._functions(decorator):
            inside |= home.wrappers.calls_under(node, mode, depth)
        return inside or mode

    def calls_under(self, decorator: Function, mode: Mode, depth: int) -> Mode:
        """Give the join of the grad modes in which a decorator calls the function that it is given."""
        arguments = [*decorator.args.posonlyargs, *decorator.args.args]
        if not arguments or not depth:
            return mode
        word = arguments[-1].arg if arguments[0].arg in ("self", "cls") else arguments[0].arg
        inside = Mode(0)
        for call in (node for node in ast.walk(decorator) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id == word:
                inside |= self._file.flow_of(call).modes.get(call, mode)
            elif any(isinstance(each, ast.Name) and each.id == word for each in call.args):
                wrapper = self._file.flow_of(call).values.get(call.func)
                if wrapper is not None and (wrapper.instance | wrapper.names) & (
                    MODES.keys() | {"torch.set_grad_enabled"}
                ):
                    inside |= modes.decorated([wrapper], mode)
                elif wrapper is not None and any(self._functions(wrapper)):
                    inside |= self.decorated(wrapper, mode, depth - 1)
        return inside or mode

    def hands_through(self, decorator: Value) -> bool:
        """Whether a decorated function's results come back as they are; only the project's decorators are asked."""
        return all(_returns_the_result(node) for _, node in self._functions(decorator))

    def entered(self, callee: Value, mode: Mode) -> Mode:
        """Give the grad mode inside ``with callee(...):`` where that is a context manager of the project."""
        inside = Mode(0)
        for home, node in self._functions(callee):
            if not _is_manager(home, node):
                continue
            flow = home.general(node)
            for each in ast.walk(node):
                if isinstance(each, ast.Yield):
                    at = flow.modes.get(each, Mode.ON)
                    inside |= mode if at == Mode.ON and not _switches(node) else at
        return inside or mode

    def is_context_manager(self, callee: Value) -> bool:
        """Whether a function of the project makes contexts from what it yields."""
        found = [_is_manager(home, node) for home, node in self._functions(callee)]
        return bool(found) and all(found)

    def left_behind(self, function: Function) -> Mode | None:
        """Give the grad mode that calling a function leaves behind; None where it leaves it as it was."""
        if not any(isinstance(each, ast.Attribute) and each.attr == "set_grad_enabled" for each in ast.walk(function)):
            return None
        calls = [
            each.value for each in ast.walk(function) if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
        ]
        names = (getattr(call.func, "attr", None) for call in calls)
        return self._file.general(function).env.mode if "set_grad_enabled" in names else None

    def _functions(self, value: Value) -> Iterator[tuple[File, Function]]:
        for name in sorted(value.names):
            home, node = self._file.project.definitions.get(name, (self._file, None))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield home, node


def _is_manager(home: File, node: Function) -> bool:
    return any(home.outside(node, each).names & _CONTEXT_MANAGERS for each in node.decorator_list)


def _switches(node: ast.AST) -> bool:
    return any(getattr(each, "attr", None) in _SWITCHES for each in ast.walk(node))


def _returns_the_result(decorator: Function) -> bool:
    """Whether all that a decorator's inner functions return is what the function they are given returned."""
    arguments = [*decorator.args.posonlyargs, *decorator.args.args]
    words = {each.arg for each in arguments}
    inner = [
        each
        for each in ast.walk(decorator)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each is not decorator
    ]
    for function in inner:
        got = {
            target.id
            for each in ast.walk(function)
            if isinstance(each, ast.Assign) and _calls(each.value, words)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        for each in ast.walk(function):
            if not isinstance(each, ast.Return) or each.value is None or _calls(each.value, words):
                continue
            if isinstance(each.value, ast.Name) and each.value.id in got | {other.name for other in inner}:
                continue
            if isinstance(each.value, ast.Call):  # `return no_grad()(function)`, another decorator around it
                continue
            return False
    return True


def _calls(node: ast.expr, words: set[str]) -> bool:
    inner = node.value if isinstance(node, ast.Await) else node
    return isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in words
