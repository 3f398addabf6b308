"""What a function knows from around it: the names of the functions and of the module that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.facts.value import ANY_GRAD, NOTHING, UNKNOWN, Kind, Value, of_kind
from torchlint.inference.interpreter.filled_attributes import name_key
from torchlint.inference.lattice import join, join_all
from torchlint.inference.program import bindings
from torchlint.inference.program.fillings import filling_functions
from torchlint.inference.program.forward_hooks import forward_hooks
from torchlint.syntax.ast_index import AstIndex, Function, Told

if TYPE_CHECKING:
    from torchlint.inference.interpreter.environment import Env
    from torchlint.inference.interpreter.file_scope import File
    from torchlint.inference.interpreter.statements import Flow

_MOST_CLOSURES = 16
"""A function that is made with more different surroundings knows nothing of them."""


class Closures:
    """The surroundings of one file's functions."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._last: dict[ast.AST, dict[str, Value]] = {}
        self._made: dict[ast.AST, list[dict[str, Value]]] = {}
        self._final: dict[tuple[ast.AST, str], Value] = {}
        self._ever: dict[tuple[Flow, str], Value] = {}

    def note(self, node: ast.AST, env: Env) -> int | None:
        """Remember what is known where a function is defined; give the number of its surroundings, None for a class."""
        around = self._last[node] = env.about(self._file.index.told(bindings.loaded, node))
        if isinstance(node, ast.ClassDef):
            return None
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
        """Return what a function knows from the functions around it, as far as they have run when it is called."""
        file = self._file
        owner = file.owner(function)
        if owner is None:
            return {}
        flow = file.finished(owner)
        if number is not None:
            known = dict(self._made[function][number])
        else:
            free = file.index.told(bindings.loaded, function)
            known = flow.env.about(free) if flow is not None else dict(self._last.get(function, {}))
        for word in file.index.told(bindings.bound_later, function) & known.keys():
            known[word] = join(known[word], self._set_later(owner, word))
        return known

    def _set_later(self, owner: Function, word: str) -> Value:
        if owner in self._file.project.running:
            return self._file.project.rounds.guess(("later", owner, word), NOTHING)
        return self._final.get((owner, word), NOTHING)

    def finished(self, owner: Function, flow: Flow) -> None:
        """Take in what a walk of a function has bound, for the functions inside it."""
        if owner not in self._told(bindings.holders):
            return
        inner = self._file.index.told(bindings.inner, owner)
        words = {word for each in inner for word in self._file.index.told(bindings.bound_later, each)}
        for word in words:
            value = _bound(flow, owner, word)
            key = (owner, word)
            self._final[key] = join(self._final.get(key, NOTHING), value)
            self._file.project.rounds.found(("later", *key), value, last=False)

    def binder(self, function: Function | None, word: str) -> Function | None:
        """Return the function whose own a name is, as a function sees it; None for a name of the module."""
        return bindings.binder(self._file.index, function, word)

    # ------------------------------------------------------------------ the module's names
    @cached_property
    def changed_by_functions(self) -> frozenset[str]:
        """The module's names into whose values some function writes: what they hold is not known."""
        return self._told(bindings.changed_by_functions)

    @cached_property
    def bound_again(self) -> frozenset[str]:
        """The module's names that are bound again after a function that loads them."""
        return self._told(bindings.bound_again)

    def _told(self, tell: Callable[[AstIndex, ast.Module], Told]) -> Told:
        return self._file.index.told(tell, self._file.index.tree)

    def filled(self, word: str, found: Value, only: frozenset[Function] | None = None) -> Value:
        """Return a container of the module with what functions, or some of them, put into it beside anything else."""
        chosen = (each for each in self._told(filling_functions).get(word, ()) if only is None or each in only)
        put = join_all(self._file.classes.set_in(self._file, each, name_key(word)) for each in chosen)
        return found if put.member is None else found.having(items=None, member=join(UNKNOWN, put.member))

    def after_hooks(self, word: str, found: Value) -> Value:
        """Return a name of the module, as its own statements know it, after modules may have called their hooks."""
        hooks = self._told(forward_hooks)
        return self.filled(word, found, hooks) if hooks and found.must(Kind.SEQUENCE) else found

    def ever(self, word: str, found: Value, flow: Flow) -> Value:
        """Return all that a name of the module was bound to; ``found`` is what it is in the end."""
        if flow.running:
            return join(found, _bound(flow, self._file.index.tree, word))
        if (flow, word) not in self._ever:
            self._ever[flow, word] = _bound(flow, self._file.index.tree, word)
        return join(found, self._ever[flow, word])


def widened(value: Value) -> Value:
    """Return a value into which something unknown may have been written."""
    if value.must(Kind.SEQUENCE):
        return of_kind(Kind.SEQUENCE, member=UNKNOWN, claimed=value.claimed)
    return value.having(grad=value.grad | ANY_GRAD) if value.may(Kind.TENSOR) else value


def _bound(flow: Flow, owner: ast.AST, word: str) -> Value:
    """Return the join of all that a walk bound a name to or made of it."""
    values = []
    for node in flow.file.index.told(bindings.written, owner):
        if node.id == word and isinstance(node.ctx, ast.Store):
            stands = flow.file.index.parents.get(node)
            again = isinstance(stands, ast.AugAssign) or flow.file.owner(node) is not flow.file.owner_or_self(owner)
            values.append(UNKNOWN if again else flow.values.get(node, NOTHING))
    return join(join_all(values), flow.changes.get(word, NOTHING))
