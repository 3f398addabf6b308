"""The value of each form of expression, in an environment."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torchlint.facts.value import (
    ANY,
    NOTHING,
    OTHER,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    of_kind,
    tensor,
)
from torchlint.inference.interpreter.calls import Calls
from torchlint.inference.interpreter.classes import moved_along
from torchlint.inference.interpreter.comprehensions import Comprehensions
from torchlint.inference.interpreter.decorators import is_resumed_alike
from torchlint.inference.interpreter.deferred_scopes import scope_of
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.filled_attributes import Filled
from torchlint.inference.interpreter.freezing import Freezing
from torchlint.inference.interpreter.heuristics import NO_TENSOR, is_setting
from torchlint.inference.interpreter.narrowing import Guard
from torchlint.inference.interpreter.truth import Truth
from torchlint.inference.lattice import any_element, claimed_like, join, join_all, without_cuda
from torchlint.inference.models import functions, libraries, nn, tensors
from torchlint.inference.models.builtins import literal
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.claims import BY_ATTRIBUTE
from torchlint.inference.models.containers import element, part, unpacked
from torchlint.inference.models.devices import SETTINGS_WORD, last_word_of_name
from torchlint.inference.models.operators import claimed_of_operands, combined, of_tensors
from torchlint.inference.program.imports import canonical, path_of
from torchlint.inference.program.kept_graphs import is_asked, keeping_graphs
from torchlint.syntax.signatures import parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_GIVING_BOOL = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
"""Comparisons that no type of operands makes anything else of."""

_SUSPENDING = (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)
"""Where a function leaves off, and others run before it goes on."""

_MOST_ITEMS = 32
"""Longer literals are known by the join of their members only."""


class Expressions:
    """Evaluates expressions of one scope and keeps what it found for each of them."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.values: dict[ast.expr, Value] = {}
        self.modes: dict[ast.expr, Mode] = {}
        self.yielded: list[Value] = []
        self.changes: dict[str, Value] = {}
        """What names and paths have become by changes in place, joined."""
        self.truth = Truth(self.values, self.is_open)
        self.guard = Guard(self.evaluate, self.values.get, self.truth.of, file)
        self.calls = Calls(self)
        self.comprehensions = Comprehensions(self)
        self.freezing = Freezing(self)
        self.filled = Filled()
        self.is_module = False
        """Whether the scope is the one of a module."""
        self.reports = True
        """Whether somebody asks for the values of single expressions: else code that is never reached is left out."""

    def evaluate(self, node: ast.expr, env: Env) -> Value:
        """Return an expression's value; names that it binds (``:=``) are bound in ``env``."""
        handler = _HANDLERS.get(type(node))
        known = handler(self, node, env) if handler else UNKNOWN
        self.values[node] = value = without_cuda(known) if env.without_cuda else known
        self.modes[node] = env.mode
        return value

    def note_attribute(self, path: str, value: Value) -> None:
        """Remember what an attribute of ``self`` is set to; a flow does."""

    def note_set_by_method(self, path: str, value: Value) -> None:
        """Remember what a method that is called sets an attribute of an object to; a flow does."""

    def wrote(self, path: str, value: Value, env: Env) -> None:
        """Take notice that a path was written into; a flow does."""

    def put_in(self, place: ast.expr, new: Value) -> None:
        """Remember what is put into what another object keeps: its class will ask, and may have asked already."""
        if self.filled.note(place, new, self.values) and self.is_module:
            self.file.forget()

    def is_open(self, word: str, env: Env) -> bool:
        """Whether something else than this walk may decide what a name is; a flow knows."""
        return False

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Walk code that is never reached: for what is asked of its expressions, and for nothing else."""
        changes, yielded = dict(self.changes), len(self.yielded)
        yield
        self.changes = changes
        del self.yielded[yielded:]

    # ------------------------------------------------------------------ names
    def name(self, node: ast.Name, env: Env) -> Value:
        value = env.find(node.id)
        if value is None:
            value = self.file.name(node.id)
        elif self.is_module:
            value = self.file.closures.after_hooks(node.id, value)
        if value.names:
            value = self.file.followed(value)
        if value.unknown and value.member is None and nn.names_a_loader(node.id):
            return value.having(member=nn.host_batch())
        return value

    def attribute(self, node: ast.Attribute, env: Env) -> Value:
        return self.attribute_on(node, self.evaluate(node.value, env), env)

    def attribute_on(self, node: ast.Attribute, base: Value, env: Env) -> Value:
        """Return an attribute of a base that is evaluated already: a chain is walked once."""
        path = path_of(node)
        if path is not None and (known := env.find(path)) is not None:
            return known
        value = self.attribute_of(base, node.attr, node)
        if value.unknown and value.member is None and nn.names_a_loader(node.attr):
            return value.having(member=nn.host_batch())
        return value

    def attribute_of(self, base: Value, word: str, node: ast.expr) -> Value:
        """Return ``base.word``: where a claim says what the base is, it says that of its attributes, too.

        Of what has a tensor's attributes, which are numbers alike, an array's shape alone is something else.
        """
        found = self._attribute_of(base, word, node)
        if not base.claimed or (base.is_tensor and not found.may(Kind.SIZE | Kind.TENSOR)):
            return found
        return claimed_like(base, found)

    def _attribute_of(self, base: Value, word: str, node: ast.expr) -> Value:
        """Return ``base.word``, by what is known of the base."""
        if base.names and base.must(Kind.OTHER):
            return UNKNOWN if self.file.are_functions(base) else self._of_names(base, word)
        for key, value in base.keys:
            if key == word:
                return moved_along(value, base, word) if base.instance else value
        if (found := self.file.classes.attribute(base, word)) is not None:
            return found
        if word == "param_groups" and self.file.works_with_torch:
            return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, keys=(("params", _all_parameters()),)))
        if base.instance and (known := functions.of_instance(base, word, node)) is not None:
            return known
        if base.must(Kind.MODULE):
            return nn.attribute(base, word, node) or UNKNOWN
        if self.file.project.presuming and base.kind | Kind.TENSOR == ANY and is_setting(node):
            return NO_TENSOR
        if base.may(Kind.TENSOR):
            return self._of_tensor(base, word, node)
        if base.must(Kind.ARRAY):
            return libraries.array_attribute(word)
        if (
            base.must(ANY & ~Kind.TENSOR & ~Kind.MODULE)
            and not base.instance
            and not base.names
            and base.may(Kind.OTHER)
        ):
            return of_kind(Kind.OTHER | Kind.ARRAY | Kind.SCALAR | Kind.STRING | Kind.SEQUENCE)
        return UNKNOWN

    def _of_names(self, base: Value, word: str) -> Value:
        names = frozenset(canonical(f"{name}.{word}") for name in base.names)
        found = [self.file.class_member(name, word) for name in base.names]
        if all(value is not None for value in found):
            return join_all(value for value in found if value is not None)
        if len(names) == 1 and (constant := functions.attribute(next(iter(names)))) is not None:
            return constant
        return self.file.followed(of_kind(Kind.OTHER, names=names))

    def _of_tensor(self, base: Value, word: str, node: ast.expr) -> Value:
        """Return an attribute of what is a tensor or may be one."""
        if word == "device" and base.unknown and SETTINGS_WORD.search(last_word_of_name(getattr(node, "value", None))):
            return of_kind(Kind.DEVICE, device=Device.HOST | Device.ACCELERATOR)
        if (found := tensors.attribute(base, word, node)) is not None:
            if word == "grad" and (base.is_tensor or self.file.works_with_torch):
                gradient, is_shown = self._gradient(found, node), base.is_tensor and not base.claimed
                return gradient if is_shown else gradient.having(claimed=base.claimed or BY_ATTRIBUTE)
            if base.is_tensor or word in ("device", "dtype", "requires_grad", "is_cuda", "is_leaf"):
                return found
            return found.having(kind=ANY) if found.may(Kind.TENSOR) else found.having(kind=found.kind | Kind.OTHER)
        if word in nn.NUMBERS and not base.unknown:
            return of_kind(Kind.INTEGER | Kind.OTHER)
        return part(base) if not base.is_tensor else UNKNOWN

    def _gradient(self, gradient: Value, node: ast.expr) -> Value:
        """Return ``x.grad``: it has a graph of its own where a backward pass above keeps one."""
        index = self.file.index
        passes = index.told(keeping_graphs, index.owner(node) or index.tree)
        above = [each for each in passes if each.lineno < node.lineno]
        if not above:
            return gradient
        live = Grad.ATTACHED if any(map(is_asked, above)) else Grad.UNKNOWN
        why = Reason("{code} keeps a graph of the gradients", above[-1])
        return gradient.having(grad=gradient.grad | live, why_grad=why)

    # ------------------------------------------------------------------ parts of containers
    def subscript(self, node: ast.Subscript, env: Env) -> Value:
        base = self.evaluate(node.value, env)
        index = self.evaluate(node.slice, env)
        path = path_of(node)
        if path is not None and (known := env.find(path)) is not None:
            return known
        if index.const == "params" and not base.is_tensor and not base.keys and self.file.works_with_torch:
            return _all_parameters()
        if base.instance and (got := self.file.call_method(base, "__getitem__", Arguments(node, (index,)), env.mode)):
            return got
        return element(base, node.slice, index)

    def slice(self, node: ast.Slice, env: Env) -> Value:
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                self.evaluate(bound, env)
        return OTHER

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, env: Env) -> Value:
        items = tuple(self.evaluate(each, env) for each in node.elts)
        if any(isinstance(each, ast.Starred) for each in node.elts):
            spread = (
                part(item) if isinstance(each, ast.Starred) else item
                for each, item in zip(node.elts, items, strict=True)
            )
            return of_kind(Kind.SEQUENCE, member=join_all(spread))
        if len(items) > _MOST_ITEMS:
            return of_kind(Kind.SEQUENCE, member=join_all(items))
        return of_kind(Kind.SEQUENCE, items=items)

    def dictionary(self, node: ast.Dict, env: Env) -> Value:
        keys: list[tuple[str, Value]] = []
        members = []
        for key, inner in zip(node.keys, node.values, strict=True):
            value = self.evaluate(inner, env)
            if key is None:
                members.append(any_element(value))
                continue
            name = self.evaluate(key, env).const
            members.append(value)
            if isinstance(name, str):
                keys.append((name, value))
        if not members:
            return of_kind(Kind.SEQUENCE, items=())
        known = tuple(keys) if len(keys) <= _MOST_ITEMS else ()
        return of_kind(Kind.SEQUENCE, keys=known, member=join_all(members))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, env: Env) -> Value:
        return self.comprehensions.of(node, env)

    def dict_comprehension(self, node: ast.DictComp, env: Env) -> Value:
        return self.comprehensions.of_pairs(node, env)

    def bind_around(self, node: ast.expr, inner: Env, env: Env) -> None:
        """Bind what ``:=`` binds in a part that may be left out, of a comprehension or of ``a and (b := c)``."""
        if not self.file.index.inside(node, ast.NamedExpr):
            return
        for each in self.file.index.inside(node, ast.NamedExpr, but=(ast.Lambda,)):
            found = inner.find(each.target.id)
            if found is None:
                continue
            bound = self.values.get(each.target, UNKNOWN)
            self.assign(each.target, join(env.find(each.target.id) or NOTHING, found), env)
            self.values[each.target] = bound

    def iterated(self, value: Value, node: ast.AST) -> Value:
        """Return what is gone through: of an object of the project what its own methods give one by one."""
        if not value.instance or not value.must(Kind.OTHER) or value.items is not None or value.member is not None:
            return value
        given = Arguments(getattr(node, "func", node))
        found = self.file.call_method(value, "__iter__", given, Mode.ON)
        if found is not None and found.instance:
            each = self.file.call_method(found, "__next__", given, Mode.ON)
        elif found is None:
            each = self.file.call_method(value, "__getitem__", replace(given, positional=(_ANY_INDEX,)), Mode.ON)
        else:
            return found
        return value if each is None else of_kind(Kind.SEQUENCE, member=each)

    def assign(self, target: ast.expr, value: Value, env: Env) -> None:
        """Bind names and what unpacks into names; a flow also assigns attributes and parts."""
        self.values[target] = value
        match target:
            case ast.Name(id=word):
                env.assign(word, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each, inner in zip(targets, unpacked(value, targets), strict=False):
                    self.assign(each, inner, env)
            case ast.Starred(value=inner_target):
                self.assign(inner_target, of_kind(Kind.SEQUENCE, member=value), env)

    # ------------------------------------------------------------------ operators
    def binary(self, node: ast.BinOp, env: Env) -> Value:
        return combined(self.evaluate(node.left, env), self.evaluate(node.right, env), node.op, env.mode)

    def unary(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.evaluate(node.operand, env)
        if isinstance(node.op, ast.Not):
            return of_kind(Kind.SCALAR, const=self.truth.of(node, env))
        if isinstance(node.op, ast.USub) and isinstance(value.const, int | float):
            return value.having(const=-value.const)
        if value.is_tensor and not isinstance(node.op, ast.UAdd):
            return of_tensors(value, value, node.op, env.mode).having(rank=value.rank, claimed=value.claimed)
        return value.having(const=None)

    def compare(self, node: ast.Compare, env: Env) -> Value:
        values = [self.evaluate(each, env) for each in (node.left, *node.comparators)]
        if any(isinstance(each, _GIVING_BOOL) for each in node.ops) or not any(v.may(Kind.TENSOR) for v in values):
            array = Kind.ARRAY if any(v.may(Kind.ARRAY) for v in values) else Kind(0)
            return of_kind(Kind.SCALAR | array, const=None if array else self.truth.of(node, env))
        either = join_all(value for value in values if value.may(Kind.TENSOR))
        result = tensor(Grad.DETACHED, either.device, Dtype.BOOL, why_device=either.why_device)
        if not any(v.is_tensor for v in values):
            return result.having(kind=ANY)
        return claimed_of_operands(result, values)

    def boolean(self, node: ast.BoolOp, env: Env) -> Value:
        inner = env.layer()
        values: list[Value] = []
        going_on = isinstance(node.op, ast.And)
        for at, each in enumerate(node.values):
            value = self.evaluate(each, inner)
            held = self.truth.of(each, inner)
            last = at == len(node.values) - 1
            if not going_on and not last:
                value = value.having(kind=value.kind & ~Kind.NONE)
            if last or held is not going_on:
                values.append(value)
            if held is (not going_on):
                self._unreached(node.values[at + 1 :], inner)
                break
            self.guard.narrow(each, going_on, inner)
        self.bind_around(node, inner, env)
        return join_all(values)

    def _unreached(self, nodes: list[ast.expr], env: Env) -> None:
        if self.reports:
            with self.aside():
                for each in nodes:
                    self.evaluate(each, env)

    def choice(self, node: ast.IfExp, env: Env) -> Value:
        self.evaluate(node.test, env)
        then, otherwise = env.layer(), env.layer()
        holds = self.truth.of(node.test, env)
        if holds is not None:
            self.guard.narrow(node.test, True, then)
            self.guard.narrow(node.test, False, otherwise)
            both = [(node.body, then), (node.orelse, otherwise)]
            if not holds:
                both.reverse()
            self._unreached([both[1][0]], both[1][1])
            taken = self.evaluate(*both[0])
            self.bind_around(node, both[0][1], env)
            return taken
        self.guard.narrow(node.test, True, then)
        self.guard.narrow(node.test, False, otherwise)
        result = join(self.evaluate(node.body, then), self.evaluate(node.orelse, otherwise))
        self.bind_around(node, then, env)
        self.bind_around(node, otherwise, env)
        return result

    # ------------------------------------------------------------------ the rest
    def constant(self, node: ast.Constant, env: Env) -> Value:
        return literal(node.value) if node.value is not ... else of_kind(Kind.OTHER)

    def call(self, node: ast.Call, env: Env) -> Value:
        return self.calls.call(node, env)

    def text(self, node: ast.JoinedStr, env: Env) -> Value:
        for each in node.values:
            self.evaluate(each, env)
        return of_kind(Kind.STRING)

    def formatted(self, node: ast.FormattedValue, env: Env) -> Value:
        self.evaluate(node.value, env)
        if node.format_spec is not None:
            self.evaluate(node.format_spec, env)
        return of_kind(Kind.STRING)

    def inner(self, node: ast.Await | ast.Starred, env: Env) -> Value:
        value = self.evaluate(node.value, env)
        self.leave_off(node, env)
        return value

    def leave_off(self, node: ast.AST, env: Env) -> None:
        """Go on behind ``yield`` or ``await`` in the mode of who goes on, who may have turned grad mode on."""
        if not isinstance(node, _SUSPENDING) or self.file.project.presuming:
            return
        if not is_resumed_alike(self.file.index.owner(node)):
            env.mode |= Mode.ON

    def produced(self, node: ast.Yield | ast.YieldFrom, env: Env) -> Value:
        if node.value is not None:
            value = self.evaluate(node.value, env)
            self.yielded.append(part(value) if isinstance(node, ast.YieldFrom) else value)
        self.leave_off(node, env)
        return UNKNOWN

    def walrus(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.evaluate(node.value, env)
        self.assign(node.target, value, env)
        return value

    def function(self, node: ast.Lambda, env: Env) -> Value:
        inner = scope_of(node, env, Mode.ON, self.file)
        for word in parameters(node):
            inner.assign(word, UNKNOWN)
        return of_kind(Kind.OTHER, node=node, member=self.evaluate(node.body, inner))


_ANY_INDEX = of_kind(Kind.INTEGER)


def _all_parameters() -> Value:
    return of_kind(Kind.SEQUENCE, member=nn.parameters(UNKNOWN))


_Handler = Callable[[Expressions, Any, Env], Value]

_HANDLERS: dict[type[ast.expr], _Handler] = {
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Subscript: Expressions.subscript,
    ast.Slice: Expressions.slice,
    ast.List: Expressions.sequence,
    ast.Tuple: Expressions.sequence,
    ast.Set: Expressions.sequence,
    ast.Dict: Expressions.dictionary,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dict_comprehension,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.Compare: Expressions.compare,
    ast.BoolOp: Expressions.boolean,
    ast.IfExp: Expressions.choice,
    ast.Constant: Expressions.constant,
    ast.Call: Expressions.call,
    ast.JoinedStr: Expressions.text,
    ast.FormattedValue: Expressions.formatted,
    ast.Await: Expressions.inner,
    ast.Starred: Expressions.inner,
    ast.Yield: Expressions.produced,
    ast.YieldFrom: Expressions.produced,
    ast.NamedExpr: Expressions.walrus,
    ast.Lambda: Expressions.function,
}
