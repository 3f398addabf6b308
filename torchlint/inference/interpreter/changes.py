"""What a change in place reaches: the thing itself, what holds it, and what shares its memory."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import NOTHING, Grad, Kind, Value, join
from torchlint.inference.models import containers
from torchlint.inference.program.imports import path_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.expressions import Expressions


class Changes:
    """Writes down what is changed in place in one scope."""

    def __init__(self, expressions: Expressions) -> None:
        self._of = expressions

    def thaw(self, part: ast.expr, value: Value, env: Env) -> None:
        """Take notice that something may require grad now: what holds it is no longer frozen as a whole."""
        while isinstance(part, ast.Attribute | ast.Subscript) and value.grad & (Grad.ATTACHED | Grad.UNKNOWN):
            part = part.value
            owner = self._of.evaluate(part, env)
            if owner.must(Kind.MODULE) and not owner.grad & Grad.ATTACHED:
                self.set(part, owner.having(grad=owner.grad | Grad.ATTACHED), env)

    def set(self, target: ast.expr, value: Value, env: Env) -> None:
        """Say what the thing that an expression names has become, what holds it and what shares its memory."""
        self.become(target, value, env)
        if value.may(Kind.TENSOR) and (path := path_of(target)) is not None:
            self._of.wrote(path, value, env)

    def become(self, target: ast.expr, value: Value, env: Env) -> None:
        """Say what the thing that an expression names has become, and what holds it."""
        path = path_of(target)
        if path is not None:
            env.refine(path, value)
            self._of.note_attribute(path, value)
            self._of.changes[path] = join(self._of.changes.get(path, NOTHING), value)
        if isinstance(target, ast.Subscript):
            base = self._of.evaluate(target.value, env)
            if base.may(Kind.SEQUENCE) and (base.member is not None or base.items is not None):
                index = self._of.values.get(target.slice)
                self.become(target.value, containers.holding(base, value, index), env)
            elif base.must(Kind.MODULE) and (items := containers.replaced(base, target.slice, value)) is not None:
                self.become(target.value, base.having(items=items), env)
