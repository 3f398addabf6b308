"""What a name is bound to where it stands: by assignments, by loops, and by imports."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from torchlint.rules.api import FileContext, root_of_name


def names_of(node: ast.expr, context: FileContext) -> frozenset[str]:
    """Return what a dotted name of a library or a built-in means; nothing where the file binds its first word."""
    known, root = context.qualified_names(node), root_of_name(node)
    if known or not isinstance(root, ast.Name) or root.id in context.bound_otherwise:
        return known
    return context.value(node).names


def are_of_torch(names: Collection[str]) -> bool:
    """Whether some full names are all torch's; False where there are none."""
    return bool(names) and all(each.startswith("torch.") for each in names)


@dataclass(frozen=True, slots=True)
class NameBinding:
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


def bindings_of(name: ast.Name, context: FileContext) -> list[NameBinding]:
    """Return all that a name may stand for; nothing where a parameter, an import or the like may bind it."""
    found: list[NameBinding] = []
    for place in places_of(name, context):
        bound = bound_at(place, context) if isinstance(place, ast.Name) else []
        if not bound:
            return []
        found += bound
    return found


def values_of(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Return all that a name may stand for as a whole; nothing where it may be an element, a sum or something else."""
    bound = bindings_of(name, context)
    return [] if any(each.depth or each.is_augmented for each in bound) else [each.value for each in bound]


def bound_at(place: ast.Name, context: FileContext) -> list[NameBinding]:
    """Return what a place that binds a name binds it to; nothing where that is not understood."""
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
            return [NameBinding(value, is_augmented=True)]
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return _element(source, path, context)
    return []


def _member(value: ast.expr, path: list[int], depth: int = 0) -> list[NameBinding]:
    """Return what a target at a place in a tuple is given: ``b`` of ``x, y = a, b``."""
    spelled = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    if path and len(spelled) > path[0] and not any(isinstance(each, ast.Starred) for each in spelled):
        return _member(spelled[path[0]], path[1:])
    return [NameBinding(value, depth + len(path))]


def _element(source: ast.expr, path: list[int], context: FileContext) -> list[NameBinding]:
    """Return what a loop's target is given, or the name at a place in it."""
    match source:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) if elements:
            if any(isinstance(each, ast.Starred) for each in elements):
                return []
            return [each for element in elements for each in _member(element, path)]
        case ast.Call(func=ast.Attribute(attr="named_parameters" | "named_buffers")):
            return [NameBinding(source, 1)] if path == [1] else []
        case ast.Call(func=ast.Name() as function, args=[first, *_] as given, keywords=keywords):
            names = names_of(function, context)
            if names == {"builtins.enumerate"}:
                return _element(first, path[1:], context) if path[:1] == [1] else []
            if (
                names == {"builtins.zip"}
                and path
                and len(given) > path[0]
                and all(each.arg == "strict" for each in keywords)
            ):
                starred = any(isinstance(each, ast.Starred) for each in given)
                return [] if starred else _element(given[path[0]], path[1:], context)
            if names and names <= _PASSING_ON and len(given) == 1:
                return _element(first, path, context)
    return [NameBinding(source, 1 + len(path))]
