"""What a change in place reaches: the thing itself, what holds it, and what shares its memory.

It is made by a statement, or by a function or a method that is called.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, Grad, Kind, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import join
from torchlint.inference.models import containers, nn, tensors
from torchlint.inference.models.call_arguments import Arguments, SetsAttribute
from torchlint.inference.program.definite_attributes import used_bare
from torchlint.inference.program.grad_requests import ASKING
from torchlint.inference.program.imports import path_of
from torchlint.syntax.places import is_super_call

if TYPE_CHECKING:
    from torchlint.inference.interpreter.expressions import Expressions


def same_module(node: ast.expr) -> ast.expr:
    """Return what names the module that a chain of methods gives which give it: ``net`` of ``net.to(dtype).eval()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in nn.GIVING_ITSELF:
        node = node.func.value
    return node


class Changes:
    """Writes down what is changed in place in one scope."""

    def __init__(self, expressions: Expressions) -> None:
        self._of = expressions

    def change(self, target: ast.expr, receiver: Value, word: str, given: Arguments, env: Env) -> None:
        """Carry out what a method changes in its receiver."""
        if receiver.may(Kind.SEQUENCE) and (new := containers.added(word, given)) is not None:
            self._of.put_in(target, new)
        if receiver.may(Kind.MODULE) and word in ("cuda", "cpu", "to", "requires_grad_"):
            by_name = receiver.unknown and self._of.file.works_with_torch
            if receiver.must(Kind.MODULE) or (by_name and self._is_statement(given.node)):
                kind = Kind.MODULE | (Kind.TENSOR if word == "requires_grad_" else Kind(0))
                module = receiver if receiver.must(Kind.MODULE) else receiver.having(kind=kind, grad=Grad.ATTACHED)
                changed = nn.method(module, word, given, env.mode) or module
                target = same_module(target) if receiver.must(Kind.MODULE) else target
                self.set(target, changed, env)
                self.thaw(target, changed, env)
                is_elsewhere = changed.device != module.device or changed.why_device is not module.why_device
                if is_elsewhere or word in ("cuda", "cpu"):
                    self.move_parts(target, changed, env)
                if word == ASKING:
                    self._of.freezing.asked(target, changed, changed.grad, env)
        elif receiver.may(Kind.MODULE) and word == "apply" and given.positional:
            self._of.freezing.applied(target, given.positional[0], env)
        elif receiver.must(Kind.MODULE):
            self.grow_module(target, receiver, word, given, env)
        elif receiver.may(Kind.SEQUENCE) and (after := containers.grown(receiver, word, given)) is not None:
            self.set(target, after, env)
        elif receiver.is_tensor and tensors.changes_in_place(word):
            of_tensor = tensors.method(receiver, word, given, env.mode)
            if of_tensor is not None:
                self.set(target, of_tensor, env)
                self.thaw(target, of_tensor, env)
                if word == ASKING:
                    self._of.freezing.asked(target, receiver, of_tensor.grad, env)

    def _is_statement(self, node: ast.AST) -> bool:
        return isinstance(self._of.file.index.parents.get(node), ast.Expr)

    def thaw(self, part: ast.expr, value: Value, env: Env) -> None:
        """Take notice that something may require grad now: what holds it is no longer frozen as a whole."""
        gained = Grad.ATTACHED if value.grad & Grad.ATTACHED else Grad.UNKNOWN
        while isinstance(part, ast.Attribute | ast.Subscript) and value.grad & (Grad.ATTACHED | Grad.UNKNOWN):
            part = part.value
            owner = self._of.evaluate(part, env)
            if (path := path_of(part)) is not None:
                self._of.freezing.thawed(path, env)
            if not owner.must(Kind.MODULE) or (owner.grad & Grad.ATTACHED and path == self.self_name(part)):
                continue
            if gained == Grad.ATTACHED and not nn.is_torchs(owner):
                self.set(part, owner.having(grad=owner.grad | nn.SOME_LIVE), env)
            elif not owner.grad & Grad.ATTACHED:
                self.set(part, owner.having(grad=owner.grad | gained), env)

    def take_part(self, place: ast.expr, value: Value, env: Env) -> None:
        """Take notice that a module was given a part: where that has parameters, it is no longer frozen as a whole."""
        if not isinstance(place, ast.Attribute | ast.Subscript) or not nn.may_have_parameters(value):
            return
        owner = self._of.evaluate(place.value, env)
        if value.is_tensor and not value.grad & Grad.ATTACHED and nn.is_torchs(owner):
            self._of.freezing.ask(place.value, nn.MAYBE_FROZEN, env)
        self.thaw(place, value if nn.is_part(value) else value.having(grad=Grad.UNKNOWN), env)

    def grow_module(self, holder: ast.expr, module: Value, word: str, given: Arguments, env: Env) -> None:
        """Put what a method gives a module into it: ``net.append(part)``, ``net.add_module("head", part)``."""
        if (after := containers.grown_module(module, word, given)) is None:
            return
        if nn.holds_in_order(module):
            self.set(holder, after, env)
        place = ast.copy_location(ast.Attribute(holder, word, ast.Load()), holder)
        for each in given.every():
            self.take_part(place, containers.part(each) if each.must(Kind.SEQUENCE) else each, env)

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

    def move_parts(self, target: ast.expr, module: Value, env: Env) -> None:
        """Put what is known of a module's attributes where the module has been moved."""
        path = path_of(target)
        for part, value in (env.about(frozenset((path,))) if path is not None else {}).items():
            if part == path or not containers.is_moved_along(value):
                continue
            place = module.device | value.device if "[" in part else module.device  # a plain list stays where it is
            moved = value.having(device=place, why_device=module.why_device or value.why_device)
            env.refine(part, moved)
            self._of.note_attribute(part, moved)

    def carry_out(self, given: Arguments, env: Env) -> None:
        """Change what a function of the project changed of its arguments."""
        for target, value in given.changes:
            self.set(target, join(self._of.evaluate(target, env), value), env)
            self.take_part(target, value, env)
        for function, word, value in given.shared:
            if self._of.file.shares(given.node, function, word):
                name = ast.copy_location(ast.Name(word, ast.Load()), given.node)
                self.set(name, join(self._of.evaluate(name, env), value), env)
        for owner, word, value, setting in given.attributes:
            self._set_by_method(owner, word, value, setting, env)
        for target, grad in given.asked:
            self._of.freezing.ask(target, grad, env)
        given.asked.clear()
        given.changes.clear()
        given.shared.clear()
        given.attributes.clear()

    def _set_by_method(self, owner: ast.expr, word: str, value: Value, setting: SetsAttribute, env: Env) -> None:
        """Take in what a method sets an attribute of its object to.

        Where it may leave it alone, what is known of it here is joined; where nothing is, its class says what it is.
        """
        root = self.self_name(owner) if is_super_call(owner) else path_of(owner)
        if root is None:
            return
        self.take_part(ast.copy_location(ast.Attribute(owner, word, ast.Load()), owner), value, env)
        path = f"{root}.{word}"
        before = env.find(path)
        is_all = setting is SetsAttribute.ALWAYS and self._is_held_here(owner, root)
        if before is not None or setting is SetsAttribute.FIRST or is_all:
            env.assign(path, value if before is None or is_all else join(before, value))
        if before is not None or setting is SetsAttribute.FIRST:  # else its own walk says what the method sets
            self._of.note_attribute(path, value)
        else:
            self._of.note_set_by_method(path, value)

    def _is_held_here(self, owner: ast.expr, path: str) -> bool:
        """Whether nothing but what is written in the function changes an object: it hands it on to nobody."""
        function = self._of.file.owner(owner)
        if function is None:
            return False
        bare = self._of.file.index.told(used_bare, function)
        root, *parts = path.split(".")
        return not any(".".join((root, *parts[:count])) in bare for count in range(len(parts) + 1))

    def self_name(self, node: ast.AST) -> str | None:
        """Return the name of the object of the method in which a node stands; None outside of methods."""
        function = self._of.file.owner(node)
        return self._of.file.self_name(function) if function is not None else None
