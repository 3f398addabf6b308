"""Comprehensions and generators: what they hold, by the members of what they go through."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.value import Kind, Mode, Value, of_kind
from torchlint.inference.interpreter.deferred_scopes import scope_of
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.left_blocks import block_left
from torchlint.inference.models.containers import part
from torchlint.inference.program.bindings import bound_otherwise
from torchlint.inference.program.run_later import is_used_up

if TYPE_CHECKING:
    from torchlint.inference.interpreter.expressions import Expressions

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_MOST_PLACES = 8
"""A comprehension over more is known by the join of its members."""


class Comprehensions:
    """Evaluates the comprehensions of one scope."""

    def __init__(self, expressions: Expressions) -> None:
        self._of = expressions

    def of(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Env) -> Value:
        """Return what a list, a set or a generator is."""
        mode = self.mode_when_asked(node, env)
        inner = self._generators(node, env, mode)
        places = self._one_by_one(node, env, mode)
        member = self._of.evaluate(node.elt, inner)
        self._of.freezing.comprehended(node, node.generators, inner, env)
        self._of.bind_around(node, inner, env)
        if not isinstance(node, ast.GeneratorExp):
            env.mode |= inner.mode
        return of_kind(Kind.SEQUENCE, items=places) if places is not None else of_kind(Kind.SEQUENCE, member=member)

    def mode_when_asked(self, node: ast.AST, env: Env) -> Mode:
        """Return the grad modes in which somebody may go through a generator, or what ``map`` gives.

        Somebody unknown may do so where grad mode is on; that is presumed only of who is seen to, behind the block.
        """
        file = self._of.file
        if not isinstance(node, ast.GeneratorExp | ast.Call):
            return env.mode
        if not file.project.presuming:
            is_now = is_used_up(node, file.index.parents.get, file.index.told(bound_otherwise, file.index.tree))
            return env.mode if is_now else env.mode | Mode.ON
        block = block_left(file.index, node)
        return self._of.modes.get(block.items[0].context_expr, env.mode) if block is not None else env.mode

    def _one_by_one(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Env, mode: Mode
    ) -> tuple[Value, ...] | None:
        """Return the members of a comprehension in their places, where those of what it goes through are known so."""
        source = self._of.values.get(node.generators[0].iter)
        items = source.items if source is not None else None
        if len(node.generators) > 1 or node.generators[0].ifs or isinstance(node, ast.SetComp) or not items:
            return None
        if len(items) > _MOST_PLACES:
            return None
        alike = all(each.same(items[0]) for each in items)
        found = []
        for each in items[:1] if alike else items:
            inner = scope_of(node, env, mode, self._of.file)
            self._of.assign(node.generators[0].target, each, inner)
            found.append(self._of.evaluate(node.elt, inner))
        return tuple(found * len(items) if alike else found)

    def of_pairs(self, node: ast.DictComp, env: Env) -> Value:
        """Return the dictionary that is made."""
        inner = self._generators(node, env, env.mode)
        self._of.evaluate(node.key, inner)
        member = self._of.evaluate(node.value, inner)
        self._of.bind_around(node, inner, env)
        return of_kind(Kind.SEQUENCE, member=member)

    def _generators(self, node: _Comprehension, env: Env, mode: Mode) -> Env:
        inner = scope_of(node, env, mode, self._of.file)
        for at, each in enumerate(node.generators):
            values = self._of.iterated(self._of.evaluate(each.iter, inner if at else env), each.iter)
            self._of.assign(each.target, part(values), inner)
            for test in each.ifs:
                self._of.evaluate(test, inner)
                self._of.guard.narrow(test, True, inner)
        return inner
