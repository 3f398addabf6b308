"""A class of the project by its text: what it derives from, in which order, and which methods set its attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.inference.interpreter.shared_memory import linked_roots
from torchlint.inference.models.operations import leaf
from torchlint.inference.program.bindings import attributes_set
from torchlint.inference.program.frameworks import OTHERS
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.signatures import decorator_words, first_parameter

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

CONSTRUCTOR = "__init__"

_MODULE_BASES = frozenset(["Module", "LightningModule", "PreTrainedModel", "ScriptModule", "PyroModule"])
_TENSOR_BASES = frozenset(["Tensor", "Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"])


@dataclass(eq=False)
class Class:
    """A class of the project: what it derives from and where its attributes are set."""

    home: File
    node: ast.ClassDef
    name: str
    bases: tuple[str, ...]
    methods: dict[str, Function] = field(default_factory=dict)
    setters: dict[str, list[Function]] = field(default_factory=dict)
    """The methods that set an attribute of ``self`` or change what it holds, by the attribute."""
    sets: set[tuple[str, Function]] = field(default_factory=set)
    """Attributes and methods that do more than change parts of them: walks of the others say nothing of them."""
    loose: set[str] = field(default_factory=set)
    """The attributes that ``setattr(self, "word", value)`` sets too."""
    fields: dict[str, ast.AnnAssign | ast.Assign] = field(default_factory=dict)
    """The assignments of the class body."""
    above: list[Class] = field(default_factory=list)
    """The base classes that stand in the project."""
    upward: frozenset[str] = frozenset()
    """The methods that it takes from ``super()`` or from a class by its name."""
    complete: bool = False
    """Whether all of this has been found out."""
    _traits: dict[str, bool] = field(default_factory=dict)
    _above: tuple[Class, ...] | None = None
    _constructed: frozenset[str] | None = None

    def line(self) -> tuple[Class, ...]:
        """Return the class and all that it derives from in the project, in Python's method resolution order."""
        if not self.complete:
            return self, *_linearized(self)
        if self._above is None:
            self._above = _linearized(self)  # without itself: what holds itself waits for the search for garbage
        return self, *self._above

    def method(self, word: str, after: Class | None = None) -> tuple[File, Function] | None:
        """Return a method by its name, with its file; ``after`` a class of the line, as ``super()`` there sees it."""
        line = self.line()
        for each in line[line.index(after) + 1 :] if after in line else line:
            if word in each.methods:
                return each.home, each.methods[word]
        return None

    def set_by(self, word: str) -> list[tuple[Class, Function]]:
        """Return the methods that set an attribute or change what it holds, with the classes that they stand in.

        A method of a base counts where nothing replaces it, or where what does may call it.
        """
        found: list[tuple[Class, Function]] = []
        replaced: set[str] = set()
        upward: set[str] = set()
        for each in self.line():
            setting = dict.fromkeys(each.setters.get(word, ()))
            found += ((each, method) for method in setting if method.name not in replaced - upward)
            replaced |= each.methods.keys()
            upward |= each.upward
        return found

    @property
    def constructed(self) -> frozenset[str]:
        """The attributes that constructors set and no other method."""
        if self._constructed is not None:
            return self._constructed
        words = {word for each in self.line() for word in each.setters}
        setting = {word: {method.name for _, method in self.set_by(word)} for word in words}
        found = frozenset(word for word, methods in setting.items() if methods == {CONSTRUCTOR})
        if self.complete:
            self._constructed = found
        return found

    def _is(self, trait: str, tell: Callable[[Class], bool]) -> bool:
        """Whether something holds of the class or of what it derives from; asked once, when all of that is known."""
        if trait in self._traits:
            return self._traits[trait]
        found = any(map(tell, self.line()))
        if self.complete:
            self._traits[trait] = found
        return found

    @property
    def is_module(self) -> bool:
        """Whether objects are ``nn.Module`` objects."""
        return self._is("module", lambda each: any(_names_a_module(base, each.home) for base in each.bases))

    @property
    def is_tensor(self) -> bool:
        """Whether objects are tensors: of a class below ``torch.Tensor`` or ``nn.Parameter``."""
        return self._is("tensor", lambda each: any(_names_a_tensor(base, each.home) for base in each.bases))

    @property
    def is_lightning(self) -> bool:
        """Whether a trainer of Lightning calls the hooks."""
        return self._is("lightning", lambda each: any(map(_names_lightning, each.bases)))

    @property
    def is_dataset(self) -> bool:
        """Whether this is a data set, whose samples lie on the host until somebody moves them."""
        return self._is("dataset", lambda each: any(leaf(base).endswith("Dataset") for base in each.bases))

    @property
    def is_autograd_function(self) -> bool:
        """Whether this is a ``torch.autograd.Function``, whose passes run without grad mode."""
        return any(each.startswith("torch.autograd.") and leaf(each) == "Function" for each in self.bases)

    @property
    def holds_fields(self) -> bool:
        """Whether calling the class fills its annotated fields: a dataclass or a named tuple."""
        return bool(decorator_words(self.node) & {"dataclass", "define", "frozen"}) or self.is_named_tuple

    @property
    def is_named_tuple(self) -> bool:
        """Whether objects are tuples whose members have names."""
        return any(leaf(each) == "NamedTuple" for each in self.bases) and "__new__" not in self.methods

    def all_fields(self) -> dict[str, tuple[File, ast.AnnAssign]]:
        """Return the fields that a call fills, those of base classes first, with the files that they stand in."""
        found: dict[str, tuple[File, ast.AnnAssign]] = {}
        for each in reversed(self.line()):
            if each.holds_fields:
                fields = each.fields.items()
                found |= {word: (each.home, node) for word, node in fields if isinstance(node, ast.AnnAssign)}
        return found


def _linearized(known: Class) -> tuple[Class, ...]:
    """Return all that a class derives from, in Python's method resolution order (C3)."""
    if len(known.above) == 1:
        return known.above[0].line()
    orders = [list(base.line()) for base in known.above] + [list(known.above)]
    line: list[Class] = []
    while orders := [order for order in orders if order]:
        heads = [order[0] for order in orders]
        first = next((head for head in heads if not any(head in order[1:] for order in orders)), heads[0])
        line.append(first)
        orders = [[each for each in order if each is not first] for order in orders]
    return tuple(line)


def _names_a_module(name: str, home: File) -> bool:
    """Whether a base is a module: one of torch's, or by its last word where it is no other library's."""
    if name.startswith("torch.nn.") and not _names_a_tensor(name, home):
        return True
    return leaf(name) in _MODULE_BASES and name.partition(".")[0] not in OTHERS and home.works_with_torch


def _names_a_tensor(name: str, home: File) -> bool:
    """Whether a base is torch's class of tensors or of parameters."""
    if name.startswith("torch."):
        return leaf(name) in _TENSOR_BASES
    return leaf(name) == "Tensor" and home.works_with_torch


def _names_lightning(name: str) -> bool:
    """Whether a base is a module or a callback of Lightning."""
    is_callback = name.startswith(("lightning.", "pytorch_lightning.")) and name.endswith(("Callback", "Writer"))
    return is_callback or leaf(name) == "LightningModule"


def read_body(known: Class) -> None:
    """Find the methods and fields of a class, and what its methods set."""
    for statement in known.node.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not decorator_words(statement) & {"setter", "deleter"}:
                    known.methods[statement.name] = statement
                _read_setters(known, statement)
            case ast.AnnAssign(target=ast.Name(id=word)):
                known.fields[word] = statement
            case ast.Assign(targets=[ast.Name(id=word)]):
                known.fields[word] = statement
    known.upward = frozenset(known.home.index.told(_upward, known.node))


def _upward(index: AstIndex, node: ast.ClassDef) -> frozenset[str]:
    """Return the words that the methods of a class take from ``super()`` or from a class by its name."""
    found = set()
    for each in index.inside(node, ast.Attribute):
        match each.value:
            case ast.Call(func=ast.Name(id="super")):
                found.add(each.attr)
            case ast.Name(id=word) if word[:1].isupper():
                found.add(each.attr)
            case ast.Attribute(attr=word) if word[:1].isupper():
                found.add(each.attr)
    return frozenset(found)


def _read_setters(known: Class, method: Function) -> None:
    found = known.home.index.told(attributes_set, method)
    known.loose.update(found.loose)
    known.sets.update((word, method) for word in found.own)
    by_another_name = _linked_attributes(method, known.home.index.told(linked_roots, method))
    known.sets.update((word, method) for word in by_another_name)
    for word in dict.fromkeys((*found.words, *by_another_name)):
        known.setters.setdefault(word, []).append(method)


def _linked_attributes(method: Function, roots: frozenset[str]) -> list[str]:
    """Return the attributes of ``self`` that a method may write into by another name: ``v = self.buffer[0]``."""
    prefix = f"{first_parameter(method) or ''}."
    return sorted(root.removeprefix(prefix) for root in roots if root.startswith(prefix))
