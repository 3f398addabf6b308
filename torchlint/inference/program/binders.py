"""Which scope binds a name, and whether what it binds there may be what the name means elsewhere."""

from __future__ import annotations

import ast
from itertools import pairwise, takewhile

from torchlint.inference.program.bindings import BINDING, SCOPES, Loop, bound, declared, local, naming, own
from torchlint.syntax.ast_index import AstIndex, Function, parameters


def binder(node: ast.Name, index: AstIndex) -> Function | ast.Module | None:
    """Return the function or module whose assignments bind a name; None where something else may bind it."""
    for above in index.ancestors(node):
        if isinstance(above, ast.ClassDef) or (isinstance(above, ast.Lambda) and node.id in parameters(above)):
            return None
        if isinstance(above, Function):
            break
    function = index.owner(node)
    while True:
        scope = function or index.tree
        if node.id in index.told(_bound_in_other_ways, scope):
            return None
        if function is None:
            return index.tree if node.id in index.told(bound, index.tree) else None
        if node.id in index.told(local, function):
            return function
        function = index.owner(function)


def reaching(node: ast.Name, scope: Function | ast.Module, index: AstIndex) -> list[ast.Name | ast.arg]:
    """Return the bindings of a function or module, its argument among them, that a name may come from."""
    places = index.told(bound, scope).get(node.id, [])
    given = _argument(scope, node.id) if isinstance(scope, Function) else []
    if not places:
        return [*given]
    around = [node, *takewhile(lambda above: above is not scope, index.ancestors(node)), scope]
    clauses = _clauses(around)
    if inner := [each for each in places if any(each in index.within(clause.target) for clause in clauses)]:
        return [*inner]
    places = [each for each in places if not _is_in_clause(each, index)]
    if (found := _last_assignment(around, {_binding(each, index) for each in places})) is not None:
        # Nothing that was bound before it is left, and no loop around it leads back past it.
        last, statement = found
        places = [each for each in places if index.start(last) <= index.start(each) < index.end(statement)]
        given, around = [], around[: around.index(statement) + 2]
    return [*given, *(each for each in places if _reaches(each, node, around[1:-1], index))]


def _clauses(around: list[ast.AST]) -> list[ast.comprehension]:
    """Return the clauses ``for x in y`` of comprehensions whose names a node sees, by what stands around it."""
    found: list[ast.comprehension] = []
    for below, above in pairwise(around):
        clauses = getattr(above, "generators", [])
        if below in clauses:
            at = clauses.index(below)
            is_source = clauses[at].iter in around
            found += clauses[: at if is_source else at + 1]
        else:
            found += clauses
    return found


def _is_in_clause(place: ast.Name, index: AstIndex) -> bool:
    """Whether a name is bound by a clause of a comprehension, which nobody sees outside of it."""
    inner = takewhile(lambda above: not isinstance(above, ast.stmt), index.ancestors(place))
    return any(isinstance(above, ast.comprehension) and place in index.within(above.target) for above in inner)


def _last_assignment(around: list[ast.AST], binding: set[ast.AST]) -> tuple[ast.stmt, ast.stmt] | None:
    """Return the assignment that a node has behind it in any case, and the statement of its block that holds the node.

    It stands in the node's own block or in one around it, or is the loop of that block, which binds its target anew
    in each round; where there is none, nothing is known.
    """
    for below, above in pairwise(around):
        if isinstance(below, ast.stmt):
            for each in _before(below, above):
                if isinstance(each, ast.Assign) and each in binding:
                    return each, below
            if isinstance(above, ast.For | ast.AsyncFor) and above in binding and below in above.body:
                return above, below
        if isinstance(above, SCOPES):
            break  # who knows when it is called
    return None


def _before(statement: ast.stmt, above: ast.AST) -> list[ast.stmt]:
    """Return the statements before another one in its block, the last one first."""
    blocks = (getattr(above, name, []) for name in ("body", "orelse", "finalbody"))
    block: list[ast.stmt] = next((each for each in blocks if statement in each), [statement])
    return block[: block.index(statement)][::-1]


def _reaches(place: ast.Name, node: ast.Name, between: list[ast.AST], index: AstIndex) -> bool:
    """Whether a name may be what is bound to it at a place: not where that comes later, if nothing leads back."""
    if any(isinstance(each, (Loop, *SCOPES)) for each in between):
        return True
    is_before = index.start(place) < index.start(node)
    return is_before and index.parents[place] not in between  # `x = f(x)` binds after it asks


def _binding(place: ast.Name, index: AstIndex) -> ast.AST:
    """Return what binds a name at a place: the assignment of ``x, y = a, b``."""
    above = index.parents[place]
    while isinstance(above, ast.Tuple | ast.List):
        above = index.parents[above]
    return above


def _argument(function: Function, word: str) -> list[ast.arg]:
    given = function.args
    starred = (each for each in (given.vararg, given.kwarg) if each is not None)
    return [each for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred) if each.arg == word]


def _bound_in_other_ways(index: AstIndex, scope: Function | ast.Module) -> frozenset[str]:
    """Return the names of a function or module that something else than its assignments and its arguments binds."""
    named = frozenset(word for each in own(index, scope, *BINDING) for word in naming(each))
    return named | index.told(declared, index.tree)
