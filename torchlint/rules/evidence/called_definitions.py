"""Which class or function of its own file a call means, and what its parameters stand for there."""

from __future__ import annotations

import ast

from torchlint.rules.api import (
    FUNCTIONS,
    FileContext,
    Function,
    defaults_of,
    parameters,
    plain_parameters,
    remembered,
    unpacks,
    written_argument,
)


def has_plain_default(function: Function, word: str) -> bool:
    """Whether a parameter's default is a number, a text, or a literal of these: not ``None``."""
    return any(each.arg == word and _is_plain(default) for each, default in defaults_of(function).items())


def _is_plain(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not None
        case ast.UnaryOp(operand=inner):
            return _is_plain(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(_is_plain, parts))
    return False


def bind(call: ast.Call, function: Function, method: bool) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of a function's parameters, as far as they are written one by one."""
    words = [each.arg for each in plain_parameters(function)]
    written = {word: written_argument(call, function, word, method) for word in words}
    found = {word: argument for word, argument in written.items() if argument is not None}
    if unpacks(call):
        return found
    told = {each.arg: default for each, default in defaults_of(function).items() if isinstance(default, ast.Constant)}
    return told | found


def definition(name: ast.Name, context: FileContext) -> Function | ast.ClassDef | None:
    """Return the function or class that a name stands for: the only thing that its scope binds it to."""
    innermost = context.nearest(name, *FUNCTIONS, ast.Lambda, ast.ClassDef)
    is_in_body = isinstance(innermost, ast.ClassDef) and name.lineno >= innermost.body[0].lineno
    for scope in context.ancestors(name):
        if isinstance(scope, ast.Lambda) and name.id in parameters(scope):
            return None
        # functions do not see the names of a class around them, nor do its bases and decorators
        is_seen = (scope is innermost and is_in_body) or not isinstance(scope, ast.ClassDef)
        if not is_seen or not isinstance(scope, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            continue
        bound = _bound_in(scope, context)
        if found := bound.get(name.id):
            one = found[0]
            if len(found) > 1 or context.parent(one) is not scope or not isinstance(one, (*FUNCTIONS, ast.ClassDef)):
                return None
            stars = (each for each in bound.get("*", ()) if isinstance(each, ast.ImportFrom))
            return None if any(each.lineno > one.lineno for each in stars) else one
    return None


_BINDING = (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.Name, ast.Import, ast.ImportFrom)
_SHARING = (ast.Global, ast.Nonlocal)


@remembered
def _bound_in(scope: ast.AST, context: FileContext) -> dict[str, list[ast.AST]]:
    """Return all that a function or module binds its names by, what ``global`` hands to inner functions among it."""
    found: dict[str, list[ast.AST]] = {}
    if isinstance(scope, FUNCTIONS):
        found = {word: [scope] for word in parameters(scope)}
    nodes: list[ast.AST] = [each for kind in _BINDING for each in context.own(scope, kind)]
    nodes += [each for kind in _SHARING for each in context.inside(scope, kind)]
    for each in nodes:
        for word in _words_bound(each):
            found.setdefault(word, []).append(each)
    return found


def _words_bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=word):
            return [] if isinstance(node.ctx, ast.Load) else [word]
        case ast.Global(names=words) | ast.Nonlocal(names=words):
            return words
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [(each.asname or each.name).partition(".")[0] for each in aliases]
    name = getattr(node, "name", None)
    return [name] if isinstance(name, str) else []
