"""What is asked of the parameters of modules, to require grad or not to: one by one, in loops and in functions.

Where all of a module's parameters are asked alike, that is what the module is. Where it is only known that they may
have been asked, the module may have been frozen; nothing is taken to be frozen that may not be.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, Device, Dtype, Grad, Kind, Reason, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.lattice import join
from torchlint.inference.models import nn
from torchlint.inference.models.containers import is_moved_along
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.nn import MAYBE_FROZEN, SOME_LIVE
from torchlint.inference.models.tables import words
from torchlint.inference.program.grad_requests import (
    LoopName,
    assigned_values,
    changes_requires_grad,
    derived_names,
    loop_names,
    rebinds,
    skips_some,
)
from torchlint.inference.program.imports import path_of
from torchlint.syntax.signatures import arguments_of

_FREEZING_WORD = re.compile(r"freeze|froze|requires_?grad", re.IGNORECASE)
"""What stands in the names of functions that ask parameters to require grad, or not to."""

if TYPE_CHECKING:
    from torchlint.inference.interpreter.expressions import Expressions

MARK = ".!"
"""What follows a path to spell what its parameters were asked: it is forgotten where the path is rebound."""

_ALL = frozenset({"parameters", "named_parameters", "modules", "named_modules"})
"""Methods that give all of a module's parameters, or all that have some."""
_CHILDREN = frozenset({"children", "named_children", "values", "items"})
_PARTS = frozenset({"get_parameter", "get_submodule", "pop", "get", "__getitem__"})
_HANDING_ON = frozenset(f"builtins.{word}" for word in words("list tuple iter reversed sorted set enumerate"))
_COPYING = frozenset({"copy.deepcopy", "copy.copy"})


class Freezing:
    """Carries out in one walk what is asked of parameters."""

    def __init__(self, expressions: Expressions) -> None:
        self._of = expressions
        self.scope: ast.AST | None = None
        """The function or the module that is walked."""
        self._asked: dict[str, None] = {}
        """The paths of all that was asked so far."""
        self._each: dict[tuple[ast.AST, str], tuple[Grad, Value]] = {}
        """What a name of a loop was asked at the ends of its body, and what it is there."""
        self._ends: list[dict[str, Grad]] = []
        """What was asked wherever the function may be left."""
        self._under_way: set[ast.expr | str] = set()
        """What is being asked, by its path where it has one: names may lead to each other in a circle."""
        self.events = 0
        """How often something was made to require grad so far."""
        self._live: dict[str, int] = {}
        """When that last happened to what a name stands for, or to a part of it."""

    # ------------------------------------------------------------------ what is asked
    def flag(self, target: ast.Attribute, base: Value, value: Value, env: Env) -> None:
        """Carry out ``p.requires_grad = value``."""
        root = path_of(target.value)
        if root is None:
            self.ask(target.value, _weak(_wanted(value)), env)
            return
        if value.const is False:
            after = base.having(grad=Grad.DETACHED, why_grad=None)
        else:
            why = Reason("{code} is made to require grad", target)
            after = base.having(grad=Grad.ATTACHED if value.const is True else base.grad | Grad.UNKNOWN, why_grad=why)
        env.refine(root, after)
        if value.const is not False:
            self._of.calls.thaw(target.value, after, env)
        self.asked(target.value, base, _wanted(value), env)

    def asked(self, node: ast.expr, value: Value, grad: Grad, env: Env) -> None:
        """Take notice that what an expression names was asked: its parts, what holds it and what it was made from."""
        if value.is_tensor and not nn.is_part(value):
            return
        path = path_of(node)
        if path is None:
            self.ask(node, _weak(grad), env)
            return
        self._parts(path, grad, env)
        self._mark(path, grad, env)
        if grad & Grad.ATTACHED:
            self._note_live(path)
        if isinstance(node, ast.Attribute) and value.may(Kind.TENSOR):
            owner = self._of.evaluate(node.value, env)
            if owner.must(Kind.MODULE) and nn.is_torchs(owner):
                self.ask(node.value, _weak(grad), env)
        if isinstance(node, ast.Name) and self.scope is not None:
            self._ask_others(node.id, _weak(grad), env)

    def _ask_others(self, word: str, grad: Grad, env: Env) -> None:
        """Ask what a name was made from, and what was made from it: they may hold one another."""
        index = self._of.file.index
        sources = index.told(assigned_values, self.scope) if self.scope is not None else {}
        for each in sources.get(word, ()):
            self.ask(each, grad, env)
        for other in index.told(derived_names, self.scope).get(word, ()) if self.scope is not None else ():
            value = env.find(other)
            if value is not None and value.must(Kind.MODULE):
                self.ask(ast.Name(other, ast.Load()), grad, env)

    def _parts(self, path: str, grad: Grad, env: Env) -> None:
        """Take in what becomes of the attributes of a module that are known here."""
        for part, value in env.about(frozenset((path,))).items():
            if part != path and not part.endswith(MARK) and is_moved_along(value):
                after = after_grad_request(value, grad) or value
                env.refine(part, after)
                self._of.note_attribute(part, after)
                self._mark(part, grad, env)

    def _mark(self, path: str, grad: Grad, env: Env) -> None:
        self._asked[path] = None
        env.refine(path + MARK, Value(Kind.OTHER, grad, Device(0), Dtype(0)))

    def _note_live(self, path: str) -> None:
        self.events += 1
        self._live[path.partition(".")[0].partition("[")[0]] = self.events

    def thawed(self, path: str, env: Env) -> None:
        """Take notice that a part of something came to require grad after all of it was asked not to."""
        self._note_live(path)
        if env.find(path + MARK) is not None:
            self._mark(path, MAYBE_FROZEN, env)

    def ask(self, node: ast.expr, grad: Grad, env: Env, is_module: bool = False) -> None:
        """Ask all parameters of what an expression stands for, or gives when it is gone through."""
        at = path_of(node) or node
        if at in self._under_way:
            return
        self._under_way.add(at)
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                for each in parts:
                    self.ask(each, grad, env)
            case ast.Starred(value=inner):
                self.ask(inner, grad, env)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                self.ask(left, grad, env)
                self.ask(right, grad, env)
            case ast.IfExp(body=left, orelse=right):
                self.ask(left, _weak(grad), env)
                self.ask(right, _weak(grad), env)
            case ast.ListComp(generators=generators) | ast.GeneratorExp(generators=generators):
                for generator in generators:
                    self.ask(generator.iter, _weak(grad), env)
            case ast.Call():
                self._ask_given(node, grad, env)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                self._ask_place(node, grad, env, is_module)
        self._under_way.discard(at)

    def _ask_place(self, node: ast.Name | ast.Attribute | ast.Subscript, grad: Grad, env: Env, is_module: bool) -> None:
        if path_of(node) is None:
            if isinstance(node, ast.Subscript):
                self.ask(node.value, _weak(grad), env)
            return
        value = self._of.evaluate(node, env)
        after = after_grad_request(value, grad, is_module and self._of.file.works_with_torch)
        if after is not None:
            self._of.calls.set(node, after, env)
            self._of.calls.thaw(node, after, env)
        self.asked(node, value, grad, env)

    def _ask_given(self, call: ast.Call, grad: Grad, env: Env) -> None:
        """Ask what a call gives: all of a module, the members of a container, or perhaps what it is given."""
        known = self._of.values.get(call)
        names = self._of.values.get(call.func, NOTHING).names
        if (known is not None and known.is_tensor and not nn.is_part(known)) or names & _COPYING:
            return
        match call:
            case ast.Call(func=ast.Attribute(value=holder, attr=word), args=[], keywords=[]) if word in _ALL:
                self.ask(holder, grad, env, is_module=True)
                return
            case ast.Call(func=ast.Attribute(value=holder, attr=word), args=[]) if word in _CHILDREN:
                held = self._of.evaluate(holder, env)
                is_all = held.must(Kind.SEQUENCE) or nn.holds_in_order(held) or not held.must(Kind.MODULE)
                self.ask(holder, grad if is_all else _weak(grad), env)
                return
            case ast.Call(func=ast.Name(id="super"), args=[]) if (own := self._of.calls.self_name(call)) is not None:
                self.ask(ast.copy_location(ast.Name(own, ast.Load()), call), grad, env)
                return
            case ast.Call(func=ast.Attribute(value=holder, attr=word)):
                if word in nn.GIVING_ITSELF:
                    self.ask(holder, grad, env)
                    return
                if word in _PARTS | _ALL:
                    self.ask(holder, _weak(grad), env)
        for each in arguments_of(call):
            if names and names <= _HANDING_ON:
                self.ask(each, grad, env)
            elif grad & Grad.DETACHED:
                self.ask(each, _weak(grad), env)

    # ------------------------------------------------------------------ loops
    def at_end(self, loop: ast.AST, ends: list[Env]) -> None:
        """Note what each thing that a loop goes through was asked when the loop's body has been walked."""
        if not self._asked or not isinstance(loop, ast.For | ast.AsyncFor):
            return
        for each in loop_names(loop.target, loop.iter):
            if each.name in self._asked:
                marks = {_asked_at(each.name, end) for end in ends}
                value = NOTHING
                for end in ends:
                    value = join(value, end.find(each.name) or NOTHING)
                self._each[loop, each.name] = (marks.pop() if len(marks) == 1 else Grad(0), value)

    def behind(self, loop: ast.For | ast.AsyncFor, env: Env, since: int) -> None:
        """Carry out what a loop has asked of all that it went through; ``since`` counts the events before it."""
        live = {word for word, at in self._live.items() if at > since}
        for each in loop_names(loop.target, loop.iter) if self._asked else ():
            if (known := self._each.pop((loop, each.name), None)) is not None:
                grad = self._of_all(loop, each, *known)
                self.ask(each.source, _weak(grad) if live - {each.name} and grad == Grad.DETACHED else grad, env)

    def _of_all(self, loop: ast.For | ast.AsyncFor, each: LoopName, asked: Grad, value: Value) -> Grad:
        """Return what a loop has asked of all that it went through."""
        index = self._of.file.index
        if asked not in _EXACT and value.grad == Grad.DETACHED and not value.must(Kind.MODULE):
            asked = Grad.DETACHED  # those that did not require grad were left alone
        if skips_some(index, loop, each) and (asked not in _EXACT or index.inside(loop, ast.Break)):
            return SOME_LIVE
        if asked not in _EXACT:
            return asked if asked == SOME_LIVE else MAYBE_FROZEN
        return asked if each.is_all and not rebinds(index, loop, each.name) else _weak(asked)

    def comprehended(self, node: ast.expr, generators: list[ast.comprehension], inner: Env, env: Env) -> None:
        """Carry out what a comprehension has asked of what it went through."""
        if not self._asked or not self._of.file.index.told(changes_requires_grad, node):
            return
        is_all = isinstance(node, ast.ListComp) and len(generators) == 1 and not generators[0].ifs
        for generator in generators:
            for each in loop_names(generator.target, generator.iter):
                asked = _asked_at(each.name, inner)
                is_exact = is_all and each.is_all and asked in _EXACT
                if each.name in self._asked:
                    self.ask(each.source, asked if is_exact else _weak(asked or MAYBE_FROZEN), env)

    def applied(self, target: ast.expr, function: Value, env: Env) -> None:
        """Carry out what ``net.apply(function)`` asks of all parts of a module."""
        match function.node:
            case ast.Lambda(
                args=ast.arguments(args=[ast.arg(arg=word)]),
                body=ast.Call(func=ast.Attribute(value=ast.Name(id=each), attr="requires_grad_"), args=args),
            ) if word == each and all(isinstance(given, ast.Constant) for given in args):
                values = [given.value for given in args if isinstance(given, ast.Constant)]
                self.ask(target, Grad.ATTACHED if values in ([], [True]) else Grad.DETACHED, env)
                return
        self.handed(function, [target], env)

    def handed(self, function: Value, targets: list[ast.expr], env: Env) -> None:
        """Take notice that a function, which may ask what it is given, is called with some things or their members."""
        texts = [self._of.file.project.definitions.get(name) for name in function.names]
        found = [(home.index, node) for home, node in filter(None, texts)]
        if function.node in self._of.file.index.parents:
            found.append((self._of.file.index, function.node))
        if any(index.told(changes_requires_grad, node) for index, node in found if not isinstance(node, ast.ClassDef)):
            for each in targets:
                self.ask(each, MAYBE_FROZEN, env)

    def called_so(self, call: ast.Call, env: Env) -> None:
        """Take notice of a call of a function that is not known, and by its name freezes what it is given."""
        if not _FREEZING_WORD.search(last_word_of_name(call.func)):
            return
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        for each in (*owner, *call.args):
            self.ask(each, MAYBE_FROZEN, env)

    # ------------------------------------------------------------------ functions
    def leave(self, env: Env) -> None:
        """Take notice that the function may be left here."""
        self._ends.append({path: _asked_at(path, env) for path in self._asked})

    def so_far(self) -> int:
        """Return how often the function may have been left."""
        return len(self._ends)

    def forget_since(self, count: int) -> None:
        """Forget that the function may be left where it is never reached."""
        del self._ends[count:]

    def left(self) -> dict[str, Grad]:
        """Return what a function has asked of what its paths stand for whenever it is left."""
        found = {}
        for path in self._asked if self._ends else ():
            grads = {end.get(path, Grad(0)) for end in self._ends}
            grad = grads.pop() if len(grads) == 1 else Grad(0)
            found[path] = grad if grad in (*_EXACT, SOME_LIVE) else MAYBE_FROZEN
        return found


_EXACT = (Grad.DETACHED, Grad.ATTACHED)


def _wanted(value: Value) -> Grad:
    """Return what a flag asks for."""
    if value.const is False:
        return Grad.DETACHED
    return Grad.ATTACHED if value.const is True else MAYBE_FROZEN


def _weak(grad: Grad) -> Grad:
    """Return what is known where perhaps only some were asked."""
    return {Grad.DETACHED: MAYBE_FROZEN, Grad.ATTACHED: SOME_LIVE}.get(grad, grad)


def _asked_at(path: str, env: Env) -> Grad:
    found = env.find(path + MARK)
    return found.grad if found is not None else Grad(0)


def after_grad_request(value: Value, grad: Grad, is_module: bool = False) -> Value | None:
    """Return what has become of modules and parameters that were asked; None for other values."""
    if value.must(Kind.MODULE) or (is_module and value.may(Kind.MODULE)):
        return nn.asked_for_grad(value, grad).having(kind=Kind.MODULE)
    if nn.is_part(value) and value.is_tensor:
        return value.having(grad=nn.after_asking(value, grad))
    if value.must(Kind.SEQUENCE) and value.has_parts:
        return value.with_parts(lambda each: after_grad_request(each, grad) or each)
    return None
