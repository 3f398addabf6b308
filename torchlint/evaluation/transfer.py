"""One row for each operation of the graph: what a node of it is worth along a path, in a context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from torchlint.evaluation import (
    argument_passing,
    call_effects,
    call_results,
    host_sides,
    instance_attributes,
    process_state,
)
from torchlint.evaluation.network_names import seems_loader
from torchlint.models import descent, dispatch, inplace_changes, tensor_results, tests_of_values
from torchlint.semantic import graph as g
from torchlint.semantic.graph import CallArguments, FunctionGraph, Mark, Narrowing, Node
from torchlint.semantic.lowering import lower
from torchlint.semantic.module_graph import ModuleGraph
from torchlint.values import abstract as a
from torchlint.values.abstract import A_NUMBER, A_SEQUENCE, A_THING, BOTTOM, Abstract, join, unknown
from torchlint.values.asking import ANY_ELEMENT, OFF, Path, Presumption, Selector
from torchlint.values.contexts import Context
from torchlint.values.references import ClassRef, FunctionRef, InstanceRef, LibraryRef, ModuleRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator

Row = Callable[["Evaluator", Node, Path, Context | None], Abstract]
_IDENTITY: Final = frozenset({"not", "is", "is not", "in", "not in", "chain"})


def selector(key: object) -> Selector:
    """Return the step of a path for a key of the graph."""
    if isinstance(key, Mark):
        return ANY_ELEMENT
    return key if isinstance(key, int) and not isinstance(key, bool) else f"={key}"


def _is_attribute(step: Selector) -> bool:
    return isinstance(step, str) and step[:1] == "."


# ---------------------------------------------------------------------- joins and tests
def phi(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return the join of what may arrive."""
    return ev.join_of(node.ins, path, context)


def gamma(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return one of two ways where the test decides, else their join."""
    assert isinstance(node.data, Node)
    truth = ev.truth(node.data, context)
    if truth is not None:
        return ev.value(node.ins[0 if truth else 1], path, context)
    sides = [
        host_sides.on_side(ev, ev.value(each, path, context), ((node.data, answer),), context)
        for each, answer in zip(node.ins, (True, False), strict=True)
    ]
    return join(*sides)


def pi(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a value narrowed by a test."""
    assert isinstance(node.data, Narrowing)
    value = ev.value(node.ins[0], path, context)
    return tests_of_values.narrow(ev, value, node.data, path, context, lambda: ev.value(node.ins[0], (), context))


def either(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what ``and`` or ``or`` may give."""
    value, decisive, last = BOTTOM, node.data == "or", len(node.ins) - 1
    for at, each in enumerate(node.ins):
        truth = None if at == last else ev.truth(each, context)
        if truth is not None and truth is not decisive:
            continue
        one = ev.value(each, path, context)
        if decisive and at != last and one.kind & a.NONE:
            one = one.but(kind=one.kind & ~a.NONE)
        value = join(value, one)
        if truth is not None:
            break
    return value


def truth(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a comparison gives: a tensor of booleans where tensors are compared."""
    if node.data in _IDENTITY:
        known = ev.truth(node, context)
        return A_NUMBER if known is None else descent.constant(known)
    return descent.descend(
        tensor_results.comparison(ev, [ev.value(e, (), context) for e in node.ins], node, context), path
    )


# ---------------------------------------------------------------------- expressions
def attribute(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return an attribute: what the object was made with, and what a function set that was handed the object."""
    word, owner = str(node.data), node.ins[0]
    value = ev.attribute_of(ev.value(owner, (), context), word, path, node, context)
    return join(value, call_effects.stored_by_calls(ev, owner, word, path, context))


def index(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a subscript gives."""
    owner, key = node.ins[0], node.data
    flat = ev.value(owner, (), context)
    if flat.kind in (a.TENSOR, a.ARRAY, a.STRING):
        return tensor_results.subscripted(ev, flat, node, path, context)
    if key is g.SLICE:
        if not path:
            return flat.plain()
        return ev.value(owner, (ANY_ELEMENT, *path[1:]) if isinstance(path[0], int) else path, context)
    found = ev.returned_by_method(flat, "__getitem__", node, path, context)
    if found is not None:
        return found
    if any(isinstance(each, LibraryRef | ClassRef) for each in flat.references):  # of a generic class
        return flat
    step = selector(key)
    value = ev.value(owner, (step, *path), context)
    if not value.kind and step != ANY_ELEMENT:
        value = ev.value(owner, (ANY_ELEMENT, *path), context)
    if _is_of_loader(ev, owner, flat, value):
        return value.detached().on_host()
    if value.kind or not flat.kind or (path and ev.value(owner, (ANY_ELEMENT,), context).kind):
        return value
    return value if ev.is_waiting else unknown(a.OF_ATTR, node)


def element(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what an iteration gives: what a generator or ``map`` computes for it, in the mode of the iteration."""
    value, source = elements(ev, node.ins[0], path, context), node.ins[0]
    while source.op == g.PI:
        source = source.ins[0]
    is_lazy = source.state is not None and source.state.grad.op == g.OPAQUE
    if is_lazy and value.grad & a.OF_MODE and ev.mode(node, context) == OFF:
        return value.but(grad=value.grad & ~a.OF_MODE | a.SAFE)
    return value


def elements(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a path leads to from what iterating over a node gives."""
    flat = ev.value(node, (), context)
    if flat.kind == a.TENSOR:
        return tensor_results.tensor_element(flat, path, 0)
    found = ev.returned_by_method(flat, "__next__", node, path, context)
    if found is None:
        found = ev.returned_by_method(flat, "__iter__", node, (ANY_ELEMENT, *path), context)
    if found is None:
        found = ev.returned_by_method(flat, "__getitem__", node, path, context)
    value = ev.value(node, (ANY_ELEMENT, *path), context) if found is None else found
    if _is_of_loader(ev, node, flat, value):
        return value.detached().on_host()
    return value


def _is_of_loader(ev: Evaluator, node: Node, flat: Abstract, value: Abstract) -> bool:
    """Whether a member of a value is taken for one of a batch, by the name of what gives the batches."""
    is_open = value.kind & a.TENSOR and not flat.must(a.TENSOR | a.SEQUENCE)
    return bool(is_open) and ev.presumes(Presumption.LOADER) and seems_loader(node)


def item(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what unpacking gives at a position."""
    source = node.ins[0]
    if node.data is None:
        return A_SEQUENCE if not path else ev.value(source, (ANY_ELEMENT, *path[1:]), context)
    assert isinstance(node.data, int)
    value = ev.value(source, (node.data, *path), context)
    if not value.kind and ev.value(source, (), context).kind:
        return ev.value(source, (ANY_ELEMENT, *path), context)
    return value


def operation(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what an operator gives."""
    values = [ev.value(each, (), context) for each in node.ins]
    operator = str(node.data)
    if path and operator in ("+", "+=", "*", "|", "|="):
        holding = [e for e, v in zip(node.ins, values, strict=True) if v.kind & a.SEQUENCE and v.kind != a.ANY]
        if holding and not any(v.kind & (a.TENSOR | a.ARRAY) and v.kind != a.ANY for v in values):
            inner = path if not isinstance(path[0], int) else (ANY_ELEMENT, *path[1:])
            return ev.join_of(holding, inner, context)
    return descent.descend(tensor_results.arithmetic(ev, values, operator, node, context), path)


def sequence(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a display of members, or what a path finds in it."""
    if not path:
        return A_SEQUENCE
    step = path[0]
    if isinstance(step, int):
        return ev.value(node.ins[step], path[1:], context) if -len(node.ins) <= step < len(node.ins) else BOTTOM
    return ev.join_of(node.ins, path[1:], context) if step == ANY_ELEMENT else BOTTOM


def dictionary(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a display of keys and values, or what a path finds in it."""
    if not path:
        return A_SEQUENCE
    keys = node.data
    assert isinstance(keys, tuple)
    step = path[0]
    found = [each for key, each in zip(keys, node.ins, strict=True) if step in (ANY_ELEMENT, selector(key))]
    found = found or [each for key, each in zip(keys, node.ins, strict=True) if key is g.ANYKEY]
    return ev.join_of(found, path[1:], context)


def comprehension(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a comprehension makes, or what a path finds in it."""
    return A_SEQUENCE if not path else ev.value(node.ins[0], path[1:], context)


def enter(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what the ``as`` of a ``with`` binds."""
    manager = node.ins[0]
    found = ev.returned_by_method(ev.value(manager, (), context), "__enter__", node, path, context)
    if found is not None:
        return found
    value = BOTTOM
    for callee in ev.callees(manager, context) if manager.op == g.CALL else ():
        if "contextmanager" in callee.function.signs:
            inner = ev.enter(callee.call, callee.function, context, callee.receiver, callee.made)
            value = join(value, ev.join_of([each.value for each in lower(callee.function).yields], path, inner))
    return value if value.kind else ev.value(manager, path, context)


# ---------------------------------------------------------------------- names
def global_name(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a name of the module is: as the call from the module's body meets it, where one led here."""
    word = str(node.data)
    call = _call_in_body(node, context)
    if call is not None:
        bound = call.fn.snapshots.get(call, {}).get(word)
        if bound is not None:
            return ev.value(bound, path)
    value = ev.value(node.fn.file.export(word), path)
    return value if value.kind or word in lower(node.fn.file.body).definitions else unknown(a.OF_ATTR, node)


def _call_in_body(node: Node, context: Context | None) -> Node | None:
    """Return the call of the module's own body from which a context leads to a function of the module."""
    here = context
    while here is not None:
        if here.call is not None and here.call.fn is node.fn.file.body:
            return here.call
        here = here.parent
    return None


def export(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a module binds a name to, seen from outside; nothing where it binds none."""
    file, word = node.fn.file, str(node.data)
    bindings = _bindings(ev, file, word)
    found = ev.join_of(bindings, path, None)
    is_by_text = not ev.presumes(Presumption.KEPT) and not file.calls.keys().isdisjoint(_BINDING_BY_TEXT)
    if is_by_text and any(each.op not in _DEFINED for each in bindings):
        return join(found, descent.descend(unknown(a.OF_ATTR, node), path))
    if bindings and word not in file.above_stars:
        return found
    is_doubtful = any(each.op != g.IMPORT for each in bindings) or (not bindings and word in descent.BUILTINS)
    for level, module in file.stars:
        value = _by_star(ev, file, level, module, word, path, is_doubtful=is_doubtful)
        if value.kind:
            return join(found, value)
    if bindings:
        return found
    if word in descent.BUILTINS:
        return a.of_kind(a.OTHER, frozenset({LibraryRef(f"builtins.{word}")}))
    return BOTTOM


_BINDING_BY_TEXT: Final = frozenset({"exec", "globals"})
"""Calls of a module that may bind any of its names."""
_DEFINED: Final = frozenset({g.FUNCTION, g.CLASS, g.IMPORT, g.DECORATED})


def _bindings(ev: Evaluator, file: ModuleGraph, word: str) -> list[Node]:
    """Return what a name of a module may be bound to once others see it: what its body left, and what functions set.

    In a proof all that it ever was: a function may be called while the body runs.
    """
    body = lower(file.body)
    every = body.definitions.get(word, [])
    left = body.end.names.get(word) if body.end is not None else None
    if left is None or not every:  # a name of others is theirs, changed here or not
        return every
    if not ev.presumes(Presumption.USAGE):
        return every
    return [left, *(each for each in every if each.fn is not body)]


_HIDING: Final = frozenset("abs all any max min pow round sum".split())
"""Built-in functions whose names arrays have for their own."""
_NAMING: Final = ("torch", "numpy", "typing")
"""Modules that hide no other built-in function."""


def _by_star(
    ev: Evaluator, file: ModuleGraph, level: int, module: str, word: str, path: Path, *, is_doubtful: bool
) -> Abstract:
    """Return what a star import binds a name to.

    ``is_doubtful``: the name stands for something without it, which a library of which nothing is known may hide: a
    value or a built-in function, but no module that is imported by its name.
    """
    base = ev.program.base_of(file, level, module)
    if base is None:
        if module.startswith(_NAMING) and word in descent.BUILTINS:
            is_hidden = word in _HIDING and not module.startswith("typing")
            return dispatch.named(f"{module}.{word}") if is_hidden else BOTTOM
        if is_doubtful:
            return BOTTOM if ev.presumes(Presumption.KEPT) else descent.descend(unknown(a.OF_ATTR), path)
        return dispatch.named(f"{module}.{word}") if module.startswith("torch") else BOTTOM
    other = ev.program.at(base)
    is_given = other is not None and other is not file and _is_for_stars(other, word)
    return ev.value(other.export(word), path) if other is not None and is_given else BOTTOM


def _is_for_stars(file: ModuleGraph, word: str) -> bool:
    """Whether a star import gives a name of a module: what ``__all__`` lists, else what begins with no underscore."""
    listed = lower(file.body).definitions.get("__all__")
    if not listed:
        return word[:1] != "_"
    is_written_out = len(listed) == 1 and listed[0].op == g.SEQUENCE and all(e.op == g.CONST for e in listed[0].ins)
    return not is_written_out or any(each.data == word for each in listed[0].ins)


def free(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a name of a function around, in the context in which the closure was made."""
    assert isinstance(node.data, tuple)
    owner, word = node.data
    assert isinstance(owner, FunctionGraph)
    here = context
    while here is not None and here.function is not owner:
        made = here.made.of(owner) if here.made is not None else None
        here = made or here.parent
    return ev.join_of(lower(owner).definitions.get(word, ()), path, here)


def function(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a function; a closure carries the context of its making."""
    if path:
        return unknown(a.OF_ATTR, node)
    assert isinstance(node.data, FunctionGraph)
    return a.of_kind(a.OTHER, frozenset({FunctionRef(node.data, None if node.fn.is_module else context)}))


def decorated(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a decorator makes of a function; an unknown decorator leaves it as it is."""
    decorator, inner = node.ins
    value = ev.value(decorator, (), context)
    if any(isinstance(each, FunctionRef | ClassRef | InstanceRef) for each in value.references):
        given = CallArguments((inner,))
        call = ev.derived((node, "decorated"), lambda: Node(g.CALL, (decorator,), given, node.at, node.fn, node.state))
        result = ev.call_of(value, call, path, context)
        if result.references:
            return result
    return ev.value(inner, path, context)


def class_(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a class."""
    assert isinstance(node.data, g.ClassGraph)
    return ev.along(a.of_kind(a.OTHER, frozenset({ClassRef(node.data)})), path, node, context)


def import_(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what an import binds: a module of the project, something in one, or a library's name."""
    assert isinstance(node.data, tuple)
    level, module, word = node.data
    base = ev.program.base_of(node.fn.file, level, module)
    if base is None:
        if level:
            return unknown(a.OF_ATTR, node)
        name = module if word is None else f"{module}.{word}"
        return ev.along(dispatch.named(name), path, node, context)
    if word is None:
        return ev.along(a.of_kind(a.OTHER, frozenset({ModuleRef(base)})), path, node, context)
    return instance_attributes.module_attribute(ev, base, word, path, node)


# ---------------------------------------------------------------------- changes
def grow(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a container with one member more, or a tensor that was written into."""
    before, member = node.ins[:2]
    flat = ev.value(before, (), context)
    is_beside = node.data is g.OF_WHOLE and not ev.value(member, (), context).kind & a.TENSOR
    if is_beside or (node.data is g.OF_PART and (path or flat.kind != a.MODULE)):
        return ev.value(before, path, context)
    if flat.kind == a.TENSOR or (not path and flat.kind & a.TENSOR and node.data is not g.APPEND):
        return descent.descend(inplace_changes.grown(ev, flat, member, node, context), path)
    if node.data is g.EACH:
        return _with_each(ev, flat, node, path, context)
    if not path:
        part = ev.value(member, (), context) if flat.kind == a.MODULE and flat.grad == a.SAFE else BOTTOM
        return (
            flat.but(grad=flat.grad | (part.grad or a.SURE)) if part.kind in (a.MODULE, a.TENSOR) else flat
        )  # not frozen itself
    step, key = path[0], selector(node.data)
    if step == key and key != ANY_ELEMENT:
        return ev.value(member, path[1:], context)
    value = ev.value(before, path, context)
    if step == ANY_ELEMENT or (key == ANY_ELEMENT and not _is_attribute(step)):
        value = join(value, ev.value(member, path[1:], context))
    return value


def _with_each(ev: Evaluator, flat: Abstract, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a container of which all members became another, as a loop over it leaves them."""
    before, member = node.ins
    if path and not _is_attribute(path[0]):
        return ev.value(member, path[1:], context)
    if not path and flat.kind == a.MODULE:
        part = ev.value(member, (), context)
        return flat.but(grad=part.grad, device=part.device) if part.kind == a.MODULE else flat
    return ev.value(before, path, context)


def spread(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a container with the members of another one."""
    before, other = node.ins
    if not path:
        return ev.value(before, (), context)
    value = ev.value(before, path, context)
    step = path[0]
    if _is_attribute(step):
        return value
    inner = path if isinstance(step, str) and step[:1] == "=" else (ANY_ELEMENT, *path[1:])
    added = ev.value(other, inner, context)
    if not added.kind and ev.value(other, (ANY_ELEMENT,), context).may(a.SEQUENCE):  # pairs of keys and values
        added = ev.value(other, (ANY_ELEMENT, 1, *path[1:]), context)
    return join(value, added)


def inplace(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return an object after a method that changes it."""
    return inplace_changes.changed(ev, ev.value(node.ins[0], (), context), str(node.data), node, path, context)


def setter(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return an object after one of its attributes was set."""
    before, value = node.ins
    if path:
        return ev.value(
            value if path == (f".{node.data}",) else before, () if path == (f".{node.data}",) else path, context
        )
    return inplace_changes.after_setter(
        ev, ev.value(before, (), context), str(node.data), ev.value(value, (), context), node
    )


def opaque(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what nothing is known of."""
    return A_THING if node.data == "exception" else unknown(a.OF_ATTR, node)


def constant(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return a constant."""
    return descent.descend(descent.constant(node.data), path)


TRANSFER: Final[dict[str, Row]] = {
    g.CONST: constant, g.PARAM: argument_passing.parameter, g.PHI: phi, g.GAMMA: gamma, g.PI: pi, g.ATTR: attribute,
    g.INDEX: index, g.CALL: call_results.call, g.OPERATION: operation, g.TRUTH: truth, g.EITHER: either,
    g.SEQUENCE: sequence, g.DICT: dictionary, g.COMPREHENSION: comprehension, g.ELEMENT: element, g.ITEM: item,
    g.GLOBAL: global_name, g.EXPORT: export, g.FREE: free, g.FUNCTION: function, g.DECORATED: decorated,
    g.CLASS: class_, g.IMPORT: import_, g.ENTER: enter, g.GROW: grow, g.SPREAD: spread, g.INPLACE: inplace,
    g.EFFECT: call_effects.effect, g.SETTER: setter, g.WITHIN: process_state.within, g.AFTER: process_state.after,
    g.ENTRY: process_state.entry, g.UNDEFINED: opaque, g.OPAQUE: opaque,
}  # fmt: skip
if set(TRANSFER) != set(g.OPS):
    raise AssertionError(f"operations without a row: {set(g.OPS) ^ set(TRANSFER)}")
