"""Whether an error of the old code is expected in the same function: a fix without it then changes what happens."""

from __future__ import annotations

import ast
import re

import libcst as cst

from torchlint.diagnostics.assumptions import ERROR_NOT_EXPECTED, Decision
from torchlint.rules.api import FileContext

_HANDLES = re.compile(rb"^\s*except\b|raises|Raises|suppress", re.MULTILINE)
_EXPECTS = re.compile(r"raises|suppress|xfail|expected_?failure", re.IGNORECASE)
_EVERY = frozenset({"Exception", "BaseException"})
_OTHERS = frozenset(
    "ArithmeticError AssertionError EOFError FileExistsError FileNotFoundError GeneratorExit IOError ImportError "
    "KeyError KeyboardInterrupt MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError "
    "PermissionError RecursionError StopIteration SystemExit TimeoutError UnicodeDecodeError ZeroDivisionError".split()
)
"""Built-in classes of errors that no conversion of a tensor raises: their handlers expect something else."""


def error_not_expected(node: cst.CSTNode, context: FileContext) -> Decision:
    """Decide whether nothing around a node, in the same function, expects the error that it raises."""
    if not context.is_parsed:
        return ERROR_NOT_EXPECTED.decided("an error may be expected here" if context.matches(_HANDLES) else None)
    places = (context.python(each) for each in (node, *context.ancestors(node)))
    place = next((each for each in places if each is not None), context.tree)
    expected = _is_expected(place, context)
    return ERROR_NOT_EXPECTED.decided("the code around may expect the error" if expected else None)


def _is_expected(place: ast.AST, context: FileContext) -> bool:
    below = place
    for above in context.ancestors(place):
        match above:
            case ast.Try(body=body, handlers=handlers) if below in body:
                if any(_takes(each.type) for each in handlers):
                    return True
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_expects(each.context_expr) for each in items):
                    return True
            case ast.Call() if below is not above.func and _expects(above):  # assertRaises(E, lambda: x.numpy())
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any(_EXPECTS.search(ast.unparse(each)) for each in above.decorator_list):
                    return True
                outer = context.function_around(above)  # which may call it under `pytest.raises`
                uses = context.names_by_word().get(above.name, ()) if outer is not None else ()
                own = (each for each in uses if context.function_around(each) is outer)
                return any(_is_expected(each, context) for each in own)
        below = above
    return False


def _takes(kind: ast.expr | None) -> bool:
    """Whether a handler takes an error that conversions raise."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    names = {each.id if isinstance(each, ast.Name) else "" for each in kinds} if kind is not None else set(_EVERY)
    return not names <= _OTHERS


def _expects(context: ast.expr) -> bool:
    """Whether a call expects an error: ``pytest.raises(RuntimeError)``, ``suppress(TypeError)``."""
    if not isinstance(context, ast.Call) or not isinstance(context.func, ast.Name | ast.Attribute):
        return False
    word = context.func.attr if isinstance(context.func, ast.Attribute) else context.func.id
    kind = context.args[0] if context.args else None
    return _EXPECTS.search(word) is not None and _takes(kind)
