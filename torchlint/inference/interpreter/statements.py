"""Statements: how what is known of names changes along a function's body, until its loops settle."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torchlint.facts.value import NOTHING, UNKNOWN, Grad, Kind, Mode, Value, of_kind
from torchlint.inference.interpreter.aliases import LINKS, Aliases
from torchlint.inference.interpreter.environment import Env, joined_modes, lifted
from torchlint.inference.interpreter.expressions import Expressions
from torchlint.inference.interpreter.freezing import MARK, after_grad_request
from torchlint.inference.interpreter.interrupted_blocks import at_early_end, may_take_errors
from torchlint.inference.interpreter.rewritten_members import write_back
from torchlint.inference.lattice import join
from torchlint.inference.models import nn, tensors
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.containers import holding, lengthened, part
from torchlint.inference.models.operators import combined
from torchlint.inference.program.bindings import Loop, declared
from torchlint.inference.program.imports import import_bindings, path_of
from torchlint.inference.program.liveness import rebound

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_PASSES = 6
"""A loop is walked at most this often; from the fourth time on what still changes in it is unknown."""
_WIDEN = 3


class Flow(Expressions):
    """One walk of a body in an environment: the value of every expression in it, and what it returns."""

    def __init__(self, file: File, body: list[ast.stmt], start: Callable[[Flow], Env], self_name: str | None) -> None:
        super().__init__(file)
        self.body = body
        self._start = start
        self.self_name = self_name
        self.attributes: dict[str, Value] = {}
        """What was assigned to attributes of ``self``, joined."""
        self.set_by_methods: dict[str, Value] = {}
        """What methods that were called set attributes of ``self`` to, and of what it holds: ``net.x``."""
        self.returned: Value = NOTHING
        self.returns = False
        self.env = Env()
        self.presumed: list[Value] = []
        """What arguments are taken to be that no call gives."""
        self._heads: dict[Loop, dict[str, Value]] = {}
        self._modes_at: dict[Loop, Mode] = {}
        self._aliases = Aliases(self)
        self.freezing.scope = (file.index.owner(body[0]) or file.index.tree) if body else None
        self.is_module = body is file.index.tree.body
        self.running = False
        """Whether the walk is under way."""
        self._round = -1
        """How often the outermost loop around the statement at hand was walked before; -1 outside of loops."""
        self._settled = True
        self._breaks: list[list[Env]] = []
        self._continues: list[list[Env]] = []
        self._loops: list[Env] = []
        """What is known at the heads of the loops around the statement at hand, the innermost last."""

    def run(self) -> Flow:
        """Walk the body."""
        self.running = True
        self.env = self._start(self)
        self.block(self.body, self.env)
        if not self.env.dead:
            self.freezing.leave(self.env)
        self._settle_attributes()
        self.running = False
        return self

    def _settle_attributes(self) -> None:
        """Say what attributes of ``self`` are at the end whose parameters were asked alike on each way to it."""
        for path, grad in self.freezing.left().items():
            root, _, word = path.partition(".")
            if root == self.self_name and word in self.attributes and not grad & Grad.UNKNOWN:
                self.attributes[word] = after_grad_request(self.attributes[word], grad) or self.attributes[word]

    def close(self) -> None:
        """Let go of what evaluates: it and the walk hold each other, and all that was found, until they are parted."""
        del self.guard, self.calls, self.truth, self.freezing, self.comprehensions, self._aliases

    def block(self, body: list[ast.stmt], env: Env) -> None:
        """Walk statements in order; code behind a ``return`` is walked too, but changes nothing that is joined."""
        for at, statement in enumerate(body):
            if env.dead:
                self._unreached_block(body[at:], env.layer())
                return
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                handler(self, statement, env)

    def _unreached_block(self, body: list[ast.stmt], env: Env) -> None:
        if self.reports:
            with self.aside():
                self.block(body, env)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Walk code that is never reached: nothing of what it does is kept."""
        returned, returns, attributes = self.returned, self.returns, dict(self.attributes)
        ends = self.freezing.so_far()
        pending = [(each, len(each)) for each in (*self._breaks, *self._continues)]
        with super().aside():
            yield
        self.returned, self.returns, self.attributes = returned, returns, attributes
        self.freezing.forget_since(ends)
        for each, before in pending:
            del each[before:]

    def wrote(self, path: str, value: Value, env: Env) -> None:
        """Let other names for the memory that was written into know of it."""
        self._aliases.write(path, value, env)

    def is_open(self, word: str, env: Env) -> bool:
        """Whether something else than this walk may decide what a name is.

        So it is with names of a module, with those that functions inside take for theirs, and with an argument that no
        call gives: what an annotation says of it is what is tested.
        """
        if self.is_module or word in self.file.index.told(declared, self.file.index.tree):
            return True
        value = env.find(word)
        return any(each is value for each in self.presumed)

    # ------------------------------------------------------------------ binding
    def assign(self, target: ast.expr, value: Value, env: Env) -> None:
        """Carry out an assignment to any target."""
        super().assign(target, value, env)
        match target:
            case ast.Name(id=word) if self.is_module:
                self.file.rebound(word)
            case ast.Attribute():
                self._assign_attribute(target, value, env)
            case ast.Subscript():
                self._assign_part(target, value, env)

    def _assign_attribute(self, target: ast.Attribute, value: Value, env: Env) -> None:
        """Set an attribute; ``data``, ``grad`` and ``requires_grad`` of a tensor have meanings of their own."""
        base = self.evaluate(target.value, env)
        root = path_of(target.value)
        if target.attr == "requires_grad" and base.may(Kind.TENSOR):
            self.freezing.flag(target, base, value, env)
            return
        if target.attr == "data" and root is not None and base.may(Kind.TENSOR) and value.may(Kind.TENSOR):
            why = value.why_device or base.why_device
            env.refine(root, base.having(device=base.device | value.device, why_device=why))
        path = path_of(target)
        if path is None:
            return
        if target.attr == "grad" and base.may(Kind.TENSOR) and value.must(Kind.NONE):
            env.remove(path)  # `backward` fills it again
            return
        env.assign(path, value)
        self.calls.take_part(target, value, env)
        self.note_attribute(path, value)
        self.changes[path] = join(self.changes.get(path, NOTHING), value)

    def _assign_part(self, target: ast.Subscript, value: Value, env: Env) -> None:
        """Set a member, ``rows[i] = v``: of a container, of a tensor or of a module that holds others."""
        base = self.evaluate(target.value, env)
        index = self.evaluate(target.slice, env)
        path = path_of(target)
        if base.may(Kind.SEQUENCE):
            self.put_in(target.value, value)
        if path is not None and not base.may(Kind.TENSOR):
            env.assign(path, value)
        if base.is_tensor:
            self.calls.set(target.value, tensors.in_place(base, Arguments(target, (value,)), env.mode), env)
        elif base.may(Kind.SEQUENCE) and (base.items is not None or base.member is not None):
            self.calls.set(target.value, holding(base, value, index), env)
        elif base.must(Kind.MODULE) and nn.is_part(value):
            self.calls.become(target, value, env)
        self.calls.take_part(target, value, env)

    def note_attribute(self, path: str, value: Value) -> None:
        """Remember what an attribute of ``self`` is set to: other methods will ask."""
        if self.self_name and path.startswith(self.self_name + "."):
            word = path[len(self.self_name) + 1 :]
            if "." not in word and "[" not in word:
                self.attributes[word] = join(self.attributes.get(word, NOTHING), value)

    def note_set_by_method(self, path: str, value: Value) -> None:
        """Remember what a method that is called sets an attribute to: whoever calls this function is told."""
        root, _, word = path.partition(".")
        if root == self.self_name:
            self.set_by_methods[word] = join(self.set_by_methods.get(word, NOTHING), value)
        else:
            self.changes[path] = join(self.changes.get(path, NOTHING), value)

    def assignment(self, node: ast.Assign, env: Env) -> None:
        value = self.evaluate(node.value, env)
        for target in node.targets:
            self.assign(target, value, env)
        self._aliases.link(node, env)

    def annotated(self, node: ast.AnnAssign, env: Env) -> None:
        said = self.file.annotated(node.annotation, env, self)
        if node.value is None:
            if said is not None:
                self.assign(node.target, said, env)
            return
        value = self.evaluate(node.value, env)
        self.assign(node.target, said if said is not None and value.unknown else value, env)
        self._aliases.link(node, env)

    def augmented(self, node: ast.AugAssign, env: Env) -> None:
        before = self.evaluate(node.target, env)
        added = self.evaluate(node.value, env)
        after = combined(before, added, node.op, env.mode)
        if before.is_tensor:  # in place: the tensor stays where and what it is, but may come to require grad
            after = tensors.in_place(before, Arguments(node, (added,)), env.mode)
        elif before.must(Kind.SEQUENCE):
            after = lengthened(before, added)
        if before.may(Kind.SEQUENCE):
            self.put_in(node.target, part(added))
        path = path_of(node.target)
        if path is not None:
            (env.refine if before.is_tensor else env.assign)(path, after)
            self.note_attribute(path, after)
            if before.may(Kind.TENSOR | Kind.SEQUENCE):
                self.changes[path] = join(self.changes.get(path, NOTHING), after)
            if before.is_tensor:
                self.wrote(path, after, env)
        if isinstance(node.target, ast.Subscript):
            self._assign_part(node.target, after, env)

    # ------------------------------------------------------------------ branches
    def branch(self, node: ast.If, env: Env) -> None:
        self.evaluate(node.test, env)
        then, otherwise = env.layer(), env.layer()
        if (holds := self.truth.of(node.test, env)) is not None:
            only, never = (then, otherwise) if holds else (otherwise, then)
            self.guard.narrow(node.test, not holds, never)
            self._unreached_block(node.orelse if holds else node.body, never)
            self.guard.narrow(node.test, holds, only)
            self.block(node.body if holds else node.orelse, only)
            env.merge([only])
            return
        self.guard.narrow(node.test, True, then)
        self.block(node.body, then)
        self.guard.narrow(node.test, False, otherwise)
        self.block(node.orelse, otherwise)
        if isinstance(node.test, ast.Constant) and not node.orelse and node.test.value:
            env.merge([then])
        else:
            env.merge([then, otherwise])

    def attempt(self, node: ast.Try, env: Env) -> None:
        body = env.layer()
        self.block(node.body, body)
        halfway = lifted(body, env)
        halfway.dead = False
        ends = []
        for handler in node.handlers:
            started = at_early_end(node.body, self.values, env, self.file)  # the body may have failed at any point
            started.merge([halfway.over(started), started.layer()])
            if handler.name:
                started.assign(handler.name, of_kind(Kind.OTHER))
            self.block(handler.body, started)
            ends.append(started)
        self.block(node.orelse, body)
        env.merge([body, *ends])
        dead, env.dead = env.dead, False
        self.block(node.finalbody, env)
        if node.finalbody:  # it is run as well where the body fails
            self.block(node.finalbody, at_early_end(node.body, self.values, env, self.file))
        env.dead = env.dead or dead

    def match(self, node: ast.Match, env: Env) -> None:
        self.evaluate(node.subject, env)
        ends = [env.layer()]
        for case in node.cases:
            started = env.layer()
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name:
                    started.assign(pattern.name, UNKNOWN)
            if isinstance(case.pattern, ast.MatchClass):
                self.guard.is_instance(node.subject, case.pattern.cls, True, started)
            if case.guard is not None:
                self.evaluate(case.guard, started)
            self.block(case.body, started)
            ends.append(started)
        env.merge(ends)

    # ------------------------------------------------------------------ loops
    def loop(self, node: ast.For | ast.AsyncFor, env: Env) -> None:
        values = self.iterated(self.evaluate(node.iter, env), node.iter)

        def enter(inner: Env) -> None:
            self.leave_off(node, inner)
            self.assign(node.target, part(values), inner)
            self._aliases.link(node, inner)

        since = self.freezing.events
        self._repeat(node, env, enter, endless=False)
        self.freezing.behind(node, env, since)
        write_back(self.file, node, self.values, env)

    def repeat_while(self, node: ast.While, env: Env) -> None:
        def enter(inner: Env) -> None:
            self.evaluate(node.test, inner)
            self.guard.narrow(node.test, True, inner)

        self._repeat(node, env, enter, endless=isinstance(node.test, ast.Constant) and bool(node.test.value))

    def _repeat(self, node: Loop, env: Env, enter: Callable[[Env], None], endless: bool) -> None:
        """Walk a loop; the outermost one again and again, until all that its rounds carry into the next has settled."""
        if self._round >= 0:
            env.merge(self._once(node, env, enter, endless))
            return
        returned, yielded = self.returned, len(self.yielded)
        for self._round in range(_PASSES):
            self._settled, self.returned = True, returned
            del self.yielded[yielded:]
            left = self._once(node, env, enter, endless)
            if self._settled:
                break
        self._round = -1
        env.merge(left)

    def _once(self, node: Loop, env: Env, enter: Callable[[Env], None], endless: bool) -> list[Env]:
        """Walk a loop once, from what is known of its head so far; give the environments in which it is left."""
        head = env.layer()
        head.mode |= self._modes_at.get(node, head.mode)
        for path, value in self._heads.get(node, {}).items():
            head.refine(path, join(self._before(path, head, node), value))
        body = head.layer()
        enter(body)
        self._breaks.append([])
        self._continues.append([])
        self._loops.append(head)
        self.block(node.body, body)
        self._loops.pop()
        ends = self._continues.pop()
        if not body.dead:
            ends.append(body)
        self.freezing.at_end(node, ends)
        self._carry(node, head, ends)
        left = [lifted(each, env) for each in self._breaks.pop()]
        if not endless:
            finished = env.layer()
            finished.merge([lifted(each, env).over(finished) for each in (head, *ends)])
            self.block(node.orelse, finished)
            left.append(finished)
        return left

    def _before(self, path: str, env: Env, node: Loop) -> Value:
        """Return what a path is before a loop's first round: an attribute may have been set elsewhere."""
        known = env.find(path)
        root, dot, word = path.rpartition(".")
        if known is not None or not dot or "[" in word or path.endswith((LINKS, MARK)):
            return known if known is not None else NOTHING
        base = self._before(root, env, node)
        return self.attribute_of(base, word, node.target if isinstance(node, ast.For | ast.AsyncFor) else node.test)

    def _carry(self, node: Loop, head: Env, ends: list[Env]) -> None:
        """Take to the loop's head what the body changed and the next round may see, for the next walk."""
        if (mode := joined_modes((head, *ends))) != head.mode:
            self._settled, self._modes_at[node] = False, mode
        known = self._heads.setdefault(node, {})
        unseen = frozenset[str]() if self.is_module else self.file.index.told(rebound, node)
        changes = (each for end in ends for each in end.changes() if each[0] not in unseen)
        for path, value in (each for each in changes if not each[0].endswith(MARK)):
            seen = head.find(path)
            if seen is not None and join(seen, value).same(seen):
                continue
            before = known.get(path, NOTHING)
            after = join(before, value)
            if not after.same(before):
                self._settled = False
                known[path] = UNKNOWN if self._round >= _WIDEN else after

    def leave(self, node: ast.Break | ast.Continue, env: Env) -> None:
        pending = self._breaks if isinstance(node, ast.Break) else self._continues
        if pending:
            pending[-1].append(lifted(env, self._loops[-1]))  # what the body does behind it is not seen
        env.dead = True

    # ------------------------------------------------------------------ scopes and the rest
    def within(self, node: ast.With | ast.AsyncWith, env: Env) -> None:
        self.leave_off(node, env)
        before, takes_errors = env.mode, False
        for item in node.items:
            context = self.evaluate(item.context_expr, env)
            callee = self.values.get(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else None
            env.mode = self.file.entered(context, callee, env.mode)
            takes_errors = takes_errors or may_take_errors(context, item.context_expr, self.file)
            if item.optional_vars is not None:
                given = callee is not None and self.file.wrappers.is_context_manager(callee)
                self.assign(item.optional_vars, part(context) if given else UNKNOWN, env)
        body = env.layer() if takes_errors else env
        self.block(node.body, body)
        if takes_errors:
            env.merge([body, at_early_end(node.body, self.values, env, self.file)])
        env.mode = before

    def give(self, node: ast.Return, env: Env) -> None:
        value = self.evaluate(node.value, env) if node.value is not None else of_kind(Kind.NONE)
        self.returned = join(self.returned, value)
        self.returns = True
        self.freezing.leave(env)
        env.dead = True

    def fail(self, node: ast.Raise, env: Env) -> None:
        for each in filter(None, (node.exc, node.cause)):
            self.evaluate(each, env)
        env.dead = True

    def expression(self, node: ast.Expr, env: Env) -> None:
        self.evaluate(node.value, env)
        self._aliases.link(node, env)

    def check(self, node: ast.Assert, env: Env) -> None:
        self.evaluate(node.test, env)
        if node.msg is not None:
            self.evaluate(node.msg, env)
        self.guard.narrow(node.test, True, env)

    def delete(self, node: ast.Delete, env: Env) -> None:
        for target in node.targets:
            if (path := path_of(target)) is not None:
                env.remove(path)

    def imports(self, node: ast.Import | ast.ImportFrom, env: Env) -> None:
        for word, value in import_bindings(node, self.file.module_name):
            env.assign(word, value)
        if self.is_module and isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            for word, value in self.file.toplevel.bound_anew(node, env):
                env.assign(word, value)

    def function_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, env: Env) -> None:
        for each in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.evaluate(each, env)
        env.assign(node.name, self.file.defined(node, env.inner_scope()))

    def class_definition(self, node: ast.ClassDef, env: Env) -> None:
        for each in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.evaluate(each, env)
        inner = env.inner_scope()
        inner.is_class_body = True
        env.assign(node.name, self.file.defined(node, env))
        self.block(node.body, inner)


_Handler = Callable[[Flow, Any, Env], None]

_STATEMENTS: dict[type[ast.stmt], _Handler] = {
    ast.Assign: Flow.assignment,
    ast.AnnAssign: Flow.annotated,
    ast.AugAssign: Flow.augmented,
    ast.If: Flow.branch,
    ast.Try: Flow.attempt,
    ast.Match: Flow.match,
    ast.For: Flow.loop,
    ast.AsyncFor: Flow.loop,
    ast.While: Flow.repeat_while,
    ast.Break: Flow.leave,
    ast.Continue: Flow.leave,
    ast.With: Flow.within,
    ast.AsyncWith: Flow.within,
    ast.Return: Flow.give,
    ast.Raise: Flow.fail,
    ast.Expr: Flow.expression,
    ast.Assert: Flow.check,
    ast.Delete: Flow.delete,
    ast.Import: Flow.imports,
    ast.ImportFrom: Flow.imports,
    ast.FunctionDef: Flow.function_definition,
    ast.AsyncFunctionDef: Flow.function_definition,
    ast.ClassDef: Flow.class_definition,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Flow.attempt
