"""What names stand for by the text alone: parameters by a call's arguments, local names by their assignments."""

from __future__ import annotations

import ast

from torchlint.rule import FileContext, Function
from torchlint.rules.number_evidence import defaults

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def constructor(owner: ast.ClassDef) -> Function | None:
    """Give the ``__init__`` that a class body defines."""
    return next((each for each in owner.body if isinstance(each, _FUNCTIONS) and each.name == "__init__"), None)


def named_parameters(function: ast.AST) -> frozenset[str]:
    """Give the names of a function's parameters, those with stars left out."""
    if not isinstance(function, _FUNCTIONS):
        return frozenset()
    arguments = function.args
    return frozenset(each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def shared_names(function: ast.AST, context: FileContext) -> frozenset[str]:
    """Give the names of other scopes that a function binds: ``global x``."""
    others: tuple[type[ast.Global] | type[ast.Nonlocal], ...] = (ast.Global, ast.Nonlocal)
    return frozenset(word for kind in others for each in context.inside(function, kind) for word in each.names)


def stores(word: str, function: ast.AST, context: FileContext) -> list[ast.expr | None]:
    """Give what a function binds one of its names to; None for what is not understood."""
    names = (each for each in context.own(function, ast.Name) if each.id == word and isinstance(each.ctx, ast.Store))
    return [bound_to(each, context) for each in names]


def bind(call: ast.Call, function: Function, method: bool) -> dict[str, ast.expr]:
    """Give the arguments of a call by the names of a function's parameters, as far as they are written one by one."""
    positional = [*function.args.posonlyargs, *function.args.args][1 if method else 0 :]
    found: dict[str, ast.expr] = {}
    for parameter, argument in zip(positional, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[parameter.arg] = argument
    known = {each.arg for each in (*positional, *function.args.kwonlyargs)}
    found |= {each.arg: each.value for each in call.keywords if each.arg is not None and each.arg in known}
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return found
    return {word: default for word, default in defaults(function) if isinstance(default, ast.Constant)} | found


def bound_to(name: ast.Name, context: FileContext) -> ast.expr | None:
    """Give what a name is bound to at one place; of a loop, what it walks over."""
    below: ast.AST = name
    while isinstance(above := context.parent(below), ast.Tuple | ast.List | ast.Starred):
        below = above
    match above:
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if target is below:
            return value
    match context.parent(name):
        case ast.Assign(targets=targets, value=value) if name in targets:
            return value
        case (
            ast.AnnAssign(value=ast.expr() as value)
            | ast.AugAssign(value=ast.expr() as value)
            | ast.NamedExpr(value=ast.expr() as value)
        ):
            return value
    return None


def is_kept_by_class(owner: ast.ClassDef, word: str) -> bool:
    """Whether a class body gives an attribute to all objects alike."""
    for each in owner.body:
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.Constant | None):
            continue
        if any(
            isinstance(one, ast.Name) and one.id == word and isinstance(one.ctx, ast.Store) for one in ast.walk(each)
        ):
            return True
    return False
