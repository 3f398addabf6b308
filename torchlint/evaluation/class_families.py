"""A class with the bases that the project has, what its other bases are, and what its methods store."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.semantic.graph import (
    EFFECT,
    FREE,
    GAMMA,
    INPLACE,
    PARAM,
    PHI,
    PI,
    SETTER,
    AttributeStore,
    ClassGraph,
    FormalParameter,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.values.references import ClassRef, LibraryRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_DEEPEST: Final = 12
_MODULES: Final = (
    "torch.nn.",
    "pytorch_lightning.",
    "lightning.",
    "transformers.",
    "diffusers.",
    "timm.",
)
"""Beginnings of the names of libraries' classes whose subclasses are modules."""
_NO_MODULES: Final = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
PROPERTIES: Final = frozenset({"property", "cached_property", "lazy_property", "abstractproperty"})
_VERSIONS: Final = frozenset({PI, PHI, GAMMA, INPLACE, EFFECT, SETTER})


class Stored(NamedTuple):
    """What a method puts under an attribute of its object."""

    method: FunctionGraph
    store: AttributeStore


class ClassFamily:
    """A class with its bases, in the order in which attributes are looked up."""

    def __init__(self, strict: Evaluator, cls: ClassGraph) -> None:
        """Begin; bases are resolved when somebody asks for one."""
        self._strict, self.cls = strict, cls
        self._lineage: list[ClassGraph] = []
        self._libraries: list[str] = []
        self._is_open = False
        self._is_resolved = False
        self._touched = 0

    def _resolve(self) -> None:
        program = self.cls.file.program
        if not self._is_resolved:
            self._is_resolved = True
            before, program.touched = program.touched, 0
            self._visit(self.cls, 0, set())
            self._touched = program.touched
            program.touched = before
        program.touched |= self._touched

    def _visit(self, cls: ClassGraph, depth: int, seen: set[ClassGraph]) -> None:
        """Put a class before all that is known so far, and its bases between: a base shared by two comes last."""
        if cls in seen or depth > _DEEPEST:
            return
        seen.add(cls)
        cls.file.program.touched |= cls.file.bit
        for base in reversed(cls.bases):
            references = self._strict.value(base).references
            self._is_open |= not references
            for reference in references:
                if isinstance(reference, ClassRef):
                    self._visit(reference.cls, depth + 1, seen)
                elif isinstance(reference, LibraryRef):
                    self._libraries.insert(0, reference.name)
                else:
                    self._is_open = True
        self._lineage.insert(0, cls)

    def rests_on(self, bit: int) -> bool:
        """Whether what is known of the class rests on something: see :attr:`Program.touched`."""
        return bool((self._touched | self.cls.file.bit) & bit)

    @property
    def lineage(self) -> list[ClassGraph]:
        """The class and its bases in the project."""
        self._resolve()
        return self._lineage

    @property
    def libraries(self) -> list[str]:
        """The dotted names of its other bases."""
        self._resolve()
        return self._libraries

    @property
    def is_open(self) -> bool:
        """Whether a base is not known."""
        self._resolve()
        return self._is_open

    @cached_property
    def is_module(self) -> bool:
        """Whether its objects are modules of torch."""
        return any(
            (each.startswith(_MODULES) and each not in _NO_MODULES) or each.endswith(("LightningModule", "nn.Module"))
            for each in self.libraries
        )

    def derives_from(self, *endings: str) -> bool:
        """Whether a library's base ends with one of some words."""
        return any(each.endswith(endings) for each in self.libraries)

    def method(self, word: str) -> FunctionGraph | None:
        """Return the method that a call of the word runs."""
        return next((each.methods[word] for each in self.lineage if word in each.methods), None)

    def method_after(self, cls: ClassGraph, word: str) -> FunctionGraph | None:
        """Return the method that ``super()`` in a class of the family leads to."""
        lineage = self.lineage
        following = lineage[lineage.index(cls) + 1 :] if cls in lineage else lineage[1:]
        return next((each.methods[word] for each in following if word in each.methods), None)

    @cached_property
    def children(self) -> list[ClassGraph]:
        """The classes of the same file that derive from this one directly."""
        file, own = self.cls.file, ClassRef(self.cls)
        found = []
        for syntax, scope in file.outline.scopes.items():
            if isinstance(syntax, ast.ClassDef) and syntax.bases:
                cls = file.class_graph(syntax, lower(file.function_of(scope.owner)))
                if cls is not self.cls and any(own in self._strict.value(base).references for base in cls.bases):
                    found.append(cls)
        return found

    @cached_property
    def _stored(self) -> dict[str, list[Stored]]:
        found: dict[str, list[Stored]] = {}
        for cls in self.lineage:
            for method in cls.methods.values():
                for store in lower(method).stores:
                    if is_own_object(store.owner, method):
                        found.setdefault(store.word, []).append(Stored(method, store))
                for inner in _inside(method):
                    for store in lower(inner).stores:
                        if store.owner.op == FREE and store.owner.data == (method, _first(method)):
                            found.setdefault(store.word, []).append(Stored(inner, store))
        return found

    def stores(self, word: str) -> list[Stored]:
        """Return what methods of the class and its bases put under an attribute."""
        return [*self._stored.get(word, ()), *self._stored.get("*", ())]

    @cached_property
    def fields(self) -> list[str]:
        """The annotated names of the bodies, bases first: what a dataclass's constructor takes."""
        return list(dict.fromkeys(word for cls in reversed(self.lineage) for word in cls.annotations))


def _inside(method: FunctionGraph) -> list[FunctionGraph]:
    """Return the functions that are written inside of a method, at any depth."""
    found = [*lower(method).bodies]
    for each in found:
        found += lower(each).bodies
    return found


def _first(method: FunctionGraph) -> str:
    return method.parameters[0].word if method.takes_object and method.parameters else ""


def is_own_object(node: Node, method: FunctionGraph) -> bool:
    """Whether a node is the object of a method: ``self``, however it was changed or narrowed since."""
    while node.op in _VERSIONS and node.ins and node.ins[0].index < node.index:
        node = node.ins[0]
    return node.op == PARAM and node.fn is method and isinstance(node.data, FormalParameter) and node.data.position == 0
