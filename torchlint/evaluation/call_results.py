"""What calls give: functions, methods, classes and objects of the project; tables answer for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchlint.evaluation.call_graph import called_method, super_method
from torchlint.evaluation.class_families import PROPERTIES
from torchlint.evaluation.host_sides import on_side
from torchlint.models import dispatch
from torchlint.models.container_methods import CONTAINER_METHODS, CONTAINER_READS
from torchlint.models.module_results import MODULE_METHODS
from torchlint.models.operation_sets import METHODS
from torchlint.models.stated_types import stated
from torchlint.models.unknown_results import unknown_call
from torchlint.semantic.graph import ATTR, CALL, CallArguments, ClassGraph, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, A_THING, BOTTOM, NOTHING, Abstract, join, unknown
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import (
    ClassRef,
    FunctionRef,
    InstanceRef,
    LibraryInstanceRef,
    LibraryRef,
    MethodRef,
    ModuleRef,
    PartialRef,
    Reference,
    SuperRef,
)

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

_MANAGERS: Final = frozenset({"contextmanager", "asynccontextmanager"})
_KNOWN: Final = METHODS | MODULE_METHODS | CONTAINER_METHODS | CONTAINER_READS
"""Words of methods that say more than the name of what they are called on."""
_UNWRITTEN: Final = frozenset({"overload", "abstractmethod"})


def call(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a call gives along a path."""
    function = node.ins[0]
    if function.op != ATTR:
        return call_of(ev, ev.value(function, (), context), node, path, context)
    owner = ev.value(function.ins[0], (), context)
    if not owner.kind:
        return BOTTOM
    value, answered = _by_objects(ev, owner, str(function.data), node, path, context)
    rest = owner.kind & ~answered
    if not rest:
        return value
    if not owner.references and owner.kind & a.MODULE and str(function.data) not in _KNOWN and _is_network(ev, node):
        return dispatch.network_call(CallSite(ev, node, context), path, owner)
    left = owner if rest == owner.kind else owner.but(kind=rest)
    return join(value, dispatch.method_call(CallSite(ev, node, context), left, str(function.data), path))


def _is_network(ev: Evaluator, node: Node) -> bool:
    return ev.presumes(Presumption.NETWORK) and ev.seems_network(node)


# ---------------------------------------------------------------------- functions
def returned(ev: Evaluator, function: FunctionGraph, path: Path, context: Context | None) -> Abstract:
    """Return what a function gives along a path, in a context."""
    lower(function)
    if not _UNWRITTEN.isdisjoint(function.signs):
        return _by_annotation(ev, function, path, context)
    if function.yields and _MANAGERS.isdisjoint(function.signs):
        return _generated(ev, function, path, context)
    value, is_reached = BOTTOM, False
    for each in function.returns:
        if ev.feasible(each.guards, context):
            is_reached = True
            value = join(value, on_side(ev, ev.value(each.value, path, context), each.guards, context))
    if function.end is not None and ev.feasible(function.end.guards, context):
        if not function.returns and is_stub(function):
            return _by_annotation(ev, function, path, context)
        if not path:
            value = join(value, NOTHING)
    if value.kind == a.ANY and not value.references and ev.presumes(Presumption.ANNOTATION):
        return _as_annotated(ev, function, path, value)
    return value if value.kind or is_reached or function.returns else _by_annotation(ev, function, path, context)


def _as_annotated(ev: Evaluator, function: FunctionGraph, path: Path, value: Abstract) -> Abstract:
    """Return something unknown that a function gives as what its annotation says, with the evidence that it has."""
    said = stated(ev, function.returns_annotation, path)
    if said is None or not said.kind:
        return value
    if not said.kind & a.CARRIES:
        return said
    return value.but(kind=said.kind, dtype=said.dtype, rank=said.rank, references=said.references)


def _by_annotation(ev: Evaluator, function: FunctionGraph, path: Path, context: Context | None) -> Abstract:
    said = stated(ev, function.returns_annotation, path) if ev.presumes(Presumption.ANNOTATION) else None
    at = next((each for each in function.nodes if each.state is not None), None)
    if said is None:
        return unknown(a.OF_CALL, at)
    if said.kind & a.CARRIES:
        made = said.but(grad=a.SAFE | a.OF_CALL, device=a.SAFE | a.OF_CALL, grad_from=at, device_from=at)
        return ev.under(made, at, context) if at is not None else made
    return said


def _generated(ev: Evaluator, function: FunctionGraph, path: Path, context: Context | None) -> Abstract:
    if not path:
        return A_SEQUENCE
    if path[0] != ANY_ELEMENT and not isinstance(path[0], int):
        return A_THING
    value = BOTTOM
    for each in function.yields:
        if ev.feasible(each.guards, context):
            value = join(value, ev.value(each.value, path[1:], context))
    return value


def is_stub(function: FunctionGraph) -> bool:
    """Whether a function does nothing that is known: an abstract method, a declaration."""
    return (
        not function.calls
        and not function.stores
        and not function.writes
        and all(each.op in ("const", "entry", "param") for each in function.nodes)
    )


def invoke(
    ev: Evaluator,
    function: FunctionGraph,
    node: Node,
    path: Path,
    context: Context | None,
    receiver: Abstract | None = None,
    made: Context | None = None,
) -> Abstract:
    """Return what a call of a function gives; ``node`` may be no call: then nothing is known of its arguments."""
    if node.op == CALL:
        return returned(ev, function, path, ev.enter(node, function, context, receiver, made))
    return returned(ev, function, path, ev.enter(None, function, None, receiver, made))


# ---------------------------------------------------------------------- methods
def _by_objects(
    ev: Evaluator, owner: Abstract, word: str, node: Node, path: Path, context: Context | None
) -> tuple[Abstract, int]:
    """Return what a method gives by what the owner is known to be, and the kinds that this answers for."""
    value, answered = BOTTOM, 0
    for reference in owner.references:
        found = _by_object(ev, owner, reference, word, node, path, context)
        if found is not None:
            value = join(value, found)
            is_object = isinstance(reference, InstanceRef | SuperRef | LibraryInstanceRef)
            answered |= (owner.kind & (a.OTHER | a.MODULE) or owner.kind) if is_object else a.OTHER
    if answered and owner.kind == a.ANY:
        answered = a.OTHER | a.MODULE if answered & (a.OTHER | a.MODULE) else answered
    return value, answered


def _by_object(
    ev: Evaluator, owner: Abstract, reference: Reference, word: str, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    match reference:
        case InstanceRef():
            return _by_instance(ev, owner.but(references=frozenset({reference})), reference, word, node, path, context)
        case ClassRef(cls):
            return _by_class(ev, reference, cls, word, node, path, context)
        case ModuleRef():
            return call_of(ev, ev.attribute_of(owner, word, (), node.ins[0], context), node, path, context)
        case LibraryRef(name):
            return dispatch.library_call(CallSite(ev, node, context), f"{name}.{word}", path)
        case SuperRef(cls, owners):
            found = [(each, super_method(ev, cls, each, word)) for each in owners]
            value = BOTTOM
            for each, method in found:
                if method is not None:
                    own = Abstract(owner.kind, owner.grad, owner.device, 0, 0, frozenset({each}))
                    value = join(value, invoke(ev, method, node, path, context, own))
            return value if any(method for _, method in found) else None
        case _:
            return None


def _by_instance(
    ev: Evaluator, own: Abstract, reference: InstanceRef, word: str, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    family = ev.family(reference.cls)
    method = family.method(word)
    if method is None:
        if not family.stores(word) and not any(word in cls.attributes for cls in family.lineage):
            return None
        part = ev.attribute_of(own, word, (), node.ins[0], context)
        found = call_of(ev, part, node, path, context)
        if family.is_module and part.kind == a.ANY and own.device & (a.SURE | a.OPTION):  # it was moved with the whole
            return found.but(device=found.device | own.device, device_from=own.device_from)
        return found
    if not PROPERTIES.isdisjoint(lower(method).signs):
        target = returned(ev, method, (), ev.enter(None, method, None, own))
        return call_of(ev, target, node, path, context)
    if method.is_static:
        return invoke(ev, method, node, path, context)
    if method.is_class_method:
        return invoke(ev, method, node, path, context, a.of_kind(a.OTHER, frozenset({ClassRef(reference.cls)})))
    if method.decorated is not None and (wrapped := _by_wrapper(ev, method, node, path, context)) is not None:
        return wrapped
    if family.children and is_stub(method) and not method.returns:
        return _by_children(ev, own, family.children, method, word, node, path, context)
    return invoke(ev, method, node, path, context, own)


def _by_children(
    ev: Evaluator,
    own: Abstract,
    children: list[ClassGraph],
    method: FunctionGraph,
    word: str,
    node: Node,
    path: Path,
    context: Context | None,
) -> Abstract:
    """Return what an abstract method gives: the join of what subclasses of the file make of it."""
    value = BOTTOM
    for other in _overriding(ev, children, method, word):
        value = join(value, invoke(ev, other, node, path, context, own))
    return value if value.kind else invoke(ev, method, node, path, context, own)


def _overriding(ev: Evaluator, children: list[ClassGraph], method: FunctionGraph, word: str) -> Iterator[FunctionGraph]:
    for child in children:
        other = ev.family(child).method(word)
        if other is method:
            yield from _overriding(ev, ev.family(child).children, method, word)
        elif other is not None:
            yield other


def _by_wrapper(
    ev: Evaluator, method: FunctionGraph, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    """Return what a decorated method gives through the function that its decorator made of it."""
    assert method.decorated is not None
    target = ev.value(method.decorated)
    wrappers = [each for each in target.references if isinstance(each, FunctionRef) and each.function is not method]
    if not wrappers or node.op != CALL or node.ins[0].op != ATTR:
        return None
    given = node.arguments
    shifted = CallArguments(
        (node.ins[0].ins[0], *given.positional),
        given.keywords,
        frozenset(at + 1 for at in given.starred),
        given.spread,
        given.spelled,
    )
    whole = ev.derived((node, "with its object"), lambda: Node(CALL, node.ins, shifted, node.at, node.fn, node.state))
    value = BOTTOM
    for each in wrappers:
        value = join(value, invoke(ev, each.function, whole, path, context, None, each.context))
    return value


def _by_class(
    ev: Evaluator, reference: ClassRef, cls: ClassGraph, word: str, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    family = ev.family(cls)
    method = family.method(word)
    if method is not None:
        own = a.of_kind(a.OTHER, frozenset({reference})) if method.is_class_method else None
        return invoke(ev, method, node, path, context, own)
    forward = family.method("forward")
    if word == "apply" and forward is not None and family.derives_from("autograd.Function"):
        return dispatch.custom_function_call(CallSite(ev, node, context), path)
    return None


def returned_by_method(
    ev: Evaluator, owner: Abstract, word: str, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    """Return what a method of the project's objects among a value gives; None where it has none."""
    value, is_found = BOTTOM, False
    for reference in owner.references:
        if isinstance(reference, InstanceRef) and (method := ev.family(reference.cls).method(word)) is not None:
            is_found = True
            own = owner.but(references=frozenset({reference}))
            children = ev.family(reference.cls).children if is_stub(method) and not method.returns else []
            value = join(value, _by_children(ev, own, children, method, word, node, path, context))
    return value if is_found else None


# ---------------------------------------------------------------------- anything that is called
def call_of(ev: Evaluator, target: Abstract, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what calling a value with the arguments of a call gives."""
    if not target.kind:
        return BOTTOM
    value, is_known = BOTTOM, False
    for reference in target.references:
        found = _called(ev, target, reference, node, path, context)
        if found is not None:
            is_known = True
            value = join(value, found)
    if is_known and target.kind != a.ANY:
        return value
    site = CallSite(ev, node, context)
    if target.kind == a.MODULE or (target.kind & a.MODULE and _is_network(ev, node)):
        return join(value, dispatch.network_call(site, path, target))
    return join(value, unknown_call(site, path))


def _called(
    ev: Evaluator, target: Abstract, reference: Reference, node: Node, path: Path, context: Context | None
) -> Abstract | None:
    match reference:
        case FunctionRef(function, made):
            return invoke(ev, function, node, path, context, None, made)
        case MethodRef(function, owner):
            own = None if function.is_static else a.of_kind(target.kind, frozenset({owner}))
            return invoke(ev, function, node, path, context, own)
        case ClassRef(cls):
            return _made(ev, cls, node, path, context)
        case InstanceRef():
            return _called_object(ev, target.but(references=frozenset({reference})), reference, node, path, context)
        case LibraryRef(name):
            return dispatch.library_call(CallSite(ev, node, context), name, path)
        case LibraryInstanceRef():
            own = target.but(references=frozenset({reference}))
            return dispatch.library_object_call(CallSite(ev, node, context), own, reference, path)
        case PartialRef(made, outer):
            return _completed(ev, made, outer, node, path, context)
        case _:
            return None


def _called_object(
    ev: Evaluator, own: Abstract, reference: InstanceRef, node: Node, path: Path, context: Context | None
) -> Abstract:
    method = called_method(ev, reference)
    if method is not None:
        return invoke(ev, method, node, path, context, own)
    base = next((each for each in ev.family(reference.cls).libraries if each.startswith("torch.nn.")), None)
    site = CallSite(ev, node, context)
    if base is not None and base != "torch.nn.Module":
        return dispatch.library_object_call(site, own, LibraryInstanceRef(base), path)
    return dispatch.network_call(site, path, own)


def _completed(
    ev: Evaluator, made: Node, outer: Context | None, node: Node, path: Path, context: Context | None
) -> Abstract:
    """Return what a partial object gives: its function called with the arguments of both calls."""
    first, given = made.arguments, node.arguments
    if not first.positional or made.fn is not node.fn:
        return unknown(a.OF_CALL, node)
    whole = CallArguments(
        (*first.positional[1:], *given.positional),
        {**first.keywords, **given.keywords},
        frozenset(at + len(first.positional) - 1 for at in given.starred),
        (*first.spread, *given.spread),
        given.spelled,
    )
    function = first.positional[0]
    call_made = ev.derived(
        (node, "completed", made), lambda: Node(CALL, (function,), whole, node.at, node.fn, node.state)
    )
    return call_of(ev, ev.value(function, (), outer), call_made, path, context)


def _made(ev: Evaluator, cls: ClassGraph, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return the object that calling a class of the project makes."""
    family = ev.family(cls)
    if family.derives_from("Enum"):
        return A_THING
    kind = a.MODULE if family.is_module else a.OTHER | (a.MODULE if family.is_open else 0)
    if context is not None and context.depth > 2:  # where and by which object it was made is kept, not by which call
        context = ev.enter(None, context.function, None, context.receiver)
    grad, device = (a.SURE, a.SAFE) if family.is_module else (0, a.SAFE if kind & a.MODULE else 0)
    value = Abstract(kind, grad, device, 0, 0, frozenset({InstanceRef(cls, node, context)}))
    if path and isinstance(path[0], int) and family.derives_from("NamedTuple"):
        words = family.fields
        if -len(words) <= path[0] < len(words):
            return ev.attribute_of(value, words[path[0]], path[1:], node, context)
    return ev.along(value, path, node, context)
