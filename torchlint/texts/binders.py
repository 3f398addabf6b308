"""Which scope binds a name, and whether what it binds there may be what the name means elsewhere."""

from __future__ import annotations

import ast
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise, takewhile

from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.signatures import all_parameters, parameters
from torchlint.texts.bindings import (
    BINDING,
    SCOPES,
    Loop,
    bound,
    bound_otherwise,
    declared,
    local,
    naming,
    own,
)
from torchlint.texts.run_later import deferred_around


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
    known = index.told(_places, scope).get(node.id)
    given = _argument(scope, node.id) if isinstance(scope, Function) else []
    if known is None:
        return [*given]
    around = [node, *takewhile(lambda above: above is not scope, index.ancestors(node)), scope]
    later = deferred_around(node, index.parents.get, index.told(bound_otherwise, index.tree))
    seen = [index.within(clause.target) for clause in _clauses(around)]
    if seen and (
        inner := [each for each in index.told(bound, scope)[node.id] if any(each in clause for clause in seen)]
    ):
        return [*inner]
    places = known.names
    behind = places[known.before(index.start(node)) :] if later in around else []
    if (found := _last_assignment(around, known, index)) is not None:
        # Nothing that was bound before it is left, and no loop around it leads back past it.
        last, statement = found
        places = places[known.before(index.start(last)) : known.before(index.end(statement))]
        given, around = [], around[: around.index(statement) + 2]
    reached = [each for each in places if _reaches(each, node, around[1:-1], index)]
    return [*given, *reached, *(each for each in behind if each not in reached)]


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a function or module binds a name, in the order of the text, clauses of comprehensions left out."""

    names: list[ast.Name]
    starts: list[int]
    binding: list[ast.AST]
    """The statements and clauses that do so, one for each."""
    all_binding: frozenset[ast.AST]

    def before(self, offset: int) -> int:
        """Return how many of them stand before an offset."""
        return bisect_left(self.starts, offset)


def _places(index: AstIndex, scope: Function | ast.Module) -> dict[str, _Places]:
    """Return where a function or module binds its names: a long one is asked for many of them."""
    found = {}
    for word, several in index.told(bound, scope).items():
        names = sorted((each for each in several if not _is_in_clause(each, index)), key=index.start)
        binding = [_binding(each, index) for each in names]
        found[word] = _Places(names, [*map(index.start, names)], binding, frozenset(binding))
    return found


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


def _last_assignment(around: list[ast.AST], known: _Places, index: AstIndex) -> tuple[ast.stmt, ast.stmt] | None:
    """Return the assignment that a node has behind it in any case, and the statement of its block that holds the node.

    It stands in the node's own block or in one around it, or is the loop of that block, which rebinds its target
    in each round; where there is none, nothing is known.
    """
    for below, above in pairwise(around):
        if isinstance(below, ast.stmt):
            if (last := _last_before(below, above, known, index)) is not None:
                return last, below
            if isinstance(above, ast.For | ast.AsyncFor) and above in known.all_binding and below in above.body:
                return above, below
        if isinstance(above, SCOPES):
            break  # who knows when it is called
    return None


def _last_before(statement: ast.stmt, above: ast.AST, known: _Places, index: AstIndex) -> ast.Assign | None:
    """Return the last assignment to a name before a statement in its block."""
    for at in reversed(range(known.before(index.start(statement)))):
        each = known.binding[at]
        if isinstance(each, ast.Assign) and index.parents[each] is above and _is_in_one_block(each, statement, above):
            return each
    return None


def _is_in_one_block(one: ast.stmt, other: ast.stmt, above: ast.AST) -> bool:
    """Whether two statements right below a third are of the same block of it; ``one`` stands before ``other``."""
    starts = [getattr(above, name, None) for name in ("body", "handlers", "orelse", "finalbody")]
    firsts = [(block[0].lineno, block[0].col_offset) for block in starts if isinstance(block, list) and block]
    return not any((one.lineno, one.col_offset) < each <= (other.lineno, other.col_offset) for each in firsts)


def _reaches(place: ast.Name, node: ast.Name, between: list[ast.AST], index: AstIndex) -> bool:
    """Whether a name may be what is bound to it at a place: not where that comes later, if nothing leads back."""
    if any(isinstance(each, (Loop, *SCOPES)) for each in between):
        return True
    is_before = index.start(place) < index.start(node)
    return is_before and _binding(place, index) not in between  # `x, y = f(x), 1` binds after it asks


def _binding(place: ast.Name, index: AstIndex) -> ast.AST:
    """Return what binds a name at a place: the assignment of ``x, y = a, b``."""
    above = index.parents[place]
    while isinstance(above, ast.Tuple | ast.List):
        above = index.parents[above]
    return above


def _argument(function: Function, word: str) -> list[ast.arg]:
    return [each for each in all_parameters(function) if each.arg == word]


def _bound_in_other_ways(index: AstIndex, scope: Function | ast.Module) -> frozenset[str]:
    """Return the names of a function or module that something else than its assignments and its arguments binds."""
    named = frozenset(word for each in own(index, scope, *BINDING) for word in naming(each))
    return named | index.told(declared, index.tree)
