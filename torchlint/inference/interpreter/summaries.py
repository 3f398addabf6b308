"""What a function of the project returns for given arguments: its body walked once for each sort of arguments."""

from __future__ import annotations

import ast
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, UNKNOWN, Grad, Kind, Mode, Reason, Value, of_kind
from torchlint.inference.interpreter.call_reasons import Origins, origins, through, told_anew
from torchlint.inference.interpreter.class_texts import CONSTRUCTOR
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.project import MOST_DEPTH, Effort
from torchlint.inference.interpreter.shared_memory import linked_roots
from torchlint.inference.interpreter.statements import Flow
from torchlint.inference.lattice import join, join_all, made_under
from torchlint.inference.models import nn
from torchlint.inference.models.call_arguments import Arguments, SetsAttribute
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.grad_mode import TURNING_OFF
from torchlint.inference.models.tables import words
from torchlint.inference.program.bindings import (
    binder,
    bound,
    lines_of,
    loaded,
    local,
    may_change,
    own,
    shared,
    written,
)
from torchlint.inference.program.definite_attributes import definitely_set
from torchlint.inference.program.grad_requests import changes_requires_grad
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function
from torchlint.syntax.signatures import (
    arguments_of,
    has_stars,
    parameters,
    positional_parameters,
    written_argument,
    written_arguments,
    written_receiver,
)

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_PLAIN_DECORATORS = words("staticmethod classmethod abstractmethod overload override cache") | TURNING_OFF
"""Decorators under which a call gives what the function returns."""

_SCOPES_OF_EXPRESSIONS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_Changes = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, eq=False)
class _Summary:
    """What a call gives, and what it does to its arguments and to the names around the function."""

    value: Value
    changes: _Changes = ()
    shared: _Changes = ()
    attributes: dict[str, Value] = field(default_factory=dict)
    """What it sets attributes of ``self`` to."""
    asked: tuple[tuple[str, Grad], ...] = ()
    """What it asked of the parameters of its arguments and of names around it."""
    effort: Effort = field(default_factory=Effort)
    call: _Call | None = None
    """The call that it was found for: reasons begin at its arguments."""

    def as_value(self) -> Value:
        """Return all of it as one value."""
        return of_kind(Kind.SEQUENCE, items=(self.value, of_kind(Kind.SEQUENCE, keys=self.shared)), keys=self.changes)

    def origins(self, call: _Call) -> Origins:
        """Return the reasons of a call's arguments by those that the call had which this was found for."""
        return origins((self.call.given, self.call.receiver), (call.given, call.receiver)) if self.call else {}

    @staticmethod
    def out_of(value: Value) -> _Summary:
        """Return it again."""
        return _Summary(value.items[0], value.keys, value.items[1].keys) if value.items else _Summary(UNKNOWN)


@dataclass(frozen=True, eq=False)
class _Call:
    """One call of a function; its first ``under`` decorators are left out, ``around`` numbers its surroundings."""

    function: Function
    given: Arguments
    receiver: Value | None
    mode: Mode
    under: int = 0
    around: int | None = None

    def key(self) -> tuple[object, ...]:
        """Return what the result depends on."""
        return (
            self.function,
            self.mode,
            self.under,
            self.around,
            _fingerprint(self.receiver),
            tuple(map(_fingerprint, self.given.positional)),
            self.given.starred,
            tuple((word, _fingerprint(value)) for word, value in sorted(self.given.keywords.items())),
        )


class Summaries:
    """The results of one file's functions, by what they are given."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[tuple[object, ...], _Summary] = {}
        self._cut: dict[tuple[object, ...], _Summary] = {}
        """The results that rest on where the budget ended, by how deep the call was too."""
        self._under_way: set[tuple[object, ...]] = set()
        """The calls that are being walked at this moment."""
        self._modes: dict[tuple[Function, Mode], dict[ast.expr, Mode]] = {}

    def of(
        self, function: Function, given: Arguments, receiver: Value | None, mode: Mode, place: tuple[int, int | None]
    ) -> Value:
        """Return what a function returns for some arguments.

        ``place`` says how many of its decorators are left out, and which of its surroundings are meant.
        """
        call = _Call(function, given, receiver, mode, *place)
        if receiver is None and given.positional and self._file.takes_object(function):
            call = replace(call, receiver=given.positional[0], given=given.shifted())  # `Class.method(object, ...)`
        if given.dropped and self._changes_nothing(call):
            return UNKNOWN
        found = self._summary(call)
        told = found.origins(call)
        if found.attributes and (target := self._owner_of(function, given.node, receiver is not None)) is not None:
            for word, value in found.attributes.items():
                setting = self._setting(function, word)
                given.attributes.append((target, word, through(value, given.node, told, "sets it"), setting))
        for path, value in found.changes if not has_stars(given.node) else ():
            word, _, attribute = path.partition(".")
            target = written_argument(given.node, function, word, receiver is not None)
            if target is not None and attribute:
                target = ast.copy_location(ast.Attribute(target, attribute, ast.Load()), given.node)
            if target is not None:
                given.changes.append((target, through(value, given.node, told, "changes it")))
        for path, grad in found.asked:
            given.asked.extend((target, grad) for target in self._meant(function, given, path, receiver is not None))
        if found.asked and given.starred and isinstance(given.node, ast.Call):
            given.asked.extend((each, nn.MAYBE_FROZEN) for each in given.node.args)
        if given.node in self._file.index.parents:
            given.shared.extend(
                (function, word, through(value, given.node, told, "changes it")) for word, value in found.shared
            )
        return through(found.value, given.node, told)

    def _meant(self, function: Function, given: Arguments, path: str, bound: bool) -> list[ast.expr]:
        """Return the expressions of a call for what a path is in the function that it calls."""
        word, _, attribute = path.partition(".")
        file = self._file
        if word in parameters(function):
            found = written_arguments(given.node, function, word, bound, bound and word == file.self_name(function))
        elif given.node in file.index.parents and file.shares(given.node, function, word):
            found = [ast.copy_location(ast.Name(word, ast.Load()), given.node)]
        else:
            return []
        if not attribute:
            return found
        return [ast.copy_location(ast.Attribute(each, attribute, ast.Load()), each) for each in found]

    def _setting(self, function: Function, word: str) -> SetsAttribute:
        """Return whether a method sets an attribute whenever it is called."""
        if function.name == CONSTRUCTOR:
            return SetsAttribute.FIRST
        plain = {last_word_of_name(each) for each in function.decorator_list} <= _PLAIN_DECORATORS
        around = self._file.classes.around(function)
        is_property = around is not None and around.method(word) is not None
        is_certain = plain and not is_property and word in self._file.index.told(definitely_set, function)
        return SetsAttribute.ALWAYS if is_certain else SetsAttribute.PERHAPS

    def _owner_of(self, function: Function, node: ast.AST, bound: bool) -> ast.expr | None:
        """Return the expression for the object whose attributes a call sets; None where it is not written out."""
        file = self._file
        if file.self_name(function) is not None:
            return written_receiver(node, bound)
        word = file.object_name(function)
        if word is None or node not in file.index.parents or not file.shares(node, function, word):
            return None
        return ast.copy_location(ast.Name(word, ast.Load()), node)

    def attributes(self, start: Function, given: Arguments, made: Value) -> dict[str, Value]:
        """Return what a constructor sets the attributes of ``self`` to for some arguments."""
        call = _Call(start, given, made, Mode.ON)
        found = self._summary(call)
        told = found.origins(call)
        return {word: told_anew(value, told) for word, value in found.attributes.items()}

    def _summary(self, call: _Call) -> _Summary:
        """Return what is known of a call: found before, walked now, or guessed where it is being walked."""
        key, project = call.key(), self._file.project
        if key in self._under_way:
            return _Summary.out_of(project.rounds.guess(key, _Summary(NOTHING).as_value()))
        if (known := self._found(key)) is not None:
            return known
        if project.depth >= MOST_DEPTH:
            project.effort.shallow = True
            return self._not_followed(call)
        if (project.abroad or project.is_own(self._file)) and not project.affords(self._file):
            return self._not_followed(call)
        foreign = project.foreign

        def walk() -> _Summary:
            project.foreign = dict(foreign)
            return self._walked(key, call)

        return project.rounds.settle(walk)

    def _found(self, key: tuple[object, ...]) -> _Summary | None:
        """Return a result that is there already and would be found here too."""
        project = self._file.project
        if key in self._known and project.may_use(self._known[key].effort):
            project.rounds.used(self._known, key)
            return self._known[key]
        at = (*key, project.depth, project.abroad)
        if at in self._cut and not (project.abroad and self._cut[at].effort.short):
            project.rounds.used(self._cut, at)
            project.effort.take(self._cut[at].effort, again=project.abroad)
            return self._cut[at]
        return None

    def _not_followed(self, call: _Call) -> _Summary:
        """Return what is known of a call that is not followed."""
        attributes = dict.fromkeys(self._file.classes.constructed_by(call.function), UNKNOWN)
        said = self._said(call.function)
        why = Reason("{code} is not followed further", call.given.node, weak=True)
        said = said.having(why_grad=said.why_grad or why, why_device=said.why_device or why)
        asking = self._file.index.told(changes_requires_grad, call.function)
        asked = tuple((word, nn.MAYBE_FROZEN) for word in sorted(parameters(call.function))) if asking else ()
        return _Summary(made_under(call.mode, said, self._file.project.presuming), attributes=attributes, asked=asked)

    def _changes_nothing(self, call: _Call) -> bool:
        """Whether a call from another file leaves all that it is given as it is, by the function's text."""
        function, given, index = call.function, call.given, self._file.index
        if given.node in index.parents or function.name == CONSTRUCTOR or index.told(definitely_set, function):
            return False
        if index.told(changes_requires_grad, function):
            return False
        changed = index.told(may_change, function) | index.told(linked_roots, function)
        words = [each.arg for each in positional_parameters(function)][call.receiver is not None :]
        mine = dict(zip(words, given.positional, strict=False)) | given.keywords
        others = given.positional[len(words) :]
        if given.starred or not all(map(_is_immutable, others)):
            return False
        return all(word not in changed or _is_immutable(value) for word, value in mine.items())

    def _said(self, function: Function) -> Value:
        """Return what a function's annotation says that it returns: there is no budget left to walk it."""
        plain = {last_word_of_name(each) for each in function.decorator_list} <= _PLAIN_DECORATORS
        said = self._file.toplevel.annotated(function.returns) if plain and function.returns is not None else None
        return said or UNKNOWN

    def forget(self) -> None:
        """Forget all results: what they rest on has changed."""
        self._known.clear()
        self._cut.clear()
        self._modes.clear()

    def modes(self, function: Function, mode: Mode) -> dict[ast.expr, Mode]:
        """Return the grad modes at the expressions of a function that is called in some mode."""
        file, project = self._file, self._file.project
        if function in project.running:
            return {}
        if (function, mode) not in self._modes:
            flow = Flow(
                file, function.body, lambda flow: file.start(function, flow, None, None, mode), file.self_name(function)
            )
            with closing(flow), project.general(file, function):
                self._modes[function, mode] = flow.run().modes
            project.rounds.keep(self._modes, (function, mode))
        project.rounds.used(self._modes, (function, mode))
        return self._modes[function, mode]

    def _walked(self, key: tuple[object, ...], call: _Call) -> _Summary:
        """Walk a function for a call, its decorators included, and keep what was found for as long as it holds."""
        project = self._file.project
        self._under_way.add(key)
        try:
            with project.following(self._file) as effort:
                found = self._own(key, call)
                at = self._file.wrappers.outermost(call.function, call.under)
                if at is not None:
                    found = replace(found, value=self._wrapped(call, at))
        finally:
            self._under_way.discard(key)
        found = replace(found, effort=effort, call=call)
        if not effort.is_cut:
            self._known[key] = found
            project.rounds.keep(self._known, key)
        elif not (project.abroad and effort.short):
            at_depth = (*key, project.depth, project.abroad)
            self._cut[at_depth] = found
            project.rounds.keep(self._cut, at_depth)
        project.rounds.found(key, found.as_value())
        return found

    def _own(self, key: tuple[object, ...], call: _Call) -> _Summary:
        """Walk a function's own body."""
        file, function = self._file, call.function
        around = file.closures.of(function, call.around)
        flow = Flow(
            file,
            function.body,
            lambda flow: file.start(function, flow, call.given, call.receiver, call.mode, around, call.under),
            file.object_name(function),
        )
        flow.reports = False
        file.project.spend(file, lines_of(function), key)
        with closing(flow):
            with file.project.call(function):
                flow.run()
            file.closures.finished(function, flow)
            file.take_in(function, flow.attributes)
            attributes = dict(flow.attributes)
            for word, value in flow.set_by_methods.items():
                attributes[word] = join(attributes.get(word, NOTHING), value)
            result, changes = self._returned(function, flow, call.mode), _changed(function, flow)
            return _Summary(result, *changes, attributes, _asked(function, flow))

    def _returned(self, function: Function, flow: Flow, mode: Mode) -> Value:
        """Return what a walked function gives: by its returns where they tell it, else by its annotation."""
        file = self._file
        if flow.yielded:
            return of_kind(Kind.SEQUENCE, member=join_all(flow.yielded))
        if not flow.returns and not _is_abstract(function):
            return of_kind(Kind.NONE)
        if flow.returned.kind and not flow.returned.unknown:
            return flow.returned
        said = file.annotated(function.returns, flow.env, flow)
        if said is not None:
            return made_under(mode, said, file.project.presuming)
        return flow.returned if flow.returned.kind or flow.returns else made_under(mode, UNKNOWN)

    def of_lambda(self, node: ast.Lambda, given: Arguments, mode: Mode) -> Value:
        """Return what a lambda of this file gives where another one calls it; of what is around it nothing is known."""
        file, project = self._file, self._file.project
        if any(isinstance(above, _SCOPES_OF_EXPRESSIONS) for above in file.index.ancestors(node)):
            return UNKNOWN
        if project.depth >= MOST_DEPTH:
            project.effort.shallow = True
            return UNKNOWN
        env, owner = Env(mode=mode), file.owner(node)
        for word in file.index.told(loaded, node):
            if binder(file.index, owner, word) is not None:
                env.assign(word, UNKNOWN)
        flow = Flow(file, [], lambda _: env, None)
        flow.reports = False
        with closing(flow), project.following(file), project.call(node):
            return through(flow.calls.call_lambda(node, given, env), given.node, {})

    # ------------------------------------------------------------------ decorators
    def _wrapped(self, call: _Call, at: int) -> Value:
        """Return what a function returns through the decorator of the project at some place of its list."""
        file, given = self._file, call.given
        if call.receiver is not None:
            positional = (call.receiver, *given.positional)
            given = Arguments(given.node, positional, given.keywords, given.starred, given.spread)
        decorator, bare = file.wrappers.decorator(call.function, at), file.bare(call.function, at + 1, call.around)
        mode = file.wrappers.mode_above(call.function, range(call.under, at), call.mode)
        results = []
        for name in sorted(decorator.names):
            home, node = file.project.definitions.get(name, (file, None))
            if not isinstance(node, ast.FunctionDef):
                return made_under(mode, UNKNOWN)
            made = home.call(name, decorator, Arguments(given.node, (bare,)), Mode.ON) or UNKNOWN
            results.append(home.summaries.through(made, node, bare, given, mode))
        return join_all(results) if results else made_under(mode, UNKNOWN)

    def through(self, made: Value, decorator: Function, bare: Value, given: Arguments, mode: Mode) -> Value:
        """Return the result of calling what a decorator of this file made of a function, which is known as ``bare``."""
        file, results = self._file, []
        for name in sorted(made.names) if made.must(Kind.OTHER) else ():
            if name in bare.names:
                results.append(file.call(name, bare, given, mode) or UNKNOWN)
                continue
            home, inner = file.project.definitions.get(name, (file, None))
            if not isinstance(inner, FUNCTIONS) or home.owner(inner) is not decorator:
                return made_under(mode, UNKNOWN)
            results.append(self._around(inner, file.closures.of(inner, place_of(name)[1]), given, mode))
        return join_all(results) if results else made_under(mode, UNKNOWN)

    def _around(self, inner: Function, around: dict[str, Value], given: Arguments, mode: Mode) -> Value:
        """Walk the function that a decorator puts in the place of another."""
        file = self._file
        flow = Flow(file, inner.body, lambda flow: file.start(inner, flow, given, None, mode, around), None)
        flow.reports = False
        with closing(flow):
            with file.project.call(inner, deeper=False):
                flow.run()
            return self._returned(inner, flow, mode)


def place_of(name: str) -> tuple[int, int | None]:
    """Return how many decorators a function's name leaves out, and which of its surroundings are meant."""
    marks, _, under = name.rpartition("@")[2].partition("#")  # a file's own name may hold any of these signs
    around = marks.partition("~")[2]
    return int(under or 0), int(around) if around else None


def _changed(function: Function, flow: Flow) -> tuple[_Changes, _Changes]:
    """Return what a walk changed in place: of the arguments, and of names from around the function."""
    index = flow.file.index
    outer = index.told(shared, index.tree).get(function, frozenset())
    if not flow.changes and not outer:
        return (), ()
    rebound = index.told(_bound_before, function)
    arguments = parameters(function) - rebound
    mine = {path: value for path, value in flow.changes.items() if path.partition(".")[0] in arguments}
    free = {path: value for path, value in flow.changes.items() if path not in index.told(local, function)}
    for each in own(index, function, ast.Name) if outer else ():
        if isinstance(each.ctx, ast.Store) and each.id in outer:
            free[each.id] = join(free.get(each.id, NOTHING), flow.values.get(each, UNKNOWN))
    return (
        tuple(sorted(((path, value) for path, value in mine.items() if _is_near(path)), key=lambda each: each[0])),
        tuple(sorted(((path, value) for path, value in free.items() if path.isidentifier()), key=lambda each: each[0])),
    )


def _asked(function: Function, flow: Flow) -> tuple[tuple[str, Grad], ...]:
    """Return what a walk asked of the parameters of arguments, and of names from around the function."""
    found = []
    for path, grad in flow.freezing.left().items():
        word = path.partition(".")[0]
        if not _is_near(path) or (word in flow.file.index.told(local, function) - parameters(function)):
            continue
        is_exact = not flow.yielded and word not in flow.file.index.told(bound, function)
        found.append((path, grad if is_exact else nn.MAYBE_FROZEN))
    return tuple(found)


_IMMUTABLE = Kind.STRING | Kind.SCALAR | Kind.INTEGER | Kind.NONE | Kind.DEVICE | Kind.DTYPE | Kind.SIZE


def _is_immutable(value: Value) -> bool:
    return value.must(_IMMUTABLE)


def _is_near(path: str) -> bool:
    return path.count(".") <= 1 and "[" not in path


def _bound_before(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the names that a function rebinds before it changes anything by that name."""
    first: dict[str, int] = {}
    for statement in function.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.With):
            for each in index.inside(statement, ast.Name):
                if isinstance(each.ctx, ast.Store):
                    first.setdefault(each.id, statement.lineno)
    handed = (each for call in index.inside(function, ast.Call) for each in arguments_of(call))
    used = (*index.told(written, function), *(each for each in handed if isinstance(each, ast.Name)))
    changed = {each.id for each in used if each.lineno < first.get(each.id, 0)}
    return frozenset(first.keys() - changed)


def _is_abstract(function: Function) -> bool:
    """Whether a body only raises or passes: subclasses say what it returns."""
    last = function.body[-1]
    return isinstance(last, ast.Raise | ast.Pass) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)
    )


def _fingerprint(value: Value | None, depth: int = 6) -> object:
    """Return all that is known of an argument as one key; what is nested too deeply is like itself alone."""
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
