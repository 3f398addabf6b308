"""Whether a test is in force where a name stands: one that says of which class it is, or that it is not `None`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from torchlint.rule import SCOPES, FileContext, Loop, remembered
from torchlint.rules.imported_names import names_of

Tells = Callable[[ast.expr, bool], bool]
"""Whether a test without `not`, `and` and `or` says what is asked, if it holds or does not."""

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def is_guarded(name: ast.Name, tells: Tells, context: FileContext) -> bool:
    """Whether a test that tells what is asked is in force wherever a name is evaluated."""
    if context.scope_that_binds(name) is None:
        return False
    below: ast.AST = name
    for above in context.ancestors(name):
        for test, holds, region in _tests(below, above):
            if _says(test, holds, tells) and not _is_rebound(name, region, context):
                return True
        if isinstance(above, SCOPES):
            return False
        below = above
    return False


def is_instance(name: ast.Name, accepts: Callable[[frozenset[str]], bool], context: FileContext) -> bool:
    """Whether ``isinstance`` holds of a name with nothing but classes whose names are accepted."""

    def tells(test: ast.expr, holds: bool) -> bool:
        match test:
            case ast.Call(func=function, args=[ast.Name(id=word), kind]) if holds and word == name.id:
                kinds = [names_of(each, context) for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
                is_asked = names_of(function, context) == {"builtins.isinstance"}
                return is_asked and bool(kinds) and all(each and accepts(each) for each in kinds)
            case ast.Call(func=function, args=[ast.Name(id=word)]) if holds and word == name.id:
                return names_of(function, context) == {"torch.is_tensor"} and accepts(frozenset({"torch.Tensor"}))
        return False

    return is_guarded(name, tells, context)


def _tests(below: ast.AST, above: ast.AST) -> Iterator[tuple[ast.expr, bool, Sequence[ast.AST]]]:
    """Give the tests that hold at a node by what is right above it, how they came out, and what stands behind them."""
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
        yield from _earlier(below, above)


def _earlier(below: ast.stmt, above: ast.AST) -> Iterator[tuple[ast.expr, bool, Sequence[ast.AST]]]:
    """Give the tests of statements before one in its block: without their outcome it is not reached."""
    blocks: list[list[ast.stmt]] = [getattr(above, word, []) for word in ("body", "orelse", "finalbody")]
    for block in blocks:
        if not isinstance(block, list) or below not in block:
            continue
        for at, each in enumerate(block[: block.index(below)]):
            match each:
                case ast.Assert(test=test):
                    yield test, True, block[at + 1 :]
                case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, _LEAVING):
                    yield test, False, block[at + 1 :]


def _says(test: ast.expr, holds: bool, tells: Tells) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _says(inner, not holds, tells)
        case ast.BoolOp(op=operator, values=parts):
            found = [_says(each, holds, tells) for each in parts]
            return any(found) if isinstance(operator, ast.And) is holds else all(found)
    return tells(test, holds)


def _is_rebound(name: ast.Name, region: Sequence[ast.AST], context: FileContext) -> bool:
    """Whether a name may be bound anew between a test and where it stands, by what stands behind the test."""
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
