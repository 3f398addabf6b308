"""The project's classes: their bases, methods and attributes, and what an object of one is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts.value import ANY_DEVICE, NOTHING, UNKNOWN, Device, Dtype, Grad, Kind, Mode, Reason, Value, of_kind
from torchlint.inference.interpreter.class_texts import CONSTRUCTOR, Class, read_body
from torchlint.inference.interpreter.filled_attributes import filling_keys, set_in
from torchlint.inference.interpreter.freezing import after_grad_request
from torchlint.inference.lattice import join, join_all
from torchlint.inference.models import nn
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.containers import is_moved_along, moved_with
from torchlint.inference.models.named_tuples import with_fields
from torchlint.inference.program.bindings import setting_inside
from torchlint.inference.program.fillings import filled_in
from torchlint.inference.program.grad_requests import may_unfreeze
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.signatures import decorator_words, positional_parameters

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File
    from torchlint.inference.interpreter.project import Effort


class Classes:
    """The classes of one file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[ast.ClassDef, Class] = {}
        self._attributes: dict[tuple[ast.ClassDef, str], Value | None] = {}
        self._efforts: dict[tuple[ast.ClassDef, str], Effort] = {}
        self._asking: dict[tuple[ast.ClassDef, str], Value] = {}
        """The attributes that are being looked for, with what was found so far."""

    def of(self, node: ast.ClassDef) -> Class:
        """Return what is known of a class."""
        if node not in self._known:
            known = Class(self._file, node, self._file.known_as(node), ())
            self._known[node] = known
            values = [self._base(node, each) for each in node.bases]
            known.bases = tuple(dict.fromkeys(name for value in values for name in sorted(value.names)))
            for name in known.bases:
                base = self._named(name)
                if base is not None and base.complete:  # else it derives from this one, which no class can
                    known.above.append(base)
            read_body(known)
            known.complete = True
        return self._known[node]

    def _base(self, node: ast.ClassDef, base: ast.expr) -> Value:
        """Return what a base class is; of a generic one, ``Dataset[int]``, what it is without its types."""
        value = self._file.outside(node, base)
        return self._base(node, base.value) if isinstance(base, ast.Subscript) and not value.names else value

    def around(self, node: ast.AST) -> Class | None:
        """Return the class of this file in whose body a node stands; None outside of classes."""
        owner = self._file.index.nearest(node, ast.ClassDef)
        return self.of(owner) if owner is not None else None

    def base_mentions_accelerators(self, node: ast.AST) -> bool:
        """Whether a method stands in a class that derives from one of another file, and that file names a device."""
        known = self.around(node)
        return known is not None and any(each.home.mentions_accelerators for each in known.line())

    def module_lineage(self, node: ast.ClassDef) -> tuple[tuple[AstIndex, ast.ClassDef], ...]:
        """Return the texts of a class and of its bases in the project; none unless `nn.Module` is all else."""
        line = self.of(node).line()
        outer = {name for each in line for name in each.bases if self._named(name) is None}
        known = (len(each.bases) == len(each.node.bases) and not each.node.keywords for each in line)
        if outer != {"torch.nn.Module"} or not all(known) or any(each.node.decorator_list for each in line):
            return ()
        return self.lineage(node)

    def lineage(self, node: ast.ClassDef) -> tuple[tuple[AstIndex, ast.ClassDef], ...]:
        """Return the texts of a class and of those of its bases that the project has."""
        return tuple((each.home.index, each.node) for each in self.of(node).line())

    def ancestry(self, node: ast.ClassDef) -> frozenset[tuple[str | None, str]]:
        """Return a class and those of the project that it derives from, each by the path of its file and its name."""
        places = ((each.home.place, each.node.name) for each in self.of(node).line())
        return frozenset((place.path if place is not None else None, name) for place, name in places)

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
        is_plain = function.name == CONSTRUCTOR and bool(self.module_lineage(owner))  # whose constructors are all seen
        is_new = is_plain and not any(map(_moves_itself, known.line()))
        value = self._object(known, Device.HOST if is_new else ANY_DEVICE)  # nobody has had it, to move it
        arguments = positional_parameters(function)
        if not known.is_module or not arguments or is_new:
            return value
        text = "{code} is a module: whoever made it may have moved it to an accelerator"
        return value.having(why_device=Reason(text, arguments[0], weak=True))

    def _object(self, known: Class, place: Device) -> Value:
        instance = frozenset((known.name,))
        if known.is_module:
            return Value(Kind.MODULE, Grad.ATTACHED, place, Dtype(0), instance=instance)
        if known.is_tensor:
            return Value(Kind.TENSOR, instance=instance)
        return of_kind(Kind.OTHER, instance=instance)

    def made(self, node: ast.ClassDef, given: Arguments) -> Value:
        """Return the object that calling a class of this file makes."""
        known = self.of(node)
        place = ANY_DEVICE if _moves_itself(known) else Device.HOST
        value = self._object(known, place)
        if known.holds_fields:
            return self._filled(known, given, value) if not given.starred else value
        kept = self._kept(known, given, value)
        return value.having(keys=tuple(sorted(kept.items(), key=lambda each: each[0]))) if kept else value

    def _filled(self, known: Class, given: Arguments, made: Value) -> Value:
        """Return an object whose annotated fields are what the call gives, in their order."""
        fields = known.all_fields()
        keys = dict(zip(fields, given.positional, strict=False))
        keys |= {word: each for word, each in given.keywords.items() if word in fields}
        for word, (home, statement) in fields.items():
            if word not in keys and known.is_named_tuple and statement.value is not None:
                keys[word] = home.toplevel.evaluate(statement.value)
            elif word in keys and keys[word].vague and isinstance(statement, ast.AnnAssign):
                keys[word] = home.toplevel.annotated(statement.annotation) or keys[word]
        if known.is_named_tuple and len(keys) == len(fields):
            in_order = {word: keys[word] for word in fields}
            return made.having(kind=Kind.SEQUENCE, keys=tuple(in_order.items()), items=tuple(in_order.values()))
        if (after := known.method("__post_init__")) is not None:
            home, method = after
            made = made.having(keys=tuple(keys.items()))
            attributes = home.summaries.attributes(method, Arguments(given.node), made)
            mine = {word for word in attributes if {each.name for _, each in known.set_by(word)} == {method.name}}
            keys = {word: each for word, each in keys.items() if word not in known.setters} | {
                word: join(attributes[word], keys.get(word, NOTHING)) for word in sorted(mine)
            }
        return made.having(keys=tuple((word, each) for word, each in keys.items() if _stays(known, word)))

    def replaced(self, receiver: Value, given: Arguments) -> Value | None:
        """Return a named tuple with some of its fields replaced; None for other objects."""
        known = [self._named(name) for name in receiver.instance]
        if len(known) != 1 or known[0] is None or not known[0].is_named_tuple:
            return None
        return with_fields(receiver, given)

    def _kept(self, known: Class, given: Arguments, made: Value) -> dict[str, Value]:
        """Return the attributes that only constructors set, as they set them for these arguments."""
        found = known.method("__init__")
        if found is None or given.starred or known.is_dataset or not _has_parameters(found[1]):
            return {}
        words = known.constructed
        if not words:
            return {}
        home, start = found
        attributes = home.summaries.attributes(start, given, made)
        told = {word: attributes[word] for word in words & attributes.keys() if not attributes[word].unknown}
        return {word: value for word, value in told.items() if not self._is_filled_elsewhere(known, word, value)}

    def constructed_by(self, start: Function) -> frozenset[str]:
        """Return the attributes that a constructor of this file, and those that it may call, set."""
        known = self.around(start)
        lines = known.line() if known is not None else ()
        setters = ((word, method) for each in lines for word, methods in each.setters.items() for method in methods)
        return frozenset(word for word, method in setters if method.name == start.name)

    def instance_of(self, names: frozenset[str]) -> Value | None:
        """Return an object of a class of the project, as an annotation names it; None for other names."""
        known = [self._named(name) for name in names]
        if len(known) != 1 or known[0] is None:
            return None
        return self._object(known[0], ANY_DEVICE)

    def methods(self, base: Value, word: str) -> list[tuple[File, Function]]:
        """Return what a method of an object may be, with the files; none where one of its classes does not say.

        Of ``super()`` it is the method that follows in the order of the object's own class.
        """
        after = self._around_super(base)
        names = base.self_value.instance if after is not None and base.self_value is not None else base.instance
        found: list[tuple[File, Function]] = []
        for name in sorted(names):
            known = self._named(name)
            if after is not None and (known is None or after not in known.line()):
                known = after
            method = known.method(word, after) if known is not None else None
            if method is None:
                return []
            found.append(method)
        return found

    def as_seen_by(self, method: Function, receiver: Value) -> Value:
        """Return an object as a method of this file sees it: of several classes those that have the method."""
        around = self._file.index.parents.get(method)
        if len(receiver.instance) < 2 or not isinstance(around, ast.ClassDef):
            return receiver
        lines = {name: known.line() for name in receiver.instance if (known := self._named(name)) is not None}
        of_method = {name for name, line in lines.items() if any(each.node is around for each in line)}
        mine = receiver.instance - (lines.keys() - of_method)
        return receiver.having(instance=mine) if of_method and mine != receiver.instance else receiver

    def _around_super(self, base: Value) -> Class | None:
        """Return the class in whose body ``super()`` stands; None for other values."""
        if base.self_value is None or not isinstance(base.node, ast.ClassDef):
            return None
        return self.of(base.node) if base.node in self._file.index.parents else None

    # ------------------------------------------------------------------ attributes
    def forget(self) -> None:
        """Forget what was found of attributes."""
        self._attributes.clear()

    def member(self, node: ast.ClassDef, word: str) -> Value | None:
        """Return ``Class.word``."""
        known = self.of(node)
        if (found := known.method(word)) is not None:
            return _bound(*found, None)
        return self.field(known, word, UNKNOWN)

    def attribute(self, base: Value, word: str) -> Value | None:
        """Return an attribute of an object; None where its classes are not of the project or do not say."""
        found: Value = NOTHING
        if self._around_super(base) is not None and (methods := self.methods(base, word)):
            return join_all(_taken(home, method, object_of(base)) for home, method in methods)
        for name in sorted(base.instance):
            known = self._named(name)
            value = self._of_class(known, word, base) if known is not None else None
            if value is None:
                return None
            found = join(found, value)
        return found if found.kind else None

    def _of_class(self, known: Class, word: str, base: Value) -> Value | None:
        """Return an attribute of an object of one class; None where the class does not say."""
        if (found := known.method(word)) is not None:
            home, method = found
            return _taken(home, method, home.classes.as_seen_by(method, base))
        value = self._set(known, word)
        if value is not None and value.items == () and self._is_filled_out_of_sight(known, word):
            value = value.having(items=None, member=UNKNOWN)
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
        if key in self._attributes and self._file.project.may_add(self._efforts[key]):
            rounds.used(self._attributes, key)
            return self._attributes[key]
        return rounds.settle(lambda: self._collected(known, word))

    def _collected(self, known: Class, word: str) -> Value | None:
        """Collect what an attribute is set to, and keep it unless a budget cut it short."""
        key, rounds = (known.node, word), self._file.project.rounds
        self._asking[key] = NOTHING
        try:
            with self._file.project.collecting() as effort:
                found = self._collect(known, word)
        finally:
            del self._asking[key]
        if found is not None and found.must(Kind.NONE):
            found = UNKNOWN  # a placeholder: it is set from outside
        if not effort.short or not self._file.project.abroad:
            self._attributes[key], self._efforts[key] = found, effort
            rounds.keep(self._attributes, key)
        rounds.found(key, found if found is not None else NOTHING)
        return found

    def _collect(self, known: Class, word: str) -> Value | None:
        """Join what the methods and bodies of a class and of those above it set an attribute to; None for nothing."""
        found = UNKNOWN if any(word in each.loose for each in known.line()) else NOTHING
        setting = known.set_by(word)
        for home, method in _walked_for(known, word, setting):
            found = join(found, self.set_in(home, method, word))
            self._asking[known.node, word] = found
        for each in known.line():
            field_value = each.home.classes.field(each, word)
            if field_value is not None:
                if not (field_value.must(Kind.NONE) and found.kind):
                    found = join(found, field_value)
                break
        if not found.kind:
            return UNKNOWN if setting else None
        found = self._as_filled(known, word, found)
        if found.grad == Grad.DETACHED and is_moved_along(found) and _may_revive(known):
            return after_grad_request(found, nn.MAYBE_FROZEN) or found
        return found

    def _is_filled_elsewhere(self, known: Class, word: str, value: Value) -> bool:
        """Whether others may put something into what a constructor set: it is empty, or they are seen to."""
        return value.items == () or (value.may(Kind.SEQUENCE) and self._is_seen_filled(known, word))

    def _is_seen_filled(self, known: Class, word: str) -> bool:
        return any(word in home.index.told(filled_in, home.index.tree) for home in (known.home, self._file))

    def _is_filled_out_of_sight(self, known: Class, word: str) -> bool:
        """Whether others must fill a container that nothing in sight fills, what is being walked at this moment too."""
        return not self._is_seen_filled(known, word) and not any(
            _is_under_way(each, method) for each, method in known.set_by(word)
        )

    def _as_filled(self, known: Class, word: str, found: Value) -> Value:
        """Return an attribute after what others put into it, as far as this file and the one of its class show it."""
        if not found.may(Kind.SEQUENCE):
            return found
        for home in dict.fromkeys((known.home, self._file)):
            for place in home.index.told(filled_in, home.index.tree).get(word, ()):
                for key in filling_keys(known, word):
                    put = set_in(home.toplevel.flow, key) if place is None else self.set_in(home, place, key)
                    found = join(found, put)
        return found

    def set_in(self, home: File, method: Function, word: str) -> Value:
        """Return what a method sets an attribute of ``self`` to, whoever calls it."""
        if home.is_running(method):
            return home.set_so_far(method, word)
        project = self._file.project
        if home.knows(method) or project.affords(home):
            found = set_in(home.general(method), word)
            if method not in home.efforts or project.may_add(home.efforts[method]):
                return found
        project.effort.short = True
        return UNKNOWN

    def field(self, known: Class, word: str, otherwise: Value = NOTHING) -> Value | None:
        """Return what the body of a class of this file says of an attribute; ``otherwise``, or None, for nothing."""
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


def _is_under_way(known: Class, method: Function) -> bool:
    """Whether a method, or a function inside it that sets attributes of its object, is being walked."""
    inner = known.home.index.told(setting_inside, method)
    return any(known.home.is_running(each) for each in (method, *inner))


def _bound(home: File, method: Function, receiver: Value | None) -> Value:
    return of_kind(Kind.OTHER, names=frozenset((home.known_as(method),)), self_value=receiver)


def _taken(home: File, method: Function, receiver: Value) -> Value:
    """Return a method taken from an object, or what a property gives."""
    if any("property" in each.lower() for each in decorator_words(method)):
        return home.summaries.of(method, Arguments(method), receiver, Mode.ON, (0, None))
    return _bound(home, method, receiver)


def object_of(receiver: Value) -> Value:
    """Return the object that methods are bound to: that of ``super()`` is the one of the method around."""
    is_super = isinstance(receiver.node, ast.ClassDef) and receiver.self_value is not None
    return receiver.self_value if is_super and receiver.self_value is not None else receiver


def _stays(known: Class, word: str) -> bool:
    return all(method.name == "__post_init__" for _, method in known.set_by(word))


def _walked_for(known: Class, word: str, setting: list[tuple[Class, Function]]) -> Iterator[tuple[File, Function]]:
    """Yield the methods whose walks say what an attribute is set to.

    A constructor says too what those above set that it calls: their own walks, for any arguments, do not count then.
    """
    sets = [(each, method) for each, method in setting if (word, method) in each.sets]
    start = known.method(CONSTRUCTOR)
    constructors = [each for each in sets if each[1].name == CONSTRUCTOR]
    if start is not None and constructors:
        yield start
    yield from ((each.home, method) for each, method in sets if method.name != CONSTRUCTOR)


def moved_along(value: Value, base: Value, word: str) -> Value:
    """Put a module's submodules, parameters and buffers where the module is."""
    if not base.must(Kind.MODULE) or not value.kind:
        return _from_class(value, word)
    if is_moved_along(value):
        value = moved_with(base, value)
        if base.grad == Grad.DETACHED:  # frozen as a whole
            value = value.having(grad=Grad.DETACHED, why_grad=None)
        else:  # frozen in part, or asked to require grad again
            asked = Grad.ATTACHED if base.grad & nn.SOME_LIVE == nn.SOME_LIVE else Grad(0)
            value = value.having(grad=value.grad | asked | (base.grad & Grad.DETACHED))
    return _from_class(value, word)


def _from_class(value: Value, word: str) -> Value:
    def step(reason: Reason | None) -> Reason | None:
        return Reason(f"`self.{word}` holds it", None, reason, weak=True) if reason is not None else None

    return value.having(why_grad=step(value.why_grad), why_device=step(value.why_device))


def _moves_itself(known: Class) -> bool:
    found = known.method(CONSTRUCTOR)
    return found is not None and found[0].index.told(_names_a_device, found[1])


def _may_revive(known: Class) -> bool:
    """Whether a method of a class may ask all that its objects hold to require grad again, whenever it is called."""
    return any(
        method.name != CONSTRUCTOR and each.home.index.told(may_unfreeze, method)
        for each in known.line()
        for method in each.methods.values()
    )


def _has_parameters(method: Function) -> bool:
    args = method.args
    return len(args.posonlyargs) + len(args.args) > 1 or bool(args.kwonlyargs or args.vararg or args.kwarg)


def _names_a_device(index: AstIndex, function: Function) -> bool:
    return any(each.attr in ("to", "cuda", "device") for each in index.inside(function, ast.Attribute))
