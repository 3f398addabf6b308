"""What a function knows from around it: the names of the functions and of the module that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from torchlint.inference.facts import ANY_GRAD, NOTHING, UNKNOWN, Kind, Value, join, join_all, of_kind
from torchlint.inference.names import changed_in_place

if TYPE_CHECKING:
    from torchlint.inference.binding import Function
    from torchlint.inference.flow import Flow
    from torchlint.inference.scope import File

_MOST_CLOSURES = 16
"""A function that is made with more different surroundings knows nothing of them."""


class Closures:
    """The surroundings of one file's functions."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._last: dict[ast.AST, dict[str, Value]] = {}
        self._made: dict[ast.AST, list[dict[str, Value]]] = {}
        self._later: dict[ast.AST, frozenset[str]] = {}
        self._local: dict[ast.AST, frozenset[str]] = {}
        self._final: dict[tuple[ast.AST, str], Value] = {}

    def note(self, node: ast.AST, known: dict[str, Value]) -> int | None:
        """Remember what is known where a function is defined; give the number of its surroundings, None for a class."""
        self._last[node] = known
        if isinstance(node, ast.ClassDef):
            return None
        free = _loaded(node)
        around = {path: value for path, value in known.items() if path.partition(".")[0].partition("[")[0] in free}
        made = self._made.setdefault(node, [])
        for number, other in enumerate(made):
            if other.keys() == around.keys() and all(value.same(other[path]) for path, value in around.items()):
                return number
        if len(made) == _MOST_CLOSURES:
            made.append(dict.fromkeys(around, UNKNOWN))
        if len(made) < _MOST_CLOSURES:
            made.append(around)
        return len(made) - 1

    def of(self, function: Function, number: int | None = None) -> dict[str, Value]:
        """Give what a function knows from the functions around it, as far as they have run when it is called."""
        file = self._file
        owner = file.owner(function)
        if owner is None:
            return {}
        flow = file.finished(owner)
        if number is not None:
            known = dict(self._made[function][number])
        else:
            known = flow.env.flat() if flow is not None else dict(self._last.get(function, {}))
        for word in self._bound_later(function, owner) & known.keys():
            known[word] = join(known[word], self._set_later(owner, word))
        return known

    def _set_later(self, owner: Function, word: str) -> Value:
        if owner in self._file.project.running:
            return self._file.project.rounds.guess(("later", owner, word), NOTHING)
        return self._final.get((owner, word), NOTHING)

    def finished(self, owner: Function, flow: Flow) -> None:
        """Take in what a walk of a function has bound, for the functions inside it."""
        if owner not in self._holders:
            return
        words = {word for inner in _inner(owner) for word in self._bound_later(inner, owner)}
        for word in words:
            value = _bound(flow, owner, word)
            key = (owner, word)
            self._final[key] = join(self._final.get(key, NOTHING), value)
            self._file.project.rounds.found(("later", *key), value, last=False)

    @cached_property
    def _holders(self) -> frozenset[ast.AST]:
        """The functions that have functions inside them."""
        nodes = (*self._file.outline.nodes(ast.FunctionDef), *self._file.outline.nodes(ast.AsyncFunctionDef))
        return frozenset(owner for each in nodes if (owner := self._file.owner(each)) is not None)

    @cached_property
    def shared(self) -> dict[ast.AST, frozenset[str]]:
        """The names that functions declare to be those of the functions or the module around them, by function."""
        found: dict[ast.AST, set[str]] = {}
        outline = self._file.outline
        nodes: list[ast.Nonlocal | ast.Global] = [*outline.nodes(ast.Nonlocal), *outline.nodes(ast.Global)]
        for node in nodes:
            if (owner := self._file.owner(node)) is not None:
                found.setdefault(owner, set()).update(node.names)
        return {owner: frozenset(words) for owner, words in found.items()}

    def _bound_later(self, function: Function, owner: Function) -> frozenset[str]:
        """Give the names that a function loads and its owner binds or changes after it was defined."""
        if function not in self._later:
            free = _loaded(function)
            start = min([function.lineno, *(each.lineno for each in _loops(owner, function))])
            inside = set(ast.walk(function))
            names = (each for each in written(owner) if each not in inside and each.lineno >= start)
            self._later[function] = frozenset(each.id for each in names if each.id in free)
        return self._later[function]

    def local(self, function: Function) -> frozenset[str]:
        """Give the names that are a function's own."""
        if function not in self._local:
            own = list(own_nodes(function))
            names = {each.id for each in own if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            names |= {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
            outside = (each.names for each in own if isinstance(each, ast.Nonlocal | ast.Global))
            self._local[function] = frozenset(names.difference(*outside))
        return self._local[function]

    def binder(self, function: Function | None, word: str) -> Function | None:
        """Give the function whose own a name is, as a function sees it; None for a name of the module."""
        while function is not None and word not in self.local(function):
            function = self._file.owner(function)
        return function

    # ------------------------------------------------------------------ the module's names
    @cached_property
    def changed_by_functions(self) -> frozenset[str]:
        """The module's names into whose values some function writes: what they hold is not known."""
        outline, found = self._file.outline, set()
        for node in (*outline.nodes(ast.Subscript), *outline.nodes(ast.Attribute), *outline.nodes(ast.Call)):
            name = changed_in_place(node)
            function = self._file.owner(name) if name is not None else None
            if name is not None and function is not None and self.binder(function, name.id) is None:
                found.add(name.id)
        return frozenset(found)

    @cached_property
    def bound_again(self) -> frozenset[str]:
        """The module's names that are bound again after a function that loads them."""
        first: dict[str, int] = {}
        bound: dict[str, list[int]] = {}
        for name in self._file.outline.nodes(ast.Name):
            function = self._file.owner(name)
            if function is not None:
                first[name.id] = min(first.get(name.id, function.lineno), function.lineno)
            elif isinstance(name.ctx, ast.Store):
                bound.setdefault(name.id, []).append(name.lineno)
        return frozenset(
            word for word, rows in bound.items() if len(rows) > 1 and max(rows) > first.get(word, max(rows))
        )

    def ever(self, word: str, found: Value, flow: Flow) -> Value:
        """Give all that a name of the module was bound to; ``found`` is what it is in the end."""
        return join(found, _bound(flow, self._file.outline.tree, word))


def loosened(value: Value) -> Value:
    """Give a value into which something unknown may have been written."""
    if value.must(Kind.SEQUENCE):
        return of_kind(Kind.SEQUENCE, member=UNKNOWN)
    return value.having(grad=value.grad | ANY_GRAD) if value.may(Kind.TENSOR) else value


def _bound(flow: Flow, owner: ast.AST, word: str) -> Value:
    """Give the join of all that a walk bound a name to or made of it."""
    values = []
    for node in written(owner):
        if node.id == word and isinstance(node.ctx, ast.Store):
            stands = flow.file.outline.parents.get(node)
            again = isinstance(stands, ast.AugAssign) or flow.file.owner(node) is not flow.file.owner_or_self(owner)
            values.append(UNKNOWN if again else flow.values.get(node, NOTHING))
    return join(join_all(values), flow.changes.get(word, NOTHING))


@lru_cache(maxsize=256)
def written(owner: ast.AST) -> tuple[ast.Name, ...]:
    """Give the names that a function binds or writes into, and those that functions inside it do so to as their own."""
    return tuple(_written(owner))


def _written(owner: ast.AST) -> Iterator[ast.Name]:
    shared = {word for each in ast.walk(owner) if isinstance(each, ast.Nonlocal) for word in each.names}
    own = set(own_nodes(owner))
    for node in ast.walk(owner):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node in own or node.id in shared:
                yield node
        elif (name := changed_in_place(node)) is not None:
            yield name


def own_nodes(owner: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes of a function or module, those of functions inside it left out."""
    stack = list(ast.iter_child_nodes(owner))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))


def _inner(owner: Function) -> list[Function]:
    every = ast.walk(owner)
    return [each for each in every if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each is not owner]


def _loops(owner: Function, function: Function) -> list[ast.For | ast.AsyncFor | ast.While]:
    """Give the loops of a function in which another is defined."""
    loops = (each for each in own_nodes(owner) if isinstance(each, ast.For | ast.AsyncFor | ast.While))
    return [each for each in loops if each.lineno < function.lineno <= (each.end_lineno or each.lineno)]


def _loaded(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
