"""What shows in a text that somebody waits for an error or for a warning: handlers, tests, filters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.inference.program.warning_filters import OTHER_WARNINGS, is_fatal
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function
from torchlint.syntax.signatures import plain_parameters

# fmt: off
_OTHER_ERRORS = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "BrokenPipeError", "ConnectionError", "EOFError",
    "FileExistsError", "FileNotFoundError", "FloatingPointError", "GeneratorExit", "IOError", "ImportError",
    "InterruptedError", "KeyError", "KeyboardInterrupt", "MemoryError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "OSError", "OverflowError", "PermissionError", "RecursionError", "StopAsyncIteration",
    "StopIteration", "SyntaxError", "SystemExit", "TimeoutError", "UnicodeDecodeError", "UnicodeEncodeError",
    "UnicodeError", "ZeroDivisionError",
})
# fmt: on
"""Built-in classes of errors that no conversion of a tensor raises: their handlers expect something else."""
_RECORDING = "catch_warnings"
_TRACEBACK = re.compile(r"Traceback \((?:most recent call last|innermost last)\):(.*?)(?=>>>|\Z)", re.DOTALL)
_EXAMPLE = re.compile(r"^[ \t]*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)
_ERROR_NAME = re.compile(r"^[ \t]*(?:\w+\.)*([A-Z]\w*)(?::|[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Signal:
    """What old code may send to whoever runs it, and the new code does not."""

    name: str
    words: re.Pattern[str]
    """Words of what takes it: ``pytest.raises``, ``assertRaises``, ``contextlib.suppress``, ``mark.xfail``."""
    others: re.Pattern[str]
    """The names of classes of which no conversion of a tensor sends one."""
    is_error: bool
    is_answered_alike: bool = False
    """Whether the new code sends an error at the same place, which a handler for all errors takes just as well."""

    @property
    def key(self) -> str:
        """What tells it from other signals."""
        return f"{self.name}, answered alike" if self.is_answered_alike else self.name

    def expects(self, node: ast.expr) -> bool:
        """Whether an expression says that one of a kind that conversions send is expected."""
        match node:
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word)) if word == _RECORDING:
                return not self.is_error and any(map(_records, node.keywords))
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=args):
                return bool(self.words.search(word)) and (not args or any(map(self._may_be_sent, args)))
        return False

    def is_taken_around(self, node: ast.With | ast.AsyncWith) -> bool:
        """Whether the contexts of a block, or a filter that is set in it, expect one."""
        contexts = [each.context_expr for each in node.items]
        if any(map(self.expects, contexts)):
            return True
        return not self.is_error and any(map(_keeps_filters, contexts)) and any(map(is_fatal, ast.walk(node)))

    def is_taken_in(self, node: ast.stmt) -> bool:
        """Whether a statement takes what is sent inside it."""
        match node:
            case ast.Try(handlers=handlers, finalbody=last) if self.is_error:
                return any(map(self.is_handled, handlers)) or may_leave_early(last)
            case ast.With() | ast.AsyncWith():
                return self.is_taken_around(node)
        return False

    def is_handled(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler may take the error and go on: one that ends with ``raise`` hands it on."""
        if (
            isinstance(handler.body[-1], ast.Raise)
            and handler.body[-1].exc is None
            and not may_leave_early(handler.body)
        ):
            return False
        if self.is_answered_alike and _takes_all(handler.type) and not _looks_at_error(handler):
            return False
        return handler.type is None or self._may_be_sent(handler.type)

    def is_taken_by(self, kind: ast.ClassDef) -> bool:
        """Whether a class is a context that takes what is sent inside it."""
        if self.is_error:
            return any(isinstance(each, FUNCTIONS) and _swallows(each) for each in kind.body)
        return any(isinstance(each, ast.Call) and self.expects(each) for each in ast.walk(kind))

    def is_marked(self, index: AstIndex, function: Function) -> bool:
        """Whether a decorator of a function, or of a class around it, says that one is expected."""
        classes = (each for each in index.ancestors(function) if isinstance(each, ast.ClassDef))
        marks = [mark for each in (function, *classes) for mark in each.decorator_list]
        if any(self.words.search(ast.unparse(each)) for each in marks):
            return True
        return not self.is_error and (
            any(map(is_fatal, marks)) or any(each.arg == "recwarn" for each in plain_parameters(function))
        )

    def marks_all(self, statement: ast.stmt) -> bool:
        """Whether a statement says that all tests of the text expect one."""
        match statement:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                return "xfail" in ast.unparse(value) if self.is_error else any(map(is_fatal, ast.walk(value)))
        return False

    def _may_be_sent(self, kind: ast.expr) -> bool:
        """Whether a class, or one of several, is none of those that are known to be others."""
        if isinstance(kind, ast.Tuple):
            return any(map(self._may_be_sent, kind.elts))
        return not (isinstance(kind, ast.Name) and self.others.fullmatch(kind.id))


ERROR = Signal(
    "error",
    re.compile(r"raises|suppress|xfail|expected_?failure|catch(?!_warnings)|retry", re.IGNORECASE),
    re.compile("|".join(sorted(_OTHER_ERRORS))),
    is_error=True,
)
REFUSAL = Signal(
    "error",
    ERROR.words,
    re.compile("|".join(sorted((_OTHER_ERRORS - {"AttributeError"}) | {"RuntimeError", "ValueError", "IndexError"}))),
    is_error=True,
    is_answered_alike=True,
)
"""The `TypeError` by which torch refuses what is no tensor, where the new code raises an `AttributeError`."""
WARNING = Signal("warning", re.compile(r"warns|recwarn", re.IGNORECASE), OTHER_WARNINGS, is_error=False)


def _takes_all(kind: ast.expr | None) -> bool:
    match kind:
        case None | ast.Name(id="Exception" | "BaseException"):
            return True
    return False


def _looks_at_error(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may tell one error from another: it names it, or asks for what is being handled."""
    words = (getattr(each, "attr", getattr(each, "id", "")) for each in ast.walk(handler))
    return handler.name is not None or any("exc" in word or "traceback" in word for word in words)


def doctest_words(text: str) -> Iterator[str]:
    """Yield the words of a string's examples where one of them is to end with an error that conversions may raise."""
    ends = [name for each in _TRACEBACK.findall(text) for name in _ERROR_NAME.findall(each)]
    if any(each not in _OTHER_ERRORS for each in ends):
        yield from re.findall(r"\w+", "\n".join(_EXAMPLE.findall(text)))


def may_leave_early(body: list[ast.stmt]) -> bool:
    """Whether statements may end by ``return``, ``break`` or ``continue``: in ``finally`` these drop an error."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            inner = ast.iter_child_nodes(node)
            is_loop = isinstance(node, ast.For | ast.AsyncFor | ast.While)
            waiting += (each for each in ast.walk(node) if isinstance(each, ast.Return)) if is_loop else inner
    return False


def _records(word: ast.keyword) -> bool:
    """Whether ``catch_warnings`` keeps warnings for somebody, or makes errors of them."""
    if word.arg == "record":
        return not (isinstance(word.value, ast.Constant) and not word.value.value)
    return word.arg == "action" and not (isinstance(word.value, ast.Constant) and word.value.value != "error")


def _keeps_filters(context: ast.expr) -> bool:
    match context:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word)):
            return word == _RECORDING
    return False


def _swallows(method: Function) -> bool:
    """Whether a method ends a ``with`` block, and may say that the error is dealt with."""
    if method.name not in ("__exit__", "__aexit__"):
        return False
    returned = (each.value for each in ast.walk(method) if isinstance(each, ast.Return))
    return any(not (each is None or (isinstance(each, ast.Constant) and not each.value)) for each in returned)
