"""Which class or function of its own file a call means, where it is named, handed over as an argument, or kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Protocol

from torchlint.rule import FileContext, Function, Kind
from torchlint.rules.argument_binding import bind, stores
from torchlint.rules.number_evidence import PLAIN, names_layer

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEEPEST = 8
"""Names that stand for each other, at most."""


class Building(Protocol):
    """An object while it is built."""

    owner: ast.ClassDef
    line: list[ast.ClassDef]

    @property
    def is_all_new(self) -> bool:
        """Whether nothing in the object was made elsewhere."""

    def owns(self, word: str) -> bool:
        """Whether an attribute holds only what was made for the object."""

    def values(self, word: str) -> Iterator[tuple[ast.expr | None, Frame]]:
        """Give what an attribute is set to, each with the place where it is written."""


class Frame:
    """Where an expression stands: a function, the object that is its ``self``, and what its parameters are given."""

    def __init__(
        self,
        function: ast.AST,
        this: Building | None = None,
        given: Arguments | None = None,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.function, self.this, self.given = function, this, given or {}
        self.trusted = trusted
        """Names of what is new."""


Arguments = Mapping[str, tuple[ast.expr, Frame]]
"""Arguments by the names of parameters, each with the place where it is written."""


def is_self(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is the name of the object that a method is called on."""
    if frame.this is None or not isinstance(node, ast.Name) or not isinstance(frame.function, _FUNCTIONS):
        return False
    given = [*frame.function.args.posonlyargs, *frame.function.args.args]
    return bool(given) and given[0].arg == node.id


class Definitions:
    """What the classes and functions of one file are called."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self._depth = 0

    def classes(self, node: ast.expr, frame: Frame) -> list[ast.ClassDef | frozenset[str]] | None:
        """Give the classes that a called expression may be: of this file, or torch's by name; None if not known."""
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        found = self._classes(node, frame)
        self._depth -= 1
        return found

    def _classes(self, node: ast.expr, frame: Frame) -> list[ast.ClassDef | frozenset[str]] | None:
        names = self.context.names(node)
        if names_layer(names):
            return [names]
        match node:
            case ast.Name(id=word):
                here = self.class_here(node)
                if here is not None:
                    return [here]
                if word in frame.given:
                    return self.classes(*frame.given[word])
                bound = stores(word, frame.function, self.context) if isinstance(frame.function, _FUNCTIONS) else []
                if bound:
                    return self._joined([(each, frame) for each in bound])
                return self._joined([(each, Frame(self.context.tree)) for each in self._given(word, frame)])
            case ast.Attribute(value=inner, attr=word) if frame.this is not None and is_self(inner, frame):
                return self._joined(list(frame.this.values(word)))
        return None

    def class_here(self, node: ast.expr) -> ast.ClassDef | None:
        """Give the class of the file that a name stands for, where there is one of that name."""
        classes = (each for each in self.context.tree.body if isinstance(each, ast.ClassDef))
        found = [each for each in classes if isinstance(node, ast.Name) and each.name == node.id]
        return found[0] if len(found) == 1 else None

    def _joined(self, several: list[tuple[ast.expr | None, Frame]]) -> list[ast.ClassDef | frozenset[str]] | None:
        """Give the classes that all of several expressions may be; None where one of them is not known."""
        found = [self.classes(each, frame) if each is not None else None for each, frame in several]
        return [one for each in found for one in each or ()] if found and all(found) else None

    def are_given_numbers(self, word: str, frame: Frame) -> bool:
        """Whether the file's own calls of a constructor hand numbers or texts to one of its parameters."""
        given = [self.context.value(each) if each else None for each in self._given(word, frame)]
        return bool(given) and all(each is not None and each.must(PLAIN & ~Kind.NONE) for each in given)

    def _given(self, word: str, frame: Frame) -> Iterator[ast.expr | None]:
        """Give what the file's calls of a class hand to a parameter of its constructor, where nothing else is known."""
        if frame.this is None or not isinstance(frame.function, _FUNCTIONS) or frame.function.name != "__init__":
            return
        for call in self.context.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == frame.this.owner.name:
                yield bind(call, frame.function, method=True).get(word)

    def function(self, node: ast.expr, frame: Frame) -> tuple[Function, Building | None] | None:
        """Give the function or the method of the same object that is called, where the file has it."""
        match node:
            case ast.Name(id=word):
                here: list[ast.stmt] = self.context.tree.body
                this = None
            case ast.Attribute(value=inner, attr=word) if frame.this is not None and is_self(inner, frame):
                here = [statement for each in frame.this.line for statement in each.body]
                this = frame.this
            case _:
                return None
        found = [each for each in here if isinstance(each, ast.FunctionDef) and each.name == word]
        return (found[0], this) if len(found) == 1 and not found[0].decorator_list else None
