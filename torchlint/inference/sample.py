"""What the project's own callers hand to a function: a sample of what it is called with.

It decides how sure a finding is, and never whether a fix is safe: other projects may call the function too.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from torchlint.inference.interpreter.parameters import is_static
from torchlint.inference.lattice import Device, Grad, Mode, Reason, Value
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.program.module_files import is_of_tests
from torchlint.inference.program.project_view import ProjectView
from torchlint.source import files
from torchlint.source.notebook import SUFFIX
from torchlint.syntax.ast_index import AstIndex, Function

_MOST_CALLS = 20
"""Of a function that is called more often nothing is told."""
_MOST_LOOKS = 60
"""So many calls are looked at for the sake of one file."""
_DEEPEST = 6
"""Callers of callers are asked this far up."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED_AS_OBJECT = frozenset({"forward", "__call__"})
_BY_ATTRIBUTE = rb"\.(?:[\s\\]|#[^\r\n]*[\r\n])*%(word)b\b"
"""A word behind a dot, and what may stand between."""
_BY_IMPORT = (
    rb"\bimport\b(?:[^\r\n;()#\\]|\\\r?\n)*\b%(word)b\b"
    rb"|\bimport[\s\\]*\((?:[^)#]|#[^\r\n]*)*\b%(word)b\b"
    rb"|\b(?:%(stems)b)\b"
)
"""A word among those of an import, or the name of the module that it stands in."""


class Knowledge(Protocol):
    """What is known about one file: see :class:`torchlint.inference.query.Analysis`."""

    index: AstIndex

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None where it lies nowhere."""

    @property
    def other_texts(self) -> ProjectView:
        """What the project's other files say."""

    @property
    def presuming(self) -> Knowledge:
        """What is known if functions are called as most are."""

    @property
    def is_program(self) -> bool:
        """Whether the file is run and not imported."""

    @property
    def reads(self) -> dict[str, str | None]:
        """What the knowledge rests on beside the file itself."""

    @property
    def asked(self) -> dict[tuple[str, ...], str | None]:
        """The questions about all texts of the project, with the answers."""

    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression's value."""

    def mode(self, node: ast.expr) -> Mode:
        """Return the grad modes in which an expression may be evaluated."""

    def names_of(self, node: ast.expr) -> frozenset[str]:
        """Return what a dotted name of a library means."""

    def ancestry(self, node: ast.ClassDef) -> frozenset[tuple[str | None, str]]:
        """Return a class and those of the project that it derives from, each by the path of its file and its name."""

    def classes_of(self, node: ast.expr) -> tuple[frozenset[tuple[str | None, str]], ...]:
        """Return the classes of the project that an object may be of, each with its bases; nothing if others may be."""

    def of_file(self, path: str) -> Knowledge | None:
        """Return what is known about another file; None where it cannot be read."""

    def close(self) -> None:
        """Let go of all that is known."""


class Bringing(IntEnum):
    """What the calls of a function in the project bring of a fault, the strongest last."""

    NOTHING = 0
    """There are calls, and none of them brings it."""
    UNKNOWN = 1
    """A call may bring it; nobody calls the function, or it is handed on: others decide."""
    SOURCE = 2
    """A call brings it."""


@dataclass(frozen=True)
class SampledCall:
    """A call, and what is known about the file in which it stands."""

    analysis: Knowledge
    call: ast.Call
    function: Function
    """The function that is called."""
    is_sure: bool = True
    """Whether it calls this function: of a method of some object another class may have one of the same name."""


@dataclass(frozen=True)
class Brought:
    """What the calls of a function bring by an argument."""

    given: Bringing
    calls: int = 0
    """How many there are."""
    source: SampledCall | None = None
    """The call that brings the fault."""
    is_all: bool = False
    """Whether there are no others: the function is one of a program, which is run and not imported."""


@dataclass(frozen=True)
class _Calls:
    """The calls of a function in the project."""

    sites: tuple[SampledCall, ...] = ()
    handed_on: bool = False
    """Whether it is handed on somewhere, so that others may call it, too."""

    @property
    def deciding(self) -> tuple[SampledCall, ...]:
        """The calls that are surely its own, if there are such: what others may hand over tells nothing beside them."""
        return tuple(each for each in self.sites if each.is_sure) or self.sites


class Sample:
    """The calls of functions, wherever in the project they stand; tests are left out: they make up what they give."""

    def __init__(self, analysis: Knowledge) -> None:
        """Begin with the file that is checked."""
        self._own = analysis
        self._analyses: dict[str, Knowledge | None] = {analysis.path or "": analysis}
        self._calls: dict[ast.AST, _Calls] = {}
        self._without_grad: dict[tuple[ast.AST, int], bool] = {}
        self._left = _MOST_LOOKS

    def brought(self, argument: ast.arg, is_grad: bool) -> Brought:
        """Return what the calls bring of a fault by an argument: of a gradient, or else of an accelerator."""
        given, source = Bringing.NOTHING, None
        waiting, seen = [(self._own, argument, 0)], {argument}
        while waiting:
            analysis, asked, depth = waiting.pop(0)
            calls = self._calls_with(analysis, asked)
            if not calls.sites or depth > _DEEPEST:
                given = max(given, Bringing.UNKNOWN)
                continue
            for site in calls.sites:
                found = self._brought_by(site, asked, is_grad, depth)
                if found is Bringing.SOURCE:
                    given, source = found, source or site
                elif site not in calls.deciding:
                    continue
                elif isinstance(found, Bringing):
                    given = max(given, found)
                elif found not in seen:
                    seen.add(found)
                    waiting.append((site.analysis, found, depth + 1))
        calls = self._calls_with(self._own, argument)
        is_all = self._own.presuming.is_program and not calls.handed_on
        return Brought(given, len(calls.deciding), source, is_all)

    def is_without_grad(self, node: ast.expr) -> bool:
        """Whether a place is reached in grad mode from no call in the project."""
        return self._is_without_grad(self._own, node, 0)

    @property
    def reads(self) -> dict[str, str | None]:
        """What the sample rests on: see :attr:`Knowledge.reads`."""
        found: dict[str, str | None] = {}
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                found |= analysis.reads
        return found

    @property
    def asked(self) -> dict[tuple[str, ...], str | None]:
        """The questions about all texts of the project: see :attr:`Knowledge.asked`."""
        found: dict[tuple[str, ...], str | None] = {}
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                found |= analysis.asked
        return found

    def close(self) -> None:
        """Let go of the other files."""
        for analysis in self._analyses.values():
            if analysis is not None and analysis is not self._own:
                analysis.close()
        self._analyses.clear()
        self._calls.clear()

    # ------------------------------------------------------------------ what is given
    def _calls_with(self, analysis: Knowledge, argument: ast.arg) -> _Calls:
        """Return the calls that may hand something over for an argument; none where that cannot be told."""
        function = analysis.index.parents.get(analysis.index.parents[argument])
        if not isinstance(function, _FUNCTIONS) or argument in (function.args.vararg, function.args.kwarg):
            return _Calls()
        return self._calls_of(analysis, function)

    def _brought_by(self, site: SampledCall, argument: ast.arg, is_grad: bool, depth: int) -> Bringing | ast.arg:
        """Return what one call brings of a fault by an argument, or by which argument of its own it came there."""
        call, presuming = site.call, site.analysis.presuming
        node = _handed(call, site.function, argument)
        if node is None:  # its default, which is no live tensor, or what is unpacked: that is not followed
            return Bringing.UNKNOWN if _unpacks(call) else Bringing.NOTHING
        value = presuming.value(node)
        if not (value.may_require_grad if is_grad else value.may_be_on_accelerator):
            return Bringing.NOTHING
        if is_grad and self._is_without_grad(site.analysis, call, depth):
            return Bringing.NOTHING
        why = value.why_grad if is_grad else value.why_device
        is_live = value.grad == Grad.ATTACHED if is_grad else bool(value.device & Device.ACCELERATOR)
        if is_live and why is not None and not any(step.named for step in why.chain()):
            return Bringing.SOURCE
        start = _start(why)
        is_own = isinstance(start, ast.arg) and start in presuming.index.parents
        return start if is_own and isinstance(start, ast.arg) else Bringing.UNKNOWN

    def _is_without_grad(self, analysis: Knowledge, node: ast.expr, depth: int) -> bool:
        if not analysis.presuming.mode(node) & Mode.ON:
            return True
        function = analysis.index.owner(node)
        if depth >= _DEEPEST or not isinstance(function, _FUNCTIONS):
            return False
        if (function, depth) not in self._without_grad:
            calls = self._calls_of(analysis, function)
            inner = (self._is_without_grad(each.analysis, each.call, depth + 1) for each in calls.sites)
            self._without_grad[function, depth] = bool(calls.sites) and not calls.handed_on and all(inner)
        return self._without_grad[function, depth]

    # ------------------------------------------------------------------ who calls
    def _calls_of(self, analysis: Knowledge, function: Function) -> _Calls:
        """Return the calls of a function in the project; none where they are too many, or cannot be told."""
        if function not in self._calls:
            self._calls[function] = _Calls()  # while they are looked for
            found = self._look(analysis, function)
            self._left -= len(found.sites)
            self._calls[function] = found if self._left >= 0 else _Calls()
        return self._calls[function]

    def _look(self, analysis: Knowledge, function: Function) -> _Calls:
        owner = analysis.index.parents.get(function)
        own_class = owner if isinstance(owner, ast.ClassDef) else None
        if own_class is None and owner is not analysis.index.tree:
            return _Calls()
        word = function.name
        if own_class is not None and (word == "__init__" or word in _CALLED_AS_OBJECT):
            word = own_class.name
        elif word.startswith("__"):
            return _Calls()
        paths = analysis.other_texts.spelling(word)
        if paths is None:
            return _Calls()
        found: list[SampledCall] = []
        handed_on, looked_at = False, 0
        is_method = own_class is not None and word == function.name
        hierarchy = _Hierarchy(analysis, own_class)
        pattern = _BY_ATTRIBUTE if is_method else _BY_IMPORT
        stems = b"|".join(re.escape(each.encode()) for each in sorted(_stems(analysis)))
        call = re.compile(pattern % {b"word": word.encode(), b"stems": stems})
        for other in (analysis, *self._others(analysis, paths, call)):
            calls = list(_calls(other, analysis, function, hierarchy))
            handed_on |= None in calls
            known = [each for each in calls if each is not None]
            looked_at += len(known)
            if looked_at > _MOST_CALLS:
                return _Calls()
            found += [
                SampledCall(other, each, function, not is_method or hierarchy.calls(other, each))
                for each in known
                if not is_method or not hierarchy.is_of_another(other, each)
            ]
        return _Calls(tuple(found), handed_on)

    def _others(self, analysis: Knowledge, paths: list[str], call: re.Pattern[bytes]) -> Iterator[Knowledge]:
        """Yield what is known of other files than the one of a function, tests left out.

        Before a file is parsed, its text is asked whether it may call the function at all.
        """
        for path in paths:
            if path == analysis.path or is_of_tests(path) or not _may_hold(path, call):
                continue
            if path not in self._analyses:
                self._analyses[path] = self._own.of_file(path)
            found = self._analyses[path]
            if found is not None and found.path != analysis.path:
                yield found


def _may_hold(path: str, call: re.Pattern[bytes]) -> bool:
    """Whether a file may hold a call by its text; that of a notebook is spelled as JSON."""
    try:
        return path.endswith(SUFFIX) or call.search(files.read(path)) is not None
    except OSError:
        return True


def _start(reason: Reason | None) -> ast.AST | None:
    """Return where a reason begins."""
    steps = reason.chain() if reason is not None else ()
    return next((step.node for step in steps if step.node is not None), None)


def _handed(call: ast.Call, function: Function, argument: ast.arg) -> ast.expr | None:
    """Return what a call hands over for an argument; None where it leaves it to its default."""
    for keyword in call.keywords:
        if keyword.arg == argument.arg:
            return keyword.value
    positional = [*function.args.posonlyargs, *function.args.args]
    if argument not in positional:
        return None
    at = positional.index(argument)
    is_bound = bool(positional) and positional[0].arg in ("self", "cls") and not is_static(function)
    if is_bound and at == 0:
        return _object_of(call, function)
    at -= is_bound
    if not 0 <= at < len(call.args) or any(isinstance(each, ast.Starred) for each in call.args[: at + 1]):
        return None
    return call.args[at]


def _unpacks(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def _object_of(call: ast.Call, function: Function) -> ast.expr:
    """Return the object whose method a call runs: ``net`` of ``net.size()`` and of ``net(x)``."""
    match call.func:
        case ast.Attribute(value=owner, attr=word) if word == function.name:
            return owner
    return call.func


# ---------------------------------------------------------------------- calls in one file
def _calls(other: Knowledge, home: Knowledge, function: Function, hierarchy: _Hierarchy) -> Iterator[ast.Call | None]:
    """Yield the calls of a function in a file; None where it is handed on, so that others call it."""
    if hierarchy.own_class is None:
        yield from _calls_by_name(other, home, function.name, hands_on=True)
    elif function.name == "__init__":
        yield from _calls_by_name(other, home, hierarchy.own_class.name, hands_on=False)
    elif function.name in _CALLED_AS_OBJECT:
        yield from _calls_of_objects(other, home, hierarchy.own_class.name)
    else:
        yield from _calls_of_method(other, function.name, hierarchy)


def _calls_by_name(other: Knowledge, home: Knowledge, word: str, hands_on: bool) -> Iterator[ast.Call | None]:
    index, parents = other.index, other.index.parents
    names = {word} if other is home else _imported_as(other, home, word)
    read, modules = index.told(_read_by_word, index.tree), _modules(other, home)
    nodes: list[ast.expr] = [
        each for name in sorted(names) for each in read.get(name, []) if isinstance(each, ast.Name)
    ]
    nodes += [
        each
        for each in read.get(word, [])
        if isinstance(each, ast.Attribute) and last_word_of_name(each.value) in modules
    ]
    for node in nodes:
        above = parents.get(node)
        if isinstance(above, ast.Call) and above.func is node:
            yield above
        elif hands_on and not isinstance(above, ast.Attribute):  # `name.word` asks a module of the same name
            yield None


def _read_by_word(index: AstIndex, module: ast.Module) -> dict[str, list[ast.Name | ast.Attribute]]:
    """Return the names and attributes of a file that are read, by word: it is asked for each of its functions."""
    found: dict[str, list[ast.Name | ast.Attribute]] = {}
    names: list[ast.Name | ast.Attribute] = [*index.inside(module, ast.Name), *index.inside(module, ast.Attribute)]
    for each in names:
        if isinstance(each.ctx, ast.Load):
            found.setdefault(each.id if isinstance(each, ast.Name) else each.attr, []).append(each)
    return found


def _imported_as(other: Knowledge, home: Knowledge, word: str) -> set[str]:
    """Return the names that a file gives to what it imports by a name; a star counts."""
    found = set()
    for statement in other.index.nodes(ast.ImportFrom):
        for alias in statement.names:
            if alias.name == word:
                found.add(alias.asname or word)
            elif alias.name == "*" and (statement.module or "").rpartition(".")[2] in _stems(home):
                found.add(word)
    return found


def _modules(other: Knowledge, home: Knowledge) -> set[str]:
    """Return the names that a file gives to the module of another."""
    stems, found = _stems(home), set()
    statements: list[ast.Import | ast.ImportFrom] = [*other.index.nodes(ast.Import), *other.index.nodes(ast.ImportFrom)]
    for statement in statements:
        for alias in statement.names:
            last = alias.name.rpartition(".")[2]
            if last in stems:
                found.add(alias.asname or last)
    return found


def _stems(home: Knowledge) -> set[str]:
    """Return what a module is called by those who import it: its name, and its package's."""
    folder, name = os.path.split(home.path or "")
    return {os.path.splitext(name)[0], os.path.basename(folder)}


def _calls_of_objects(other: Knowledge, home: Knowledge, word: str) -> Iterator[ast.Call | None]:
    """Yield the calls of objects of a class: ``net(x)`` where ``net = Net()``, ``self.net(x)``."""
    made = {id(each) for each in _calls_by_name(other, home, word, hands_on=False)}
    if not made:
        return
    names = set()
    for assignment in other.index.nodes(ast.Assign):
        if any(id(each) in made for each in other.index.within(assignment.value)):
            names |= {last_word_of_name(each) for each in assignment.targets}
    for call in other.index.nodes(ast.Call):
        if last_word_of_name(call.func) in names - {""}:
            yield call


def _calls_of_method(other: Knowledge, word: str, hierarchy: _Hierarchy) -> Iterator[ast.Call | None]:
    index = other.index
    for node in index.nodes(ast.Attribute):
        if node.attr != word or not isinstance(node.ctx, ast.Load) or hierarchy.excludes(other, node):
            continue
        above = index.parents.get(node)
        yield above if isinstance(above, ast.Call) and above.func is node else None


@dataclass(frozen=True)
class _Hierarchy:
    """The class of a method, its bases and what derives from it; None for a function that is called by its name."""

    home: Knowledge
    own_class: ast.ClassDef | None

    def calls(self, other: Knowledge, call: ast.Call) -> bool:
        """Whether a call is surely one of the method itself: one of ``self`` in a class of its line."""
        around = _class_of_self(call.func.value, other) if isinstance(call.func, ast.Attribute) else None
        return around is not None and (self._is_above(other, around) or self._is_below(other, around))

    def is_of_another(self, other: Knowledge, call: ast.Call) -> bool:
        """Whether the object whose method is called is of another class, ``self`` left aside."""
        if self.own_class is None or not isinstance(call.func, ast.Attribute):
            return False
        if _class_of_self(call.func.value, other) is not None:
            return False
        own, mine = (self.home.path, self.own_class.name), self.home.ancestry(self.own_class)
        lines = other.presuming.classes_of(call.func.value)
        return bool(lines) and not any(own in each or each <= mine for each in lines)

    def excludes(self, other: Knowledge, method: ast.Attribute) -> bool:
        """Whether a method is one of another class: of ``self`` where its class has its own, of a library's module.

        What an object keeps under the name is its own, too: a part that is called as a method is.
        """
        around = _class_of_self(method.value, other)
        if around is not None and not self._is_above(other, around):
            return any(isinstance(each, _FUNCTIONS) and each.name == method.attr for each in around.body) or any(
                each.attr == method.attr
                and isinstance(each.ctx, ast.Store)
                and _class_of_self(each.value, other) is around
                for each in other.index.within(around)
                if isinstance(each, ast.Attribute)
            )
        names = other.names_of(method.value)
        return bool(names) and not any(name.startswith("here.") for name in names)

    def _is_above(self, other: Knowledge, around: ast.ClassDef) -> bool:
        """Whether a class is the method's, or a base of it."""
        return self.own_class is not None and (other.path, around.name) in self.home.ancestry(self.own_class)

    def _is_below(self, other: Knowledge, around: ast.ClassDef) -> bool:
        return self.own_class is not None and (self.home.path, self.own_class.name) in other.ancestry(around)


def _class_of_self(node: ast.expr, other: Knowledge) -> ast.ClassDef | None:
    """Return the class whose object an expression is, by being called ``self``; None for others."""
    if isinstance(node, ast.Name) and node.id in ("self", "cls"):
        return next((each for each in other.index.ancestors(node) if isinstance(each, ast.ClassDef)), None)
    return None
