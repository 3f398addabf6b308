"""Loops over a module's parameters that ask them to require grad, or not to: ``p.requires_grad = False``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.syntax.ast_index import AstIndex

_ONE_BY_ONE = frozenset({"parameters", "named_parameters"})


@dataclass(frozen=True)
class Asked:
    """What a loop asks of all parameters of a module."""

    module: ast.expr
    wanted: bool | None
    """None where it asks some of them alone, or as something else decides."""


def asked_of_all(index: AstIndex, loop: ast.For | ast.AsyncFor) -> Asked | None:
    """Return what a loop asks of the parameters that it goes through; None for other loops."""
    match loop.iter:
        case ast.Call(func=ast.Attribute(value=module, attr=word), args=[], keywords=[]) if word in _ONE_BY_ONE:
            pass
        case _:
            return None
    match loop.target:
        case ast.Name(id=each) | ast.Tuple(elts=[_, ast.Name(id=each)]):
            pass
        case _:
            return None
    found = [at for at in index.within(loop) if _is_asked(at, each)]
    if not found:
        return None
    whole = len(found) == 1 and not index.inside(loop, ast.Break, ast.Continue)
    return Asked(module, next(map(_wanted, loop.body), None) if whole and len(loop.body) == 1 else None)


def _is_asked(node: ast.AST, word: str) -> bool:
    """Whether a node sets ``requires_grad`` of what a name stands for."""
    match node:
        case ast.Attribute(value=ast.Name(id=found), attr="requires_grad", ctx=ast.Store()):
            return found == word
        case ast.Attribute(value=ast.Name(id=found), attr="requires_grad_"):
            return found == word
    return False


def _wanted(statement: ast.stmt) -> bool | None:
    """Return the constant that a statement asks for."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=ast.Constant(value=bool() as wanted)):
            return wanted
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_"), args=args, keywords=[])):
            match args:
                case []:
                    return True
                case [ast.Constant(value=bool() as wanted)]:
                    return wanted
    return None
