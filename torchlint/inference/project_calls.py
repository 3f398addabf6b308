"""Where a file of the project calls a function: by its name, by objects of its class, by the name of a method."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from torchlint.facts.value import Mode, Value
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.program.project_view import ProjectView
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function
from torchlint.syntax.places import word_of

CALLED_AS_OBJECT = frozenset({"forward", "__call__"})
"""Methods that run where the object itself is called."""


class SampledFile(Protocol):
    """What a sample asks of one file: see :class:`torchlint.inference.query.Analysis`."""

    index: AstIndex

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None where it lies nowhere."""

    @property
    def other_texts(self) -> ProjectView:
        """What the project's other files say."""

    @property
    def presuming(self) -> SampledFile:
        """What is known if functions are called as most are."""

    @property
    def is_program(self) -> bool:
        """Whether the file is run and not imported."""

    def imports(self, path: str) -> bool:
        """Whether the file imports another one of the project."""

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

    def lineage(self, node: ast.ClassDef) -> tuple[tuple[AstIndex, ast.ClassDef], ...]:
        """Return the texts of a class and of those of its bases that the project has."""

    def ancestry(self, node: ast.ClassDef) -> frozenset[tuple[str | None, str]]:
        """Return a class and those of the project that it derives from, each by the path of its file and its name."""

    def classes_of(self, node: ast.expr) -> tuple[frozenset[tuple[str | None, str]], ...]:
        """Return the classes of the project that an object may be of, each with its bases; nothing if others may be."""

    def means(self, node: ast.expr, path: str | None, function: Function) -> bool:
        """Whether an expression is a function of the project beyond doubt."""

    def of_file(self, path: str) -> SampledFile | None:
        """Return what is known about another file; None where it cannot be read."""

    def close(self) -> None:
        """Let go of all that is known."""


def calls_in(
    other: SampledFile, home: SampledFile, function: Function, hierarchy: Hierarchy
) -> Iterator[ast.Call | None]:
    """Yield the calls of a function in a file; None where it is handed on, so that others call it."""
    if hierarchy.own_class is None:
        yield from _calls_by_name(other, home, function.name, hands_on=True)
    elif function.name == "__init__":
        yield from _calls_by_name(other, home, hierarchy.own_class.name, hands_on=False)
    elif function.name in CALLED_AS_OBJECT:
        yield from _calls_of_objects(other, home, hierarchy.own_class.name)
    else:
        yield from _calls_of_method(other, function.name, hierarchy)


def _calls_by_name(other: SampledFile, home: SampledFile, word: str, hands_on: bool) -> Iterator[ast.Call | None]:
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
            found.setdefault(word_of(each), []).append(each)
    return found


def _imported_as(other: SampledFile, home: SampledFile, word: str) -> set[str]:
    """Return the names that a file gives to what it imports by a name; a star counts."""
    found = set()
    for statement in other.index.nodes(ast.ImportFrom):
        for alias in statement.names:
            if alias.name == word:
                found.add(alias.asname or word)
            elif alias.name == "*" and (statement.module or "").rpartition(".")[2] in module_words(home):
                found.add(word)
    return found


def _modules(other: SampledFile, home: SampledFile) -> set[str]:
    """Return the names that a file gives to the module of another."""
    stems, found = module_words(home), set()
    for statement in other.index.imports:
        for alias in statement.names:
            last = alias.name.rpartition(".")[2]
            if last in stems:
                found.add(alias.asname or last)
    return found


def module_words(home: SampledFile) -> set[str]:
    """Return what a module is called by those who import it: its name, and its package's."""
    folder, name = os.path.split(home.path or "")
    return {os.path.splitext(name)[0], os.path.basename(folder)}


def _calls_of_objects(other: SampledFile, home: SampledFile, word: str) -> Iterator[ast.Call | None]:
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


def _calls_of_method(other: SampledFile, word: str, hierarchy: Hierarchy) -> Iterator[ast.Call | None]:
    index = other.index
    for node in index.nodes(ast.Attribute):
        if node.attr != word or not isinstance(node.ctx, ast.Load) or hierarchy.excludes(other, node):
            continue
        yield index.call_of(node)


@dataclass(frozen=True)
class Hierarchy:
    """The class of a method, its bases and what derives from it; None for a function that is called by its name."""

    home: SampledFile
    own_class: ast.ClassDef | None

    def calls(self, other: SampledFile, call: ast.Call) -> bool:
        """Whether a call is surely one of the method itself: of ``self`` in a class of its line, of such an object."""
        if self.own_class is None or not isinstance(call.func, ast.Attribute):
            return False
        around = _class_of_self(call.func.value, other.index)
        if around is not None:
            return self._is_above(other, around) or self._is_below(other, around)
        own, lines = (self.home.path, self.own_class.name), other.presuming.classes_of(call.func.value)
        return bool(lines) and all(own in each for each in lines)

    def is_of_another(self, other: SampledFile, call: ast.Call) -> bool:
        """Whether the object whose method is called is of another class, ``self`` left aside."""
        if self.own_class is None or not isinstance(call.func, ast.Attribute):
            return False
        if _class_of_self(call.func.value, other.index) is not None:
            return False
        own, mine = (self.home.path, self.own_class.name), self.home.ancestry(self.own_class)
        lines = other.presuming.classes_of(call.func.value)
        return bool(lines) and not any(own in each or each <= mine for each in lines)

    def excludes(self, other: SampledFile, method: ast.Attribute) -> bool:
        """Whether a method is one of another class: of ``self`` where its class has its own, of a library's module.

        What an object keeps under the name is its own, too: a part that is called as a method is. So is what it has
        of its bases, wherever in the project they stand.
        """
        around = _class_of_self(method.value, other.index)
        if around is not None and not self._is_above(other, around):
            having = (owner for index, owner in other.lineage(around) if _has(owner, method.attr, index))
            first = next(having, None)  # of a class below, that may be the method's own class
            return first is not None and not (self._is_below(other, around) and first.name == self.own_class_name)
        names = other.names_of(method.value)
        return bool(names) and not any(name.startswith("here.") for name in names)

    @property
    def own_class_name(self) -> str | None:
        """The name of the method's class."""
        return self.own_class.name if self.own_class is not None else None

    def _is_above(self, other: SampledFile, around: ast.ClassDef) -> bool:
        """Whether a class is the method's, or a base of it."""
        return self.own_class is not None and (other.path, around.name) in self.home.ancestry(self.own_class)

    def _is_below(self, other: SampledFile, around: ast.ClassDef) -> bool:
        return self.own_class is not None and (self.home.path, self.own_class.name) in other.ancestry(around)


def _has(owner: ast.ClassDef, word: str, index: AstIndex) -> bool:
    """Whether a class has a method of a name, or sets an attribute of it."""
    if any(isinstance(each, FUNCTIONS) and each.name == word for each in owner.body):
        return True
    stored = (each for each in index.inside(owner, ast.Attribute) if isinstance(each.ctx, ast.Store))
    return any(each.attr == word and _class_of_self(each.value, index) is owner for each in stored)


def _class_of_self(node: ast.expr, index: AstIndex) -> ast.ClassDef | None:
    """Return the class whose object an expression is, by being called ``self``; None for others."""
    if isinstance(node, ast.Name) and node.id in ("self", "cls"):
        return index.nearest(node, ast.ClassDef)
    return None
