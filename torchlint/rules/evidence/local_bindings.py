"""What a name is bound to where it stands: by assignments, by imports, and by the type tests in force."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from torchlint.rules.api import (
    SCOPES,
    FileContext,
    Loop,
    blocks_of,
    deferred_around,
    leaves,
    remembered,
    root_of_name,
)


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


def functions_of(function: ast.expr, context: FileContext) -> frozenset[str]:
    """Return the names of what is called: known by an import, or by a name that is bound to nothing but what is.

    A choice counts as both: ``Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor``.
    """
    names = names_of(function, context)
    if names or not isinstance(function, ast.Name):
        return names
    found = [names_of(one, context) for each in values_of(function, context) for one in _choices(each)]
    return frozenset[str]().union(*found) if all(found) else frozenset()


def _choices(value: ast.expr) -> Iterator[ast.expr]:
    """Yield what an expression may choose from: all ends of ``a if p else b if q else c``."""
    left = [value]
    while left:
        match left.pop():
            case ast.IfExp(body=one, orelse=other):
                left += (one, other)
            case chosen:
                yield chosen


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


Tells = Callable[[ast.expr, bool], bool]
"""Whether a test without `not`, `and` and `or` says what is asked, if it holds or does not."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def is_guarded(name: ast.Name, tells: Tells, context: FileContext) -> bool:
    """Whether a test that tells what is asked is in force wherever a name is evaluated."""
    if context.scope_that_binds(name) is None:
        return False
    below: ast.AST = name
    later = deferred_around(name, context.parent, context.bound_otherwise)
    for above in context.ancestors(name):
        for test, holds, region in _tests(below, above, context):
            if _says(test, holds, tells) and not _is_rebound(name, region, context):
                return True
        if isinstance(above, SCOPES) or (above is later and _is_bound_behind(name, later, context)):
            return False
        below = above
    return False


def _is_bound_behind(name: ast.Name, later: ast.AST, context: FileContext) -> bool:
    """Whether a name is rebound behind what is run later, or in a loop around: a test before it says nothing."""
    scope = context.scope_that_binds(name)
    places = context.stores(scope).get(name.id, []) if scope is not None else []
    starts = [context.span(each)[0] for each in context.ancestors(later) if isinstance(each, Loop)]
    start, inside = min([context.span(name)[0], *starts]), context.within(later)
    return any(context.span(each)[0] > start and each not in inside for each in places)


def _tests(below: ast.AST, above: ast.AST, context: FileContext) -> Iterator[tuple[ast.expr, bool, Sequence[ast.AST]]]:
    """Yield the tests that hold at a node by what is right above it, how they came out, and what stands behind them."""
    match above:
        case ast.If(test=test, body=body, orelse=orelse) if below is not test:
            yield (test, True, body) if below in body else (test, False, orelse)
        case ast.IfExp(test=test, body=first, orelse=second) if below is not test:
            yield (test, True, [first]) if below is first else (test, False, [second])
        case ast.BoolOp(op=operator, values=parts):
            at = next(at for at, each in enumerate(parts) if each is below)
            yield from ((each, isinstance(operator, ast.And), parts[: at + 1]) for each in parts[:at])
    if isinstance(above, _COMPREHENSIONS) and not isinstance(below, ast.comprehension):
        yield from ((each, True, [below]) for clause in above.generators for each in clause.ifs)
    if isinstance(below, ast.stmt):
        yield from _earlier(below, above, context)


def _earlier(
    below: ast.stmt, above: ast.AST, context: FileContext
) -> Iterator[tuple[ast.expr, bool, Sequence[ast.AST]]]:
    """Yield the tests of statements before one in its block: without their outcome it is not reached."""
    for block, guards in _guards(above, context):
        if guards and _start(block[0]) <= _start(below) <= _start(block[-1]):
            for at, test, holds in guards:
                if _start(block[at]) < _start(below):
                    yield test, holds, block[at + 1 :]


_Guards = list[tuple[int, ast.expr, bool]]
"""Where statements of a block stand that end it by a test, with the test and its outcome where they do not."""


@remembered
def _guards(node: ast.AST, context: FileContext) -> list[tuple[list[ast.stmt], _Guards]]:  # noqa: ARG001
    """Return the blocks of a statement, each with its statements behind which a test has one outcome."""
    found: list[tuple[list[ast.stmt], _Guards]] = []
    for block in blocks_of(node):
        guards: _Guards = []
        for at, each in enumerate(block):
            match each:
                case ast.Assert(test=test):
                    guards.append((at, test, True))
                case ast.If(test=test, body=body, orelse=[]) if leaves(body):
                    guards.append((at, test, False))
        found.append((block, guards))
    return found


def _start(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _says(test: ast.expr, holds: bool, tells: Tells) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _says(inner, not holds, tells)
        case ast.BoolOp(op=operator, values=parts):
            found = [_says(each, holds, tells) for each in parts]
            return any(found) if isinstance(operator, ast.And) is holds else all(found)
    return tells(test, holds)


def _is_rebound(name: ast.Name, region: Sequence[ast.AST], context: FileContext) -> bool:
    """Whether a name may be rebound between a test and where it stands, by what stands behind the test."""
    scope = context.scope_that_binds(name)
    around = list(context.ancestors(name))
    inside = [each for each in region if each is name or each in around] or list(region)
    begins = region.index(inside[0])
    closer = [each for each in around if any(each in context.within(one) for one in inside)]
    if any(name.id in _of_clauses(each, context) for each in closer if isinstance(each, _COMPREHENSIONS)):
        return True
    loops = [each for each in closer if isinstance(each, Loop)]
    for place in context.stores(scope).get(name.id, []) if scope is not None else []:
        if any(place in context.within(each) for each in loops):
            return True
        if not any(place in context.within(each) for each in region[: begins + 1]):
            continue
        if context.span(place)[0] < context.span(name)[0] and context.parent(place) not in around:
            return True
    return False


@remembered
def _of_clauses(node: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names that the clauses of a comprehension bind."""
    clauses: list[ast.comprehension] = getattr(node, "generators", [])
    targets = (one for each in clauses for one in context.within(each.target))
    return frozenset(each.id for each in targets if isinstance(each, ast.Name))
