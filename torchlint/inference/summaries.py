"""What a function of the project returns for given arguments: its body walked once for each sort of arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
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
    """What a call gives, and what it does to its arguments and to ``self``."""

    value: Value
    changes: tuple[tuple[str, Value], ...] = ()
    attributes: dict[str, Value] = field(default_factory=dict)


class Summaries:
    """The results of one file's functions, by what they are given."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[tuple[object, ...], _Summary] = {}

    def of(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> Value:
        """Give what a function returns for some arguments."""
        found = self._summary(function, given, receiver, mode)
        for word, value in found.changes:
            target = _argument(function, given.node, word, receiver is not None)
            if target is not None:
                given.changes.append((target, _through(value, given, "changes it")))
        return _through(found.value, given)

    def attributes(self, start: Function, given: Arguments, made: Value) -> dict[str, Value]:
        """Give what a constructor sets the attributes of ``self`` to for some arguments."""
        return self._summary(start, given, made, Mode.ON).attributes

    def _summary(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> _Summary:
        project = self._file.project
        if function in project.running:
            return _Summary(NOTHING if project.depth < MOST_DEPTH + 1 else UNKNOWN)
        if project.depth >= MOST_DEPTH or project.spent > MOST_LINES:
            return _Summary(_made_under(mode, UNKNOWN))
        key = (
            function,
            mode,
            _fingerprint(receiver),
            tuple(map(_fingerprint, given.positional)),
            given.starred,
            tuple((word, _fingerprint(value)) for word, value in sorted(given.keywords.items())),
        )
        if key not in self._known:
            self._known[key] = self._walked(function, given, receiver, mode)
        return self._known[key]

    def _walked(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> _Summary:
        file, project = self._file, self._file.project

        def start(flow: Flow) -> Env:
            return file.start(function, flow, given, receiver, mode)

        flow = Flow(file, function.body, start, file.self_name(function))
        with project.call(function):
            flow.run()
        arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        own = {each.arg for each in arguments} - _bound_again(function) if flow.changes else set()
        return _Summary(
            self._returned(function, flow, mode),
            tuple((word, flow.changes[word]) for word in sorted(own & flow.changes.keys())),
            flow.attributes,
        )

    def _returned(self, function: Function, flow: Flow, mode: Mode) -> Value:
        file = self._file
        if flow.yielded:
            return of_kind(Kind.SEQUENCE, member=join_all(flow.yielded))
        if not flow.returns and not _is_abstract(function):
            return of_kind(Kind.NONE)
        if self._changes_results(function):
            return _made_under(mode, UNKNOWN)
        if flow.returned.kind and not flow.returned.unknown:
            return flow.returned
        said = file.annotated(function.returns, flow.env, flow)
        if said is not None:
            return _made_under(mode, said)
        return flow.returned if flow.returned.kind else _made_under(mode, UNKNOWN)

    def _changes_results(self, function: Function) -> bool:
        """Whether a decorator of the project gives something else than the function returned."""
        decorators = (self._file.outside(function, each) for each in function.decorator_list)
        return not all(self._file.wrappers.hands_through(each) for each in decorators)


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


def _fingerprint(value: Value | None, depth: int = 2) -> object:
    if value is None:
        return None
    inner: tuple[object, ...] = ()
    if depth:
        items = value.items if value.items is not None else (value.member,)
        inner = tuple(_fingerprint(each, depth - 1) for each in items)
    return (value.plain(), inner, tuple((key, _fingerprint(each, 0)) for key, each in value.keys))


def _through(value: Value, given: Arguments, what: str = "returns it") -> Value:
    """Say that what is known comes from another function's text."""

    def step(reason: Reason | None) -> Reason | None:
        return Reason("{code} " + what, given.node, reason, weak=True) if reason is not None else None

    return value.having(why_grad=step(value.why_grad), why_place=step(value.why_place))
