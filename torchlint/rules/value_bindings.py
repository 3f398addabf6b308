"""What a name is bound to where it stands, and which members of it: by the spelling of assignments and loops."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torchlint.rule import FileContext
from torchlint.rules.imported_names import names_of


@dataclass(frozen=True, slots=True)
class Binding:
    """One thing that a name may stand for: an expression, or what is inside it."""

    value: ast.expr
    depth: int = 0
    """How often an element is taken: 0 for the expression itself, 1 for one of its elements."""
    is_augmented: bool = False
    """Whether it is only the right side of ``x += value``."""


_PASSING_ON = frozenset({"builtins.reversed", "builtins.list", "builtins.tuple", "builtins.iter"})
"""Functions whose result holds what their only argument holds."""


def places_of(name: ast.Name, context: FileContext) -> list[ast.Name | ast.arg]:
    """Return where a name may have been bound to what it is where it stands; nothing where that is not known."""
    scope = context.scope_that_binds(name)
    found = context.reaching(name) if scope is not None else []
    stars = (each for each in context.nodes(ast.ImportFrom) if each.names[0].name == "*")
    if found and isinstance(scope, ast.Module) and any(each.lineno > found[0].lineno for each in stars):
        return []  # `from module import *` may bind anything
    return found


def bindings_of(name: ast.Name, context: FileContext) -> list[Binding]:
    """Return all that a name may stand for; nothing where a parameter, an import or the like may bind it."""
    found: list[Binding] = []
    for place in places_of(name, context):
        bound = _bound(place, context) if isinstance(place, ast.Name) else []
        if not bound:
            return []
        found += bound
    return found


def _bound(place: ast.Name, context: FileContext) -> list[Binding]:
    target: ast.AST = place
    above = context.parent(place)
    path: list[int] = []
    while isinstance(above, ast.Tuple | ast.List):
        if any(isinstance(each, ast.Starred) for each in above.elts):
            return []
        path.insert(0, next(at for at, each in enumerate(above.elts) if each is target))
        target, above = above, context.parent(above)
    match above:
        case ast.Assign(value=value) | ast.NamedExpr(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _member(value, path)
        case ast.AugAssign(value=value):
            return [Binding(value, is_augmented=True)]
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return _element(source, path, context)
    return []


def _member(value: ast.expr, path: list[int], depth: int = 0) -> list[Binding]:
    """Return what a target at a place in a tuple is given: ``b`` of ``x, y = a, b``."""
    spelled = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    if path and len(spelled) > path[0] and not any(isinstance(each, ast.Starred) for each in spelled):
        return _member(spelled[path[0]], path[1:])
    return [Binding(value, depth + len(path))]


def _element(source: ast.expr, path: list[int], context: FileContext) -> list[Binding]:
    """Return what a loop's target is given, or the name at a place in it."""
    match source:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if elements:
            if any(isinstance(each, ast.Starred) for each in elements):
                return []
            return [each for element in elements for each in _member(element, path)]
        case ast.Call(func=ast.Attribute(attr="named_parameters" | "named_buffers")):
            return [Binding(source, 1)] if path == [1] else []
        case ast.Call(func=ast.Name() as function, args=[first, *_] as given, keywords=keywords):
            names = names_of(function, context)
            if names == {"builtins.enumerate"}:
                return _element(first, path[1:], context) if path[:1] == [1] else []
            if names == {"builtins.zip"} and path and len(given) > path[0] and not keywords:
                starred = any(isinstance(each, ast.Starred) for each in given)
                return [] if starred else _element(given[path[0]], path[1:], context)
            if names and names <= _PASSING_ON and len(given) == 1:
                return _element(first, path, context)
    return [Binding(source, 1 + len(path))]
