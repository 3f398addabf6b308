"""What calls, classes and functions say by their spelling alone: words, fields, tests for `None`, and how they end."""

from __future__ import annotations

import ast

from torchlint.inference.program import bindings
from torchlint.syntax.ast_index import AstIndex, Function


def names_function(node: ast.expr) -> bool:
    """Whether an expression is a name, an attribute, or an attribute by its name: ``getattr(lib, 'run')``."""
    match node:
        case ast.Name() | ast.Attribute():
            return True
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str())]):
            return True
    return False


def last_word(node: ast.expr) -> str | None:
    """Return the last word of what is called or named."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(word)), *_]):
            return word
        case ast.Call(func=function):
            return last_word(function)
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word
    return None


def fields_of(record: ast.ClassDef) -> list[str]:
    """Return the annotated names of a class, in order."""
    return [
        each.target.id for each in record.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def asks_for_none(test: ast.expr, code: str) -> bool | None:
    """Return how a test comes out where an expression is `None`; None where it does not ask for that."""
    match test:
        case ast.Compare(left=tested, ops=[operator], comparators=[ast.Constant(value=None)]):
            return isinstance(operator, ast.Is | ast.Eq) if ast.unparse(tested) == code else None
        case ast.Call(args=[tested, *_]) | tested if ast.unparse(tested) == code:
            return False
    return None


def text_of(node: ast.expr) -> str | None:
    """Return what a string says; None for others."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_namespace(node: ast.expr) -> bool:
    """Whether an expression is the dictionary of an object's attributes."""
    match node:
        case ast.Call(func=ast.Name(id="vars"), args=[_]) | ast.Attribute(attr="__dict__"):
            return True
    return False


def ends_without_value(function: Function, index: AstIndex) -> bool:
    """Whether a function may end without a value, and so gives `None`.

    A method that gives none anywhere is asked of its subclasses.
    """
    returns = bindings.own(index, function, ast.Return)
    if bindings.own(index, function, ast.Yield, ast.YieldFrom):
        return False
    if isinstance(index.parents.get(function), ast.ClassDef) and not any(each.value is not None for each in returns):
        return False
    return any(each.value is None for each in returns) or _may_end(function.body)


def _may_end(body: list[ast.stmt]) -> bool:
    """Whether what follows a block may be reached, as far as its last statement shows."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue():
            return False
        case ast.If(body=first, orelse=second):
            return not second or _may_end(first) or _may_end(second)
        case ast.With(body=inner) | ast.AsyncWith(body=inner):
            return _may_end(inner)
        case ast.Try(body=first, handlers=handlers, orelse=second, finalbody=final):
            if final and not _may_end(final):
                return False
            return _may_end(second or first) or any(_may_end(each.body) for each in handlers)
        case ast.While(test=ast.Constant(value=value)) if value:
            return any(isinstance(each, ast.Break) for each in ast.walk(body[-1]))
        case ast.Match(cases=cases):
            return any(_may_end(each.body) for each in cases) or not _takes_all(cases[-1])
        case ast.Expr(value=ast.Call(func=function)):
            return last_word(function) not in ("exit", "_exit", "fail", "abort")
        case ast.Assert(test=ast.Constant(value=value)):
            return bool(value)
    return True


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
