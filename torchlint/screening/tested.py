"""What the tests around an expression say of a name, by their spelling."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.inference.lexical import SCOPES, Loop, bound, loaded
from torchlint.inference.tests import named_tests
from torchlint.screening.binders import binder
from torchlint.screening.sight import Sight
from torchlint.syntax.outline import Function, Outline

DATA_TYPES = frozenset({"bool", "dict", "float", "int", "list", "range", "set", "str", "tuple"})
"""Python's own types of data."""

_STOPS = (Loop, ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.NamedExpr, *SCOPES)
"""What may bind a name between a test and where the name stands, or in another order than that of the text."""


def is_excluded(node: ast.Name, sight: Sight) -> bool:
    """Whether a test around a name says that it is no tensor: ``if not torch.is_tensor(x): x = torch.tensor(x)``."""
    below: ast.AST = node
    if binder(node, sight.outline) is None:  # an import or a definition behind the test may bind it
        return False
    for above in sight.outline.ancestors(node):
        if isinstance(above, _STOPS):
            return False
        if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
            body, orelse = _branches(above)
            holds = below in body
            if _excludes(above.test, node.id, holds, sight):
                return not _is_touched((body if holds else orelse)[0], node, sight.outline)
            if any(each in sight.outline.within(above.test) for each in _mentioning(node, sight.outline)):
                return False  # it says something else
        below = above
    return False


def _branches(choice: ast.If | ast.IfExp) -> tuple[Sequence[ast.expr | ast.stmt], Sequence[ast.expr | ast.stmt]]:
    """Give what is carried out where a test holds, and where it does not."""
    if isinstance(choice, ast.If):
        return choice.body, choice.orelse
    return [choice.body], [choice.orelse]


def is_mentioned(node: ast.Name, scope: Function | ast.Module, outline: Outline) -> bool:
    """Whether a test may tell of what kind a name is, in the scope that binds it or where it stands."""
    scopes = {scope, outline.owner(node) or outline.tree}
    return any(node.id in outline.told(_mentions, each) for each in scopes)


def _mentions(outline: Outline, scope: Function | ast.Module) -> dict[str, list[ast.Name]]:
    """Give the places in a scope's tests from which something may be known of what kind a name is, by name."""
    found: dict[str, list[ast.Name]] = {}
    for test in _tests(outline, scope):
        for each in outline.within(test):
            if isinstance(each, ast.Name) and not _tells_nothing(outline.parents[each]):
                found.setdefault(each.id, []).append(each)
    return found


def _tests(outline: Outline, scope: Function | ast.Module) -> Iterator[ast.expr]:
    tests: list[ast.If | ast.While | ast.IfExp | ast.Assert] = [
        *outline.inside(scope, ast.If),
        *outline.inside(scope, ast.While),
        *outline.inside(scope, ast.IfExp),
        *outline.inside(scope, ast.Assert),
    ]
    yield from (each.test for each in tests)
    yield from (test for each in outline.inside(scope, ast.comprehension) for test in each.ifs)
    yield from (each.subject for each in outline.inside(scope, ast.Match))
    yield from (each.value for each in outline.told(named_tests, scope).values())
    yield from outline.inside(scope, ast.BoolOp)


def _tells_nothing(above: ast.AST) -> bool:
    """Whether a name stands in a test only for a part of what it names, or for its length."""
    match above:
        case ast.Attribute() | ast.Subscript() | ast.Call(func=ast.Name(id="len")):
            return True
    return False


def _is_touched(first: ast.expr | ast.stmt, node: ast.Name, outline: Outline) -> bool:
    """Whether a name is bound or tested again between the beginning of a branch and where it stands."""
    scope, around = outline.owner(node) or outline.tree, set(outline.ancestors(node))
    bindings = (each for each in outline.told(bound, scope).get(node.id, ()) if outline.parents[each] not in around)
    others = (*bindings, *_mentioning(node, outline))
    return any(outline.start(first) <= outline.start(each) < outline.start(node) for each in others)


def _mentioning(node: ast.Name, outline: Outline) -> Sequence[ast.Name]:
    """Give where the tests around a name, and all others of its scope, speak of it."""
    return outline.told(_mentions, outline.owner(node) or outline.tree).get(node.id, ())


def _excludes(test: ast.expr, word: str, holds: bool, sight: Sight) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _excludes(inner, word, not holds, sight)
        case ast.BoolOp(op=operator, values=parts) if isinstance(operator, ast.And) is holds:
            telling = [each for each in parts if not _is_about_none(each) and word in sight.outline.told(loaded, each)]
            return bool(telling) and all(_excludes(each, word, holds, sight) for each in telling)
        case ast.Call(func=function, args=[ast.Name(id=tested)], keywords=[]) if tested == word and not holds:
            return sight.analysis.names_of(function) == {"torch.is_tensor"}
        case ast.Call(func=function, args=[ast.Name(id=tested), kind], keywords=[]) if tested == word:
            kinds = [sight.analysis.names_of(each) for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
            if sight.analysis.names_of(function) != {"builtins.isinstance"}:
                return False
            if not holds:
                return {"torch.Tensor"} in kinds
            return all(each and each <= _NAMES_OF_TYPES for each in kinds)
    return False


def _is_about_none(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
    return False


_NAMES_OF_TYPES = frozenset({f"builtins.{each}" for each in DATA_TYPES} | {"numbers.Number"})
