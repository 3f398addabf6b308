"""The project's classes: their bases, methods and attributes, and what an object of one is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.inference.lattice import (
    ANY_DEVICE,
    NOTHING,
    UNKNOWN,
    Device,
    Dtype,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    join,
    of_kind,
)
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.operations import leaf
from torchlint.inference.program.bindings import set_words
from torchlint.inference.program.frameworks import OTHERS
from torchlint.syntax.ast_index import AstIndex, Function

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File

_MODULE_BASES = frozenset(["Module", "LightningModule", "PreTrainedModel", "ScriptModule", "PyroModule"])


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
    """Those of them that do more than change parts of it: walks of the others say nothing of it."""
    loose: set[str] = field(default_factory=set)
    """The attributes that ``setattr(self, "word", value)`` sets too."""
    fields: dict[str, ast.AnnAssign | ast.Assign] = field(default_factory=dict)
    """The assignments of the class body."""
    above: list[Class] = field(default_factory=list)
    """The base classes that stand in the project."""
    complete: bool = False
    """Whether all of this has been found out."""
    _traits: dict[str, bool] = field(default_factory=dict)

    def line(self) -> Iterator[Class]:
        """Yield the class and all that it derives from in the project, each class before its bases."""
        stack = [self]
        while stack:
            each = stack.pop()
            yield each
            stack.extend(reversed(each.above))

    def home_of(self, method: Function) -> Class:
        """Return the class in whose body a method of this one stands."""
        return next(each for each in self.line() if method in each.methods.values())

    def set_by(self, word: str) -> list[Function]:
        """Return the methods, of bases too, that set an attribute or change what it holds."""
        return list(dict.fromkeys(method for each in self.line() for method in each.setters.get(word, ())))

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
    def is_lightning(self) -> bool:
        """Whether a trainer of Lightning calls the hooks."""
        return self._is("lightning", lambda each: any(leaf(base) == "LightningModule" for base in each.bases))

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
        decorators = {_last(each) for each in self.node.decorator_list}
        return bool(decorators & {"dataclass", "dataclasses.dataclass", "define", "frozen"}) or any(
            leaf(each) == "NamedTuple" for each in self.bases
        )


def _names_a_module(name: str, home: File) -> bool:
    """Whether a base is a module: one of torch's, or by its last word where it is no other library's."""
    if name.startswith("torch.nn."):
        return True
    return leaf(name) in _MODULE_BASES and name.partition(".")[0] not in OTHERS and home.works_with_torch


def _last(node: ast.expr) -> str:
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""


class Classes:
    """The classes of one file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[ast.ClassDef, Class] = {}
        self._attributes: dict[tuple[ast.ClassDef, str], Value | None] = {}
        self._asking: dict[tuple[ast.ClassDef, str], Value] = {}
        """The attributes that are being looked for, with what was found so far."""

    def of(self, node: ast.ClassDef) -> Class:
        """Return what is known of a class."""
        if node not in self._known:
            known = Class(self._file, node, self._file.known_as(node), ())
            self._known[node] = known
            values = [self._file.outside(node, each) for each in node.bases]
            known.bases = tuple(sorted(name for value in values for name in value.names))
            for name in known.bases:
                base = self._named(name)
                if base is not None and base.complete:  # else it derives from this one, which no class can
                    known.above.append(base)
            _read_body(known)
            known.complete = True
        return self._known[node]

    def _named(self, name: str) -> Class | None:
        home, node = self._file.project.definitions.get(name, (self._file, None))
        return home.classes.of(node) if isinstance(node, ast.ClassDef) else None

    # ------------------------------------------------------------------ objects
    def self_value(self, function: Function) -> Value:
        """Return the first argument of a method as its own class sees it."""
        owner = self._file.index.parents.get(function)
        if not isinstance(owner, ast.ClassDef):
            return UNKNOWN
        known = self.of(owner)
        if any(isinstance(each, ast.Name) and each.id == "classmethod" for each in function.decorator_list):
            return of_kind(Kind.OTHER, names=frozenset((known.name,)))
        return self._object(known, ANY_DEVICE)

    def _object(self, known: Class, place: Device) -> Value:
        instance = frozenset((known.name,))
        if known.is_module:
            return Value(Kind.MODULE, Grad.ATTACHED, place, Dtype(0), instance=instance)
        if known.home.works_with_torch and any(leaf(base) == "Tensor" for base in known.bases):
            return Value(Kind.TENSOR, instance=instance)
        return of_kind(Kind.OTHER, instance=instance)

    def made(self, node: ast.ClassDef, given: Arguments) -> Value:
        """Return the object that calling a class of this file makes."""
        known = self.of(node)
        place = ANY_DEVICE if _moves_itself(known) else Device.HOST
        value = self._object(known, place)
        if known.holds_fields and not given.starred:
            words = list(known.fields)
            keys = dict(zip(words, given.positional, strict=False)) | given.keywords
            return value.having(keys=tuple((word, each) for word, each in keys.items() if not known.set_by(word)))
        kept = self._kept(known, given, value)
        return value.having(keys=tuple(sorted(kept.items(), key=lambda each: each[0]))) if kept else value

    def _kept(self, known: Class, given: Arguments, made: Value) -> dict[str, Value]:
        """Return the attributes that only the constructor sets, as it sets them for these arguments."""
        found = _method(known, "__init__")
        if found is None or given.starred or known.is_dataset or not (given.positional or given.keywords):
            return {}
        home, start = found
        words = [word for word in known.home_of(start).setters if known.set_by(word) == [start]]
        if not words:
            return {}
        attributes = home.summaries.attributes(start, given, made)
        return {word: attributes[word] for word in words if word in attributes and not attributes[word].unknown}

    def instance_of(self, names: frozenset[str]) -> Value | None:
        """Return an object of a class of the project, as an annotation names it; None for other names."""
        known = [self._named(name) for name in names]
        if len(known) != 1 or known[0] is None:
            return None
        return self._object(known[0], ANY_DEVICE)

    def method(self, name: str, word: str) -> tuple[File, Function] | None:
        """Return a method by its class's name, with its file; bases in the project are searched."""
        known = self._named(name)
        return _method(known, word) if known is not None else None

    # ------------------------------------------------------------------ attributes
    def forget(self) -> None:
        """Forget what was found of attributes."""
        self._attributes.clear()

    def member(self, node: ast.ClassDef, word: str) -> Value | None:
        """Return ``Class.word``."""
        known = self.of(node)
        if (found := _method(known, word)) is not None:
            return _bound(*found, None)
        return self._field(known, word, UNKNOWN)

    def attribute(self, base: Value, word: str) -> Value | None:
        """Return an attribute of an object; None where its classes are not of the project or do not say."""
        found: Value = NOTHING
        for name in base.instance:
            known = self._named(name)
            value = self._of_class(known, word, base) if known is not None else None
            if value is None:
                return None
            found = join(found, value)
        return found if found.kind else None

    def _of_class(self, known: Class, word: str, base: Value) -> Value | None:
        if (found := _method(known, word)) is not None:
            home, method = found
            if any("property" in _last(each).lower() for each in method.decorator_list):
                return home.summaries.of(method, Arguments(method), base, Mode.ON, (0, None))
            return _bound(home, method, base)
        value = self._set(known, word)
        if value is None and known.is_module and word == "training":
            return of_kind(Kind.SCALAR)
        if known.is_dataset and (value is None or value.unknown):
            return UNKNOWN.having(grad=Grad.DETACHED, device=Device.HOST)  # samples are moved once they are batched
        return moved_along(value, base, word) if value is not None else None

    def _set(self, known: Class, word: str) -> Value | None:
        """Return the join of all that the methods of a class and of its bases set an attribute to."""
        key = (known.node, word)
        rounds = self._file.project.rounds
        if key in self._asking:
            guessed = rounds.guess(key, self._asking[key])
            return guessed if guessed.kind else None
        if key in self._attributes:
            rounds.used(self._attributes, key)
            return self._attributes[key]
        return rounds.settle(lambda: self._collected(known, word))

    def _collected(self, known: Class, word: str) -> Value | None:
        key, rounds = (known.node, word), self._file.project.rounds
        self._asking[key] = NOTHING
        try:
            found = self._collect(known, word)
        finally:
            del self._asking[key]
        if found is not None and found.must(Kind.NONE):
            found = UNKNOWN  # a placeholder: it is set from outside
        self._attributes[key] = found
        rounds.keep(self._attributes, key)
        rounds.found(key, found if found is not None else NOTHING)
        return found

    def _collect(self, known: Class, word: str) -> Value | None:
        found = UNKNOWN if word in known.loose else NOTHING
        for method in dict.fromkeys(known.setters.get(word, ())):
            if (word, method) not in known.sets:
                continue
            if known.home.is_running(method):
                found = join(found, known.home.set_so_far(method, word))
            elif known.home.knows(method) or self._file.project.affords(known.home):
                found = join(found, known.home.general(method).attributes.get(word, NOTHING))
            else:
                found = UNKNOWN
            self._asking[known.node, word] = found
        field_value = self._field(known, word, NOTHING)
        if field_value is not None and not (field_value.must(Kind.NONE) and found.kind):
            found = join(found, field_value)
        for base in known.above:
            inherited = self._set(base, word)
            if inherited is not None:
                found = join(found, inherited)
        if not found.kind:
            return UNKNOWN if known.setters.get(word) else None
        return found

    def _field(self, known: Class, word: str, otherwise: Value) -> Value | None:
        statement = known.fields.get(word)
        if statement is None:
            return otherwise if otherwise.kind else None
        if isinstance(statement, ast.AnnAssign):
            said = known.home.toplevel.annotated(statement.annotation)
            if said is not None:
                return said
        if statement.value is None or known.holds_fields:
            return UNKNOWN
        return known.home.toplevel.evaluate(statement.value)


def _bound(home: File, method: Function, receiver: Value | None) -> Value:
    return of_kind(Kind.OTHER, names=frozenset((home.known_as(method),)), self_value=receiver)


def _method(known: Class, word: str) -> tuple[File, Function] | None:
    if word in known.methods:
        return known.home, known.methods[word]
    for base in known.above:
        if (found := _method(base, word)) is not None:
            return found
    return None


def moved_along(value: Value, base: Value, word: str) -> Value:
    """Put a module's submodules, parameters and buffers where the module is."""
    if not base.must(Kind.MODULE) or not value.kind:
        return _from_class(value, word)
    if value.must(Kind.MODULE) or "torch.nn.Parameter" in value.instance or "buffer" in value.instance:
        place = base.device if value.device == Device.HOST else value.device | base.device
        value = value.having(device=place, why_device=base.why_device or value.why_device)
    return _from_class(value, word)


def _from_class(value: Value, word: str) -> Value:
    def step(reason: Reason | None) -> Reason | None:
        return Reason(f"`self.{word}` holds it", None, reason, weak=True) if reason is not None else None

    return value.having(why_grad=step(value.why_grad), why_device=step(value.why_device))


def _moves_itself(known: Class) -> bool:
    start = known.methods.get("__init__")
    if start is None:
        return any(_moves_itself(base) for base in known.above)
    return known.home.index.told(_names_a_device, start)


def _names_a_device(index: AstIndex, function: Function) -> bool:
    return any(each.attr in ("to", "cuda", "device") for each in index.inside(function, ast.Attribute))


def _read_body(known: Class) -> None:
    for statement in known.node.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not any(_last(each) in ("setter", "deleter") for each in statement.decorator_list):
                    known.methods[statement.name] = statement
                _read_setters(known, statement)
            case ast.AnnAssign(target=ast.Name(id=word)):
                known.fields[word] = statement
            case ast.Assign(targets=[ast.Name(id=word)]):
                known.fields[word] = statement


def _read_setters(known: Class, method: Function) -> None:
    found = known.home.index.told(set_words, method)
    known.loose.update(found.loose)
    known.sets.update((word, method) for word in found.own)
    for word in found.words:
        known.setters.setdefault(word, []).append(method)
