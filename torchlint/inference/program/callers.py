"""What callers do: who may expect an error or a warning of a function, at first or second hand."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from torchlint.inference.program.handed_objects import (
    GIVING,
    built_by,
    imported_by,
    is_run,
    kept_by,
    made_by,
    names_given,
    names_of_objects,
)
from torchlint.inference.program.name_sources import bound, set_elsewhere, sources_of, stem
from torchlint.inference.program.signals import Signal, doctest_words, may_leave_early
from torchlint.inference.program.spelled_calls import last_word
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function
from torchlint.syntax.places import word_of

_KEEPING = frozenset(
    "submit run_in_executor apply_async map_async starmap_async Thread Timer Process start_new_thread finalize "
    "call_later call_soon call_soon_threadsafe call_at add_done_callback".split()
)
"""What runs a function that it is handed and does not raise its error: a future keeps it, a thread only prints it."""
_KEEPING_TASKS = frozenset({"create_task", "ensure_future", "run_coroutine_threadsafe"})
"""What keeps the error of a coroutine, as ``gather`` does if it is told so."""
_STACKS = frozenset({"ExitStack", "AsyncExitStack"})
_PUSHING = frozenset({"push", "push_async_exit"})
_ENTERING = frozenset({"enter_context", "enter_async_context"})
_IMPLICIT = re.compile(r"__\w+__|forward")
"""Methods that are called without being named: then what names the class is asked."""
_MAKING = ("__init__", "__new__")
_MOST = 60
"""So many functions on the way to a caller are followed."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A function by the name that callers know it by, and what its decorators are called."""

    name: str
    is_method: bool
    decorators: frozenset[str] = frozenset()
    is_async: bool = False

    @property
    def word(self) -> str:
        """The word that a text with a use of it holds: ``Net()`` stands for an object of a class."""
        return self.name.removesuffix("()")


@dataclass(frozen=True, slots=True, eq=False)
class CallSite:
    """A place where a function is called, or handed on to be called."""

    is_caught: bool
    """Whether a handler or a test stands around it in the same function."""
    runners: frozenset[str]
    """What else may take an error of it, by name: context managers around it, and what it is handed to."""
    around: tuple[Callee, ...]
    """The functions that it stands in, innermost first."""
    is_attribute: bool
    of_module: bool
    """Whether it is an attribute of something that an import binds."""


@dataclass(frozen=True)
class CallIndex:
    """What one text says of calls and of handlers."""

    uses: dict[str, dict[CallSite, None]] = field(default_factory=lambda: defaultdict(dict))
    """The places of each name, in order, those that say the same once."""
    aliases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Other names that the text gives to a function."""
    taking: set[str] = field(default_factory=set)
    """Functions with a handler in them, and classes that end a ``with`` block without the error."""
    failing: set[str] = field(default_factory=set)
    """Words of examples in strings of which the string says that they end with an error."""
    keeps_tasks: bool = False
    """Whether errors of coroutines may be kept: ``gather(..., return_exceptions=True)``."""
    keeping: dict[str, set[str]] = field(default_factory=dict)
    """Where functions put what they are given, as a decorator does that fills a registry."""
    sources: dict[str, str] = field(default_factory=dict)
    """Where functions and classes are from that a name means: see :mod:`~torchlint.inference.program.name_sources`."""
    sets: frozenset[str] = frozenset()
    """Names that the text may rebind in another module: ``runs.main = other``."""
    expects_all: bool = False
    """Whether the whole text is expected to fail: ``pytestmark = pytest.mark.xfail``."""

    def names_of(self, callee: Callee) -> set[str]:
        """Return the names by which the text knows a function; of an object those of its class, too."""
        found = {callee.name, *self.aliases.get(callee.name, ())}
        if callee.name != callee.word:
            others = self.aliases.get(callee.word, set())
            found |= {callee.word, *others, *(f"{each}()" for each in others)}
        return found


class _EveryName:
    """Holds all names."""

    def __contains__(self, name: object) -> bool:
        return True


EVERY_NAME: Final[Container[str]] = _EveryName()


def call_index(index: AstIndex, signal: Signal, asked: Container[str] = EVERY_NAME) -> CallIndex:
    """Return what a text says of calls, and of who expects a signal of them.

    :param asked: the names of the functions and classes that are asked about: most names in a text are of variables
    """
    expects_all = any(map(signal.marks_all, index.tree.body))
    names = sources_of(index), set_elsewhere(index)
    found = CallIndex(keeps_tasks=_keeps_tasks(index), sources=names[0], sets=names[1], expects_all=expects_all)
    around = _Around(index, signal)
    modules = {name for each in index.imports for name in bound(each)}
    objects = names_of_objects(index)
    _note_aliases(found, index, objects, asked)
    others = {name for names in found.aliases.values() for name in names}
    named = {each for names in objects.values() for each in names if each in asked or f"{each}()" in others}
    for each in index.nodes(ast.Name):
        if isinstance(each.ctx, ast.Load) and (each.id in asked or each.id in others):
            found.uses[each.id][around.use(each)] = None
    for attribute in index.nodes(ast.Attribute):
        word = attribute.attr
        if isinstance(attribute.ctx, ast.Load) and (word in asked or word in others):
            of_module = isinstance(attribute.value, ast.Name) and attribute.value.id in modules
            found.uses[word][around.use(attribute, True, of_module)] = None
    for text in index.nodes(ast.Constant):
        if isinstance(text.value, str) and text.value.isidentifier():
            if text.value in asked or text.value in others:
                found.uses[text.value][around.use(text, True, True)] = None
        elif isinstance(text.value, str) and ">>>" in text.value:
            found.failing.update(doctest_words(text.value))
    for statement in index.imports:
        for module in imported_by(statement):
            if module in asked:
                found.uses[module][around.use(statement)] = None
    _note_objects(found, index, around, named, asked)
    for function in index.functions:
        if any(signal.is_taken_in(each) for each in index.inside(function, ast.Try, ast.With, ast.AsyncWith)):
            found.taking.add(function.name)
    for kind in index.nodes(ast.ClassDef):
        if signal.is_taken_by(kind):
            found.taking.add(kind.name)
    found.keeping.update(kept_by(index))
    return found


def _note_aliases(found: CallIndex, index: AstIndex, objects: dict[str, set[str]], asked: Container[str]) -> None:
    """Note the names that a text gives to functions, to classes and to what it makes of them."""
    nodes: list[ast.Name | ast.Attribute] = [*index.nodes(ast.Name), *index.nodes(ast.Attribute)]
    for each in nodes:
        word = word_of(each)
        if isinstance(each.ctx, ast.Load) and word in asked:
            _note_names(found, word, each, index)
    for kind, names in objects.items():
        if kind in asked:
            found.aliases[f"{kind}()"].update(f"{each}()" for each in names)
    for statement in index.nodes(ast.ImportFrom):
        for name in statement.names:
            if name.asname and name.name in asked:
                found.aliases[name.name].add(name.asname)


def _note_objects(found: CallIndex, index: AstIndex, around: _Around, named: set[str], asked: Container[str]) -> None:
    """Note where objects are made and handed on, or are called by a name that the text gives them."""
    nodes: list[ast.Name | ast.Attribute] = [*index.nodes(ast.Name), *index.nodes(ast.Attribute)]
    for each in nodes:
        word = word_of(each)
        if word in asked and (made := made_by(each, index)) is not None:
            found.uses[f"{word}()"][around.use(made)] = None
        elif word in named and isinstance(each.ctx, ast.Load) and is_run(each, index):
            found.uses[f"{word}()"][around.use(each)] = None
        if word in _MAKING:
            for kind in built_by(each, index):
                found.uses[kind][around.use(each)] = None


def who_expects(
    place: ast.AST,
    signal: Signal,
    index: AstIndex,
    known: CallIndex,
    elsewhere: Callable[[Callee, Signal], str | None],
) -> str | None:
    """Return the clause that says who may expect a signal of a place; None where nobody does.

    :param known: what the place's own text says
    :param elsewhere: asks the other texts who may expect a signal of a function
    """
    found = _Around(index, signal).use(place)
    if found.is_caught:
        return f"the code around may expect the {signal.name}"
    if known.expects_all:
        return f"the tests of this file may expect the {signal.name}"
    start = [callee_of(each, index) for each in index.ancestors(place) if isinstance(each, Function)]
    module = stem(index.source.path)
    is_imported = not start and module.isprintable()  # what runs is the module; some names no text can spell
    imported = (Callee(module, False),) if is_imported else ()
    start = [Callee("", False, found.runners), *start] if found.runners else start
    said = is_expected(start, signal, Texts(lambda _: [("", known)], lambda _: [known]))
    asked = (*start, *imported)
    return said or next((said for each in asked if (said := elsewhere(each, signal)) is not None), None)


@dataclass(frozen=True)
class Texts:
    """Where to look for callers."""

    holding: Callable[[str], Iterable[tuple[str, CallIndex]]]
    """Gives the texts that hold a word, each with the name that a user knows it by."""
    defining: Callable[[str], Iterable[CallIndex]]
    """Gives those that define a function or class of a name."""


def is_expected(start: Iterable[Callee], signal: Signal, texts: Texts, is_own: str = "") -> str | None:
    """Return the clause that says who may expect a signal of some functions; None where nobody does.

    :param is_own: the name of the text that the functions stand in
    """
    waiting: list[tuple[Callee, str | None]] = [(each, is_own) for each in start]
    seen: set[tuple[str, bool, str | None]] = set()
    while waiting:
        callee, home = waiting.pop(0)
        key = callee.name, callee.is_method, None if callee.is_method else home
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > _MOST:
            return "it has more callers than are followed"
        if any(_takes(each, signal, texts) for each in callee.decorators):
            if not callee.name:
                return f"the code around may expect the {signal.name}"
            return f"the decorator of `{callee.word}` may take the {signal.name}"
        for decorator in callee.decorators:
            keeping = {place for text in texts.defining(decorator) for place in text.keeping.get(decorator, ())}
            waiting += [(Callee(place, is_method), None) for place in sorted(keeping) for is_method in (False, True)]
        holding = list(texts.holding(callee.word)) if callee.name else []
        elsewhere = _other_sources(callee, home, holding)
        for shown, text in holding:
            names = text.names_of(callee)
            foreign = {*elsewhere, ""} if elsewhere is not None and home != shown else elsewhere or set()
            others = {each for each in names if text.sources.get(each.removesuffix("()")) in foreign}
            uses = [
                each
                for name in sorted(names)
                for each in text.uses.get(name, ())
                if _fits(each, callee, name) and (each.is_attribute or name not in others)
            ]
            file = "this file" if shown == is_own else f"`{shown}`"
            if (said := _expects(text, file, callee, uses, signal, texts)) is not None:
                return said
            waiting += [(each, shown) for use in uses for each in use.around]
            aliases = [name for name in names - {callee.name} - others if not name.endswith("()")]
            waiting += [
                (Callee(name, callee.is_method, is_async=callee.is_async), home if name == callee.word else shown)
                for name in aliases
            ]
    return None


def _other_sources(callee: Callee, home: str | None, holding: Sequence[tuple[str, CallIndex]]) -> set[str] | None:
    """Return the modules that have a function of a callee's name which is not the callee; None where none is surely."""
    if home is None or callee.is_method or any(callee.word in text.sets for _, text in holding):
        return None
    return {stem(shown) for shown, text in holding if text.sources.get(callee.word) == ""} - {stem(home)}


def _expects(
    text: CallIndex, file: str, callee: Callee, uses: list[CallSite], signal: Signal, texts: Texts
) -> str | None:
    """Return the clause that says who in a text may expect a signal of a function that it uses; None for nobody."""
    if uses and text.expects_all:
        return f"the tests of {file} may expect the {signal.name}"
    if signal.is_error and callee.name in text.failing:
        return f"an example in {file} expects an error"
    if signal.is_error and uses and callee.is_async and text.keeps_tasks:
        return f"a task in {file} may keep the error of `{callee.name}`"
    if any(use.is_caught or any(_takes(each, signal, texts) for each in use.runners) for use in uses):
        return f"a caller of `{callee.word}` in {file} may expect the {signal.name}"
    return None


def _fits(use: CallSite, callee: Callee, name: str) -> bool:
    """Whether a use may be one of a function: methods are attributes, functions names or attributes of a module."""
    if name.endswith("()"):
        return True
    return use.is_attribute if callee.is_method else not use.is_attribute or use.of_module


def _takes(name: str, signal: Signal, texts: Texts) -> bool:
    """Whether what runs a function, by its name, may take a signal of it."""
    if signal.is_error and name in _KEEPING:
        return True
    return bool(signal.words.search(name)) or any(name in each.taking for each in texts.defining(name))


@dataclass(frozen=True, slots=True, eq=False)
class _Surroundings:
    """What stands around nodes that nothing but plain code parts."""

    is_caught: bool = False
    """Whether a signal is taken on its way out, in the same function."""
    of_value: frozenset[str] = frozenset()
    """Who runs a value that is handed on, by name: contexts around it, and what it is handed to."""
    of_others: frozenset[str] = frozenset()
    """Who runs what is no such value: contexts around it."""
    around: tuple[Callee, ...] = ()
    """Lambdas and functions around, innermost first."""
    uses: dict[tuple[bool, bool, bool], CallSite] = field(default_factory=dict)
    """The call sites that are made of them."""

    def caught(self) -> _Surroundings:
        return _Surroundings(is_caught=True, around=self.around)

    def among(self, of_value: frozenset[str], of_others: frozenset[str]) -> _Surroundings:
        return _Surroundings(self.is_caught, of_value, of_others, self.around)


_HOLDING = (ast.Call, ast.Lambda, ast.keyword, ast.Starred, ast.List, ast.Tuple, ast.Dict)
"""What hands on a value that stands in it."""
_PARTING = {*_HOLDING, *FUNCTIONS, ast.With, ast.AsyncWith, ast.Try}
"""Nodes around of which something depends."""


class _Around:
    """What stands around the nodes of one text, found once for all nodes that the same stands around."""

    def __init__(self, index: AstIndex, signal: Signal) -> None:
        self._index = index
        self._signal = signal
        self._known: dict[ast.AST, _Surroundings] = {index.tree: _Surroundings()}
        self._inner: dict[ast.AST, _Surroundings] = {}
        """What stands around all that is in a function, in the arguments of a call, and so on."""

    def use(self, node: ast.AST, is_attribute: bool = False, of_module: bool = False) -> CallSite:
        found, is_called = self._of(node), self._index.call_of(node) is not None
        key = is_called, is_attribute, of_module
        if key not in found.uses:
            runners = found.of_others if is_called else found.of_value
            found.uses[key] = CallSite(found.is_caught, runners, found.around, is_attribute, of_module)
        return found.uses[key]

    def _of(self, node: ast.AST) -> _Surroundings:
        """Return what stands around a node, from the nearest node above of which that is known."""
        known, parents = self._known, self._index.parents
        below = [node]
        while below[-1] not in known:
            below.append(parents[below[-1]])
        found = known[below.pop()]
        for each in reversed(below):
            above = parents[each]
            if above.__class__ in _PARTING:
                found = self._below(each, above, found)
            elif found.of_value is not found.of_others:
                found = found.among(found.of_others, found.of_others)
            known[each] = found
        return found

    def _below(self, node: ast.AST, above: ast.AST, outer: _Surroundings) -> _Surroundings:
        """Return what stands around a node, from what stands around the node above it."""
        match above:
            case ast.With(body=part) | ast.AsyncWith(body=part):
                is_alike = node in part
            case ast.Call(func=function):
                is_alike = node is not function
            case _:
                is_alike = not isinstance(above, ast.Try)
        if not is_alike:
            return self._inside(node, above, outer)
        if above not in self._inner:
            self._inner[above] = self._inside(node, above, outer)
        return self._inner[above]

    def _inside(self, below: ast.AST, above: ast.AST, outer: _Surroundings) -> _Surroundings:
        """Return what stands around all that is in one part of a node: its block, its arguments, its body."""
        signal = self._signal
        match above:
            case ast.With(body=body, items=items) | ast.AsyncWith(body=body, items=items) if below in body:
                entered = [each for item in items for each in _entered(item.context_expr, self._index)]
                if signal.is_taken_around(above) or any(signal.expects(each) or _is_push(each) for each in entered):
                    return outer.caught()
                runners = outer.of_others.union(_runner(each, signal) for each in entered) - {""}
                return outer.among(runners, runners)
            case ast.Call(func=function) if below is not function:
                if signal.expects(above):
                    return outer.caught()
                runner = _runner(function, signal)
                return outer.among(outer.of_value | {runner}, outer.of_others) if runner else outer
            case ast.Lambda():
                named = tuple(Callee(name, is_method) for name, is_method in names_given(above, self._index))
                return _Surroundings(outer.is_caught, outer.of_value, outer.of_value, (*named, *outer.around))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                is_marked = self._index.told(signal.is_marked, above)
                return _Surroundings(is_marked, around=tuple(self._functions_from(above)))
            case ast.Try(body=body, handlers=handlers, finalbody=last) if signal.is_error:
                if (below in body and any(map(signal.is_handled, handlers))) or (
                    below not in last and may_leave_early(last)
                ):
                    return outer.caught()
        if isinstance(above, _HOLDING) or outer.of_value is outer.of_others:
            return outer
        return outer.among(outer.of_others, outer.of_others)

    def _functions_from(self, function: Function | None) -> Iterator[Callee]:
        """Yield a function and those around it, innermost first."""
        while function is not None:
            yield callee_of(function, self._index)
            function = self._index.owner(function)


def callee_of(function: Function, index: AstIndex) -> Callee:
    """Return a function by the name that callers know it by: its class's, where it is called without being named."""
    above = index.parents.get(function)
    decorators = frozenset(filter(None, (last_word(each) for each in function.decorator_list)))
    is_async = isinstance(function, ast.AsyncFunctionDef)
    if isinstance(above, ast.ClassDef):
        if _IMPLICIT.fullmatch(function.name):
            made = above.name if function.name in _MAKING else f"{above.name}()"
            return Callee(made, False, decorators, is_async)
        if function.name == "run":  # a thread runs it, and keeps its error
            decorators |= frozenset(filter(None, map(last_word, above.bases))) & _KEEPING
        return Callee(function.name, True, decorators, is_async)
    makes_generator = any(index.inside(function, ast.Yield, ast.YieldFrom))  # which runs where it is gone through
    return Callee(f"{function.name}()" if makes_generator else function.name, False, decorators, is_async)


def _runner(node: ast.expr, signal: Signal) -> str:
    """Return the name of what runs something; nothing where it says that it takes other signals."""
    word = last_word(node) or ""
    return "" if signal.words.search(word) else word


def _note_names(found: CallIndex, word: str, node: ast.expr, index: AstIndex) -> None:
    """Note the names that an expression is given: ``other = name``, ``self.other = name``, ``table = {"a": name}``."""
    if isinstance(index.parents.get(node), GIVING):
        found.aliases[word].update(name for name, _ in names_given(node, index))


def _entered(context: ast.expr, index: AstIndex) -> Iterator[ast.expr]:
    """Yield what a ``with`` enters: what a name is bound to in the text, and what is put on a stack."""
    found = [context, *index.told(_values, index.tree).get(word_of(context), ())]
    yield from found
    if any(last_word(each) in _STACKS for each in found):
        for call in index.nodes(ast.Call):
            if last_word(call.func) in _PUSHING:
                yield call
            elif last_word(call.func) in _ENTERING:
                yield from call.args[:1]


def _is_push(node: ast.expr) -> bool:
    """Whether a call puts a function on a stack that may deal with errors."""
    return isinstance(node, ast.Call) and last_word(node.func) in _PUSHING


def _values(index: AstIndex, _: ast.Module) -> dict[str, list[ast.expr]]:
    """Return what names and attributes are bound to by assignments of a text."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for each in index.nodes(ast.Assign):
        for word in filter(None, map(word_of, each.targets)):
            found[word].append(each.value)
    return found


def _keeps_tasks(index: AstIndex) -> bool:
    """Whether a text may keep the errors of coroutines."""
    for call in index.nodes(ast.Call):
        if last_word(call.func) in _KEEPING_TASKS:
            return True
        for each in call.keywords:
            if each.arg == "return_exceptions" and not (isinstance(each.value, ast.Constant) and not each.value.value):
                return True
    return False
