"""What an object, a class or a module of the project has under a word."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.evaluation.class_families import PROPERTIES
from torchlint.models import descent, dispatch
from torchlint.models.stated_types import stated
from torchlint.semantic.graph import (
    ATTR,
    CALL,
    COMPREHENSION,
    DICT,
    EFFECT,
    FUNCTION,
    GROW,
    PI,
    SEQUENCE,
    SPREAD,
    ClassGraph,
    FunctionGraph,
    Node,
)
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.abstract import BOTTOM, Abstract, join, unknown
from torchlint.values.asking import ANY_ELEMENT, Oracle, Path, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import (
    ClassRef,
    FunctionRef,
    InstanceRef,
    LibraryInstanceRef,
    LibraryRef,
    MethodRef,
    ModuleRef,
    Reference,
    SuperRef,
)

if TYPE_CHECKING:
    from torchlint.evaluation.class_families import ClassFamily, Stored
    from torchlint.evaluation.evaluator import Evaluator


# ---------------------------------------------------------------------- objects without a known making
def own_object(ev: Evaluator, method: FunctionGraph) -> Abstract:
    """Return what the first parameter of a method is where no call says more."""
    assert method.cls is not None
    if method.is_class_method:
        return a.of_kind(a.OTHER, frozenset({ClassRef(method.cls)}))
    made = any_object(ev, method.cls)
    return made.on_host() if _is_building(ev, method) else made


def _is_building(ev: Evaluator, method: FunctionGraph, depth: int = 3) -> bool:
    """Whether a method runs while its object is made, by all calls that are known: nobody has had it, to move it."""
    if method.name == "__init__" or ev.oracle is not Oracle.CALLERS or not depth:
        return method.name == "__init__"
    calls = [each.call.fn for each in ev.known_callers(method)[0]]
    return bool(calls) and all(_is_building(ev, each, depth - 1) for each in calls)


def any_object(ev: Evaluator, cls: ClassGraph) -> Abstract:
    """Return any object of a class: who holds a module may have moved it."""
    family = ev.family(cls)
    kind = a.MODULE if family.is_module else a.OTHER | a.MODULE if family.is_open else a.OTHER
    grad, device = (a.SURE, a.SAFE | a.OF_CLASS) if family.is_module else (0, 0)
    return Abstract(kind, grad, device, 0, 0, frozenset({InstanceRef(cls)}))


# ---------------------------------------------------------------------- attributes
def attribute_of(ev: Evaluator, owner: Abstract, word: str, path: Path, at: Node, context: Context | None) -> Abstract:
    """Return an attribute of a value, and what a path leads to from there."""
    if not owner.kind:
        return BOTTOM
    value = BOTTOM
    for reference in owner.references:
        found = _of_reference(ev, owner, reference, word, path, at, context)
        if found is not None:
            value = join(value, found)
    if value.kind and owner.kind != a.ANY:
        return value
    if word == "data" and owner.kind & (a.OTHER | a.MODULE) and not ev.presumes(Presumption.METHOD):
        return descent.descend(unknown(a.OF_ATTR, at), path)  # what else has a `data` has anything there
    return join(value, descent.descend(descent.plain_attribute(owner, word, at), path))


def _of_reference(
    ev: Evaluator, owner: Abstract, reference: Reference, word: str, path: Path, at: Node, context: Context | None
) -> Abstract | None:
    match reference:
        case InstanceRef():
            return _of_instance(ev, owner, reference, word, path, at)
        case ClassRef(cls):
            return _of_class(ev, cls, word, path, at)
        case ModuleRef(base):
            return module_attribute(ev, base, word, path, at)
        case LibraryRef() | LibraryInstanceRef():
            return dispatch.library_attribute(ev, owner, reference, word, path, at, context)
        case SuperRef(_, owners):
            instances = frozenset(each for each in owners if isinstance(each, InstanceRef))
            return attribute_of(ev, owner.but(references=instances), word, path, at, context) if instances else None
        case _:
            return None


def _of_instance(ev: Evaluator, owner: Abstract, reference: InstanceRef, word: str, path: Path, at: Node) -> Abstract:
    """Return what an object of the project has under a word: all that its methods put there, and what its class has."""
    family = ev.family(reference.cls)
    value = BOTTOM
    for each in family.stores(word):
        inner = _inside(ev, each, reference, owner)
        if ev.feasible(each.store.guards, inner):
            value = join(value, ev.value(each.store.value, path, inner))
    value = join(value, _by_class_bodies(ev, family, owner, reference, word, path, at, is_stored=value.kind != 0))
    if value.kind and _may_be_filled_elsewhere(ev, family.stores(word), path):
        value = join(value, descent.descend(unknown(a.OF_CLASS, at), path))
    if value.kind:
        is_buffer = any(each.store.is_part for each in family.stores(word))
        return _moved_with(owner, family, value, is_part=is_buffer)
    return _unstored(ev, family, owner, word, path, at)


def _may_be_filled_elsewhere(ev: Evaluator, stored: list[Stored], path: Path) -> bool:
    """Whether a path leads into a list or dict, into which whoever holds the object may put something, in a proof."""
    is_item = bool(path) and not (isinstance(path[0], str) and path[0][:1] == ".")
    return is_item and not ev.presumes(Presumption.KEPT) and any(_is_changeable(each.store.value) for each in stored)


def _is_changeable(node: Node) -> bool:
    while node.op in (EFFECT, GROW, PI, SPREAD):
        node = node.ins[0]
    return node.op in (DICT, COMPREHENSION) or (node.op == SEQUENCE and node.data != "tuple")


def _by_class_bodies(
    ev: Evaluator,
    family: ClassFamily,
    owner: Abstract,
    reference: InstanceRef,
    word: str,
    path: Path,
    at: Node,
    *,
    is_stored: bool,
) -> Abstract:
    value = BOTTOM
    for cls in family.lineage:
        if word in cls.annotations and not is_stored and family.method("__init__") is None:
            given = _given(ev, family, reference, word, path)
            if given is not None:  # in place of the default
                return given
        for each in cls.attributes.get(word, ()):
            if each.op != FUNCTION:
                value = join(value, ev.value(each, path))
        method = cls.methods.get(word)
        if method is not None:
            return join(value, _of_method(ev, method, owner, reference, path))
        if word in cls.annotations and not value.kind and not is_stored:
            value = join(value, _field(ev, cls, word, path, at))
    return value


def _of_method(ev: Evaluator, method: FunctionGraph, owner: Abstract, reference: InstanceRef, path: Path) -> Abstract:
    if not PROPERTIES.isdisjoint(lower(method).signs):
        own = owner.but(references=frozenset({reference}))
        return ev.returned(method, path, ev.enter(None, method, None, own))
    return BOTTOM if path else a.of_kind(a.OTHER, frozenset({MethodRef(method, reference)}))


def _moved_with(owner: Abstract, family: ClassFamily, value: Abstract, *, is_part: bool) -> Abstract:
    """Return a part of a module where the module was frozen, or may have been moved, as a whole."""
    evidence = owner.device & ~a.SAFE
    is_part |= value.kind == a.MODULE or any(
        isinstance(each, LibraryInstanceRef) and each.name.endswith("Parameter") for each in value.references
    )
    if not family.is_module or not is_part:
        return value
    if owner.grad == a.SAFE:
        value = value.but(grad=a.SAFE, grad_from=None)
    if not evidence:
        return value
    was = value.device if owner.device & a.SAFE else 0  # else it was moved surely
    return value.but(device=was | evidence, device_from=owner.device_from or value.device_from)


def _unstored(ev: Evaluator, family: ClassFamily, owner: Abstract, word: str, path: Path, at: Node) -> Abstract:
    if family.is_module and word == "training":
        return a.A_NUMBER
    if family.is_module and word == "device":
        return Abstract(a.DEVICE, 0, a.SAFE | a.OF_CLASS, 0, 0, device_from=at)
    for base in family.libraries:
        if base.startswith(("torch.nn.", "torch.optim.")) and base != "torch.nn.Module":
            own = owner.but(references=frozenset({LibraryInstanceRef(base)}))
            if base.endswith("Parameter"):
                own = a.tensor(a.SAFE | a.OF_CLASS, a.SAFE | a.OF_CLASS, grad_from=at, device_from=at)
            return ev.attribute_of(own, word, path, at, None)
    method = family.method("__getattr__")
    if method is not None:
        return ev.returned(method, path, None)
    return descent.descend(unknown(a.OF_ATTR, at), path)


def _inside(ev: Evaluator, stored: Stored, reference: InstanceRef, owner: Abstract) -> Context | None:
    """Return the context in which a method stored something: the making of the object, along ``super().__init__``.

    For other methods, and objects of which nobody knows who made them, the object alone is known.
    """
    own = Abstract(owner.kind, 0, 0, 0, 0, frozenset({reference}))
    if stored.method.cls is None:  # a function inside of a method
        return None
    if stored.method.name != "__init__" or reference.made is None or reference.made.op != "call":
        return None if reference.made is None else ev.enter(None, stored.method, None, own)
    makers = [cls.methods["__init__"] for cls in ev.family(reference.cls).lineage if "__init__" in cls.methods]
    context: Context | None = ev.enter(reference.made, makers[0], reference.context, own)
    for maker, following in zip(makers, [*makers[1:], None], strict=True):
        if maker is stored.method:
            return context
        calls = [each for each in lower(maker).calls if each.ins[0].op == ATTR and each.ins[0].data == "__init__"]
        if len(calls) != 1 or following is None:
            return ev.enter(None, stored.method, None, own)
        is_super = calls[0].ins[0].ins[0].op == CALL  # `Base.__init__(self, ...)` hands the object over itself
        context = ev.enter(calls[0], following, context, own if is_super else None, is_part=True)
    return None


def _given(ev: Evaluator, family: ClassFamily, reference: InstanceRef, word: str, path: Path) -> Abstract | None:
    """Return what the maker of a dataclass or a named tuple was given for a field; None where nothing was."""
    made = reference.made
    if made is None or made.op != "call":
        return None
    given, place = made.arguments, family.fields.index(word)
    if word in given.keywords:
        return ev.value(given.keywords[word], path, reference.context)
    if given.starred:
        return ev.value(given.positional[min(given.starred)], (ANY_ELEMENT, *path), reference.context)
    return ev.value(given.positional[place], path, reference.context) if place < len(given.positional) else None


def _field(ev: Evaluator, cls: ClassGraph, word: str, path: Path, at: Node) -> Abstract:
    """Return a field of a dataclass or a named tuple by its annotation."""
    said = stated(ev, cls.annotations[word], path) if ev.presumes(Presumption.ANNOTATION) else None
    if said is None:
        return descent.descend(unknown(a.OF_ATTR, at), path)
    if said.kind & a.TENSOR:
        return said.but(grad=a.SAFE | a.OF_ATTR, device=a.SAFE | a.OF_ATTR, grad_from=at, device_from=at)
    return said


# ---------------------------------------------------------------------- classes and modules
def _of_class(ev: Evaluator, cls: ClassGraph, word: str, path: Path, at: Node) -> Abstract:
    family = ev.family(cls)
    for each in family.lineage:
        if word in each.methods and not path:
            return a.of_kind(a.OTHER, frozenset({FunctionRef(each.methods[word])}))
        value = ev.join_of(each.attributes.get(word, ()), path, None)
        if value.kind:
            return a.A_THING if family.derives_from("Enum") else value
    return descent.descend(unknown(a.OF_ATTR, at), path)


def module_attribute(ev: Evaluator, base: str, word: str, path: Path, at: Node) -> Abstract:
    """Return what a module of the project has under a name, or the module of the name inside of it."""
    file = ev.program.at(base)
    if file is not None:
        value = ev.value(file.export(word), path)
        if value.kind:
            return value
    inner = os.path.join(base, word)
    if ev.program.exists(inner):
        return ev.along(a.of_kind(a.OTHER, frozenset({ModuleRef(inner)})), path, at, None)
    return descent.descend(unknown(a.OF_ATTR, at), path)
