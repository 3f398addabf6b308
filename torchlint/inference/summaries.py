"""What a function of the project returns for given arguments: its body walked once for each sort of arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.inference.arguments import Arguments
from torchlint.inference.env import Env
from torchlint.inference.facts import NOTHING, UNKNOWN, Grad, Kind, Mode, Reason, Value, join_all, of_kind
from torchlint.inference.flow import Flow
from torchlint.inference.project import MOST_DEPTH, MOST_LINES

if TYPE_CHECKING:
    from torchlint.inference.binding import Function
    from torchlint.inference.scope import File


@dataclass(frozen=True)
class _Summary:
    """What a call gives, and what it does to its arguments."""

    value: Value
    changes: tuple[tuple[str, Value], ...]

    def as_value(self) -> Value:
        """Give both as one value."""
        return of_kind(Kind.SEQUENCE, items=(self.value,), keys=self.changes)

    @staticmethod
    def out_of(value: Value) -> _Summary:
        """Give both again."""
        return _Summary(value.items[0], value.keys) if value.items else _Summary(UNKNOWN, ())


_Key = tuple[object, ...]


class Summaries:
    """The results of one file's functions, by what they are given."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[_Key, _Summary] = {}
        self._under_way: set[_Key] = set()
        """The calls that are being walked at this moment."""
        self._modes: dict[tuple[Function, Mode], dict[ast.expr, Mode]] = {}

    def of(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode, under: int = 0) -> Value:
        """Give what a function returns for some arguments; its first ``under`` decorators are left out."""
        project, call = self._file.project, given
        bound = receiver is not None
        if receiver is None and given.positional and self._file.takes_object(function):
            receiver, given = given.positional[0], given.shifted()  # `Class.method(object, ...)`
        key = (
            function,
            mode,
            under,
            _fingerprint(receiver),
            tuple(map(_fingerprint, given.positional)),
            given.starred,
            tuple((word, _fingerprint(value)) for word, value in sorted(given.keywords.items())),
        )
        if key in self._under_way:
            found = _Summary.out_of(project.rounds.guess(key, _Summary(NOTHING, ()).as_value()))
        elif key not in self._known and (project.depth >= MOST_DEPTH or project.spent > MOST_LINES):
            return _made_under(mode, UNKNOWN)
        else:
            found = project.rounds.settle(lambda: self._walked(key, function, given, receiver, mode, under))
        for word, value in found.changes:
            target = _argument(function, call.node, word, bound)
            if target is not None:
                call.changes.append((target, _through(value, call, "changes it")))
        return _through(found.value, call)

    def modes(self, function: Function, mode: Mode) -> dict[ast.expr, Mode]:
        """Give the grad modes at the expressions of a function that is called in some mode."""
        file, project = self._file, self._file.project
        if function in project.running:
            return {}
        if (function, mode) not in self._modes:
            flow = Flow(
                file, function.body, lambda flow: file.start(function, flow, None, None, mode), file.self_name(function)
            )
            with project.general(function):
                self._modes[function, mode] = flow.run().modes
            project.rounds.keep(self._modes, (function, mode))
        return self._modes[function, mode]

    def _walked(
        self, key: _Key, function: Function, given: Arguments, receiver: Value | None, mode: Mode, under: int
    ) -> _Summary:
        if key in self._known:
            return self._known[key]
        rounds = self._file.project.rounds
        self._under_way.add(key)
        try:
            found = self._inner(function, given, receiver, mode)
            around = self._file.wrappers.outermost(function, under)
            if around is not None:
                found = _Summary(self._wrapped(function, around, given, receiver, mode), found.changes)
        finally:
            self._under_way.discard(key)
        self._known[key] = found
        rounds.keep(self._known, key)
        rounds.found(key, found.as_value())
        return found

    def _inner(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> _Summary:
        """Walk a function's own body."""
        file, project = self._file, self._file.project
        start = lambda flow: file.start(function, flow, given, receiver, mode)  # noqa: E731
        flow = Flow(file, function.body, start, file.self_name(function))
        with project.call(function):
            flow.run()
        arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        own = {each.arg for each in arguments} - _bound_again(function) if flow.changes else set()
        return _Summary(
            self._returned(function, flow, mode),
            tuple((word, flow.changes[word]) for word in sorted(own & flow.changes.keys())),
        )

    def _returned(self, function: Function, flow: Flow, mode: Mode) -> Value:
        file = self._file
        if flow.yielded:
            return of_kind(Kind.SEQUENCE, member=join_all(flow.yielded))
        if not flow.returns and not _is_abstract(function):
            return of_kind(Kind.NONE)
        if flow.returned.kind and not flow.returned.unknown:
            return flow.returned
        said = file.annotated(function.returns, flow.env, flow)
        if said is not None:
            return _made_under(mode, said)
        return flow.returned if flow.returned.kind or flow.returns else _made_under(mode, UNKNOWN)

    # ------------------------------------------------------------------ decorators
    def _wrapped(self, function: Function, at: int, given: Arguments, receiver: Value | None, mode: Mode) -> Value:
        """Give what a function returns through the decorator of the project at some place of its list."""
        decorator, bare = self._file.wrappers.decorator(function, at), self._file.bare(function, at + 1)
        every = (
            given
            if receiver is None
            else Arguments(given.node, (receiver, *given.positional), given.keywords, given.starred, given.spread)
        )
        results = []
        for name in sorted(decorator.names):
            home, node = self._file.project.definitions.get(name, (self._file, None))
            if not isinstance(node, ast.FunctionDef):
                return _made_under(mode, UNKNOWN)
            made = home.summaries.of(node, Arguments(given.node, (bare,)), None, Mode.ON)
            results.append(home.summaries.through(made, node, bare, every, mode))
        return join_all(results) if results else _made_under(mode, UNKNOWN)

    def through(self, made: Value, decorator: Function, bare: Value, given: Arguments, mode: Mode) -> Value:
        """Give the result of calling what a decorator of this file made of a function, which is known as ``bare``."""
        file, project = self._file, self._file.project
        results = []
        for name in sorted(made.names) if made.must(Kind.OTHER) else ():
            if name in bare.names:
                results.append(file.call(name, bare, given, mode) or UNKNOWN)
                continue
            home, inner = project.definitions.get(name, (file, None))
            if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) or home.owner(inner) is not decorator:
                return _made_under(mode, UNKNOWN)
            results.append(self._around(inner, decorator, bare, given, mode))
        return join_all(results) if results else _made_under(mode, UNKNOWN)

    def _around(self, inner: Function, decorator: Function, bare: Value, given: Arguments, mode: Mode) -> Value:
        """Walk the function that a decorator puts in the place of another."""
        file, project = self._file, self._file.project
        words = [each.arg for each in (*decorator.args.posonlyargs, *decorator.args.args) if each.arg not in _OBJECTS]

        def start(flow: Flow) -> Env:
            return file.start(inner, flow, given, None, mode, {words[0]: bare} if words else {})

        flow = Flow(file, inner.body, start, None)
        with project.call(inner, deeper=False):
            flow.run()
        return self._returned(inner, flow, mode)


_OBJECTS = frozenset({"self", "cls"})


def _made_under(mode: Mode, value: Value) -> Value:
    """Give what code that is not known returns: where it runs with grad mode off, nothing that requires grad."""
    return value if mode & Mode.ON or not value.may(Kind.TENSOR) else value.having(grad=Grad.DETACHED)


def _bound_again(function: Function) -> set[str]:
    """Give the names that a function binds itself: what becomes of them is not seen by its caller."""
    nodes = list(ast.walk(function))
    in_place = {each.target for each in nodes if isinstance(each, ast.AugAssign)}
    stores = (each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    return {each.id for each in stores if each not in in_place}


def _argument(function: Function, call: ast.AST, word: str, bound: bool) -> ast.expr | None:
    """Give the expression that a call gives for an argument, where it is written out."""
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    for keyword in call.keywords:
        if keyword.arg == word:
            return keyword.value
    words = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][bound:]
    at = words.index(word) if word in words else len(call.args)
    return call.args[at] if at < len(call.args) else None


def _is_abstract(function: Function) -> bool:
    """Whether a body only raises or passes: subclasses say what it returns."""
    last = function.body[-1]
    return isinstance(last, ast.Raise | ast.Pass) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)
    )


def _fingerprint(value: Value | None, depth: int = 6) -> object:
    """Give all that is known of an argument as one key; what is nested too deeply is like itself alone."""
    if value is None:
        return None
    if not depth:
        return value
    items = value.items if value.items is not None else (value.member,) if value.member is not None else ()
    return (
        value.plain(),
        tuple(_fingerprint(each, depth - 1) for each in items),
        tuple((key, _fingerprint(each, depth - 1)) for key, each in value.keys),
        _fingerprint(value.self_value, depth - 1),
    )


def _through(value: Value, given: Arguments, what: str = "returns it") -> Value:
    """Say that what is known comes from another function's text."""

    def step(reason: Reason | None) -> Reason | None:
        return Reason("{code} " + what, given.node, reason, weak=True) if reason is not None else None

    return value.having(why_grad=step(value.why_grad), why_place=step(value.why_place))
