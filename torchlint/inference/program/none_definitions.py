"""What one text defines, for a look at where `None` gets to: functions, classes, and what names are bound to."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlint.inference.program import bindings
from torchlint.inference.program.imports import import_bindings
from torchlint.inference.program.none_graph import ATTRIBUTE, MODULE, NoneGraph, Place
from torchlint.inference.program.spelled_calls import fields_of, last_word, names_function
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import root_of_name
from torchlint.syntax.signatures import methods_of, parameters, positional_parameters

_IMPLICIT = ("forward", "__call__")
"""Methods that run where an object is called."""
_LIBRARIES = frozenset({"torch", "numpy", "math", "torchvision", "scipy", "random", "os", "sys"})


@dataclass
class TextDefinitions:
    """What one text defines, and how it is called."""

    index: AstIndex
    graph: NoneGraph = field(default_factory=NoneGraph)
    _functions: dict[str, list[Function | ast.Lambda]] = field(default_factory=lambda: defaultdict(list))
    _classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    _made: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The classes of which a name may be an object, by the word of each."""
    _values: dict[Place, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    """What is assigned to names and attributes as it is."""
    _set: set[str] = field(default_factory=set)
    """The attributes that the text sets or registers by their words."""
    _of_libraries: frozenset[str] = frozenset()
    _takes_all: bool = False
    """Whether any name of the module may be one of another: ``from lib import *``."""

    def __post_init__(self) -> None:
        """Read imports, functions, classes and assignments."""
        index = self.index
        self._of_libraries = frozenset(
            word
            for each in index.imports
            for word, value in import_bindings(each)
            if value.names and all(name.partition(".")[0] in _LIBRARIES for name in value.names)
        )
        self._takes_all = any(each.names[0].name == "*" for each in index.nodes(ast.ImportFrom))
        self._functions_and_classes()

    def _functions_and_classes(self) -> None:
        """Note the functions and classes of the text, their parameters, and other names that are given to them."""
        index = self.index
        for function in index.functions:
            self._functions[function.name].append(function)
            positional = self._positional(function)
            for word in parameters(function):
                at = positional.index(word) if word in positional else -1
                place = self._place_of_parameter(function, word)
                self.graph.parameters[place] += [(name, str(at), word) for name in self._called_as(function)]
        for kind in index.nodes(ast.ClassDef):
            self._classes[kind.name] = kind
            for at, word in enumerate(fields_of(kind)):
                self.graph.parameters[ATTRIBUTE, word].append((kind.name, str(at), word))
        self.graph.defined |= {*self._functions, *self._classes}
        for assigned in index.nodes(ast.Assign):
            self._note_values(assigned)
            for word in filter(None, map(last_word, assigned.targets)):
                match assigned.value:
                    case ast.Lambda():
                        self._functions[word].append(assigned.value)
                    case ast.Call(func=maker) if (made := last_word(maker)) is not None:
                        self._made[word].add(made)
                other = last_word(assigned.value) if names_function(assigned.value) else None
                if other is not None and other != word:
                    self.graph.aliases[other].add(word)
                    self._functions[word] += self._functions.get(other, ())

    def _note_values(self, assigned: ast.Assign) -> None:
        for target in assigned.targets:
            match target:
                case ast.Name(id=word):
                    self._values[self._place(target, word)].append(assigned.value)
                case ast.Attribute(attr=word):
                    self._values[ATTRIBUTE, word].append(assigned.value)
                    self._set.add(word)

    def _called_as(self, function: Function) -> Iterator[str]:
        """Yield the words by which a function is called, its class's for a constructor, ``Net()`` for a ``forward``."""
        above = self.index.parents.get(function)
        if isinstance(above, ast.ClassDef) and function.name in _IMPLICIT:
            yield f"{above.name}()"
        yield above.name if isinstance(above, ast.ClassDef) and function.name == "__init__" else function.name

    def _positional(self, function: Function | ast.Lambda) -> list[str]:
        """Return the words of the parameters that a call gives by position: ``self`` is none of them."""
        found = [each.arg for each in positional_parameters(function)]
        is_method = isinstance(self.index.parents.get(function), ast.ClassDef)
        if is_method and not isinstance(function, ast.Lambda):
            static = any(last_word(each) == "staticmethod" for each in function.decorator_list)
            return found if static else found[1:]
        return found

    def _place(self, node: ast.AST, word: str) -> Place:
        return _owner(bindings.binder(self.index, self.index.owner(node), word)), word

    def _place_of_parameter(self, function: Function | ast.Lambda, word: str) -> Place:
        return (_owner(function), word) if isinstance(function, Function) else self._place(function, word)

    def _callees(self, name: str) -> Iterator[Function | ast.Lambda]:
        """Yield the functions of the text that a call by some word may run."""
        if name.endswith("()"):
            for each in self._lineage(name[:-2]):
                yield from (inner for inner in methods_of(each) if inner.name in _IMPLICIT)
            return
        yield from self._functions.get(name, ())
        for each in self._lineage(name):
            yield from (inner for inner in methods_of(each) if inner.name == "__init__")

    def _lineage(self, word: str) -> list[ast.ClassDef]:
        """Return a class and those that it inherits from, as far as the text defines them."""
        found: list[ast.ClassDef] = []
        waiting = [word]
        while waiting:
            kind = self._classes.get(waiting.pop())
            if kind is not None and kind not in found:
                found.append(kind)
                waiting += filter(None, map(last_word, kind.bases))
        return found

    def _is_of_a_library(self, node: ast.expr) -> bool:
        root = root_of_name(node)
        return isinstance(root, ast.Name) and root.id in self._of_libraries


def _owner(function: Function | None) -> str:
    return MODULE if function is None else f"{function.lineno}:{function.col_offset}"
