"""What lies behind a node: one row for each operation, of what a path from it leads to and where memory is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from torchlint.evaluation.class_families import PROPERTIES
from torchlint.flow import memory_handings
from torchlint.flow.answers import by_operation
from torchlint.flow.call_frames import CallFrame, CallKnowledge
from torchlint.flow.memory_handings import ANY_DEPTH, FRESH, MEMBER, UNFAMILIAR, VIEW, inside, step_of
from torchlint.flow.root_meetings import PARAMETER, SHARED, UNKNOWN, MemoryRoot, made_at, may_be_same
from torchlint.models.operation_sets import SHARES_MEMORY
from torchlint.semantic import graph as g
from torchlint.semantic.graph import FormalParameter, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.values import abstract as a
from torchlint.values.asking import ANY_ELEMENT, Path
from torchlint.values.references import ClassRef, InstanceRef, ModuleRef, SuperRef

Place = tuple[Node, Path, CallFrame | None]
"""A node, what is sought in it, and the call through which its function was entered."""
Steps = Iterator["MemoryRoot | Place"]


# ---------------------------------------------------------------------- rows: what lies behind a node
def _copied(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    for each in node.ins:
        yield each, path, frame


def _first(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    yield node.ins[0], path, frame


def _made(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    yield made_at(node, path, frame)


def _nothing(*_: object) -> Steps:
    yield from ()


def _opaque(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    yield made_at(node, path, frame, UNKNOWN)


def _parameter(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    formal = node.data
    assert isinstance(formal, FormalParameter)
    own = frame.of(node.fn) if frame is not None else None
    argument = own.argument(formal) if own is not None else None
    if own is not None and argument is not None:
        is_made = argument.op == g.CALL and own.owner is argument
        yield from _of_made_object(knowledge, argument, path, own.outer) if is_made else [(argument, path, own.outer)]
    elif own is None or (own.callee is None and own.call.op != g.CALL):
        yield made_at(node, path, None, PARAMETER)
        if formal.position == 0 and node.fn.takes_object:
            yield from _stored(knowledge, node, path, frame)
    elif own.callee is None and node.fn.name == "__init__":  # of a base of the object that is made by this call
        for each in own.call.arguments.all():
            yield each, (ANY_DEPTH,), own.outer
    elif rest := own.collected(formal):
        for each in rest:
            yield each, (ANY_DEPTH,), own.outer
    elif own.callee is not None and formal.default is not None:
        yield formal.default, path, None
    else:
        yield made_at(node, path, frame, UNKNOWN)


def _stored(knowledge: CallKnowledge, at: Node, path: Path, frame: CallFrame | None) -> Steps:
    """Yield what methods put under an attribute of an object, which is a parameter, or made by a call."""
    callees = {each.function: each for each in knowledge.callees(at)}
    for reference in knowledge.value(at).references if path and str(path[0])[:1] == "." else ():
        if not isinstance(reference, InstanceRef):
            continue
        for method, store in knowledge.evaluator.family(reference.cls).stores(str(path[0])[1:]):
            known = callees.get(method)
            inner = knowledge.enter(known, at, frame) if known else knowledge.inside(method, at, frame)
            if inner is not None and store.value is not at:
                yield store.value, path[1:], inner


def _of_made_object(knowledge: CallKnowledge, call: Node, path: Path, frame: CallFrame | None) -> Steps:
    """Yield an object that a class of the project makes, or what its constructor and other methods put into it."""
    yield made_at(call, path, frame)
    if path and (not knowledge.callees(call) or str(path[0])[:1] != "."):  # fields of a dataclass, items of an object
        for argument in call.arguments.all():
            yield argument, (ANY_DEPTH,), frame
    yield from _stored(knowledge, call, path, frame)


def _attribute(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    owner, word = node.ins[0], str(node.data)
    value = knowledge.value(owner)
    for reference in value.references:
        if isinstance(reference, ModuleRef):
            yield from _of_module(node, reference.base, word, path, frame)
            return
        method = knowledge.evaluator.family(reference.cls).method(word) if isinstance(reference, InstanceRef) else None
        if method is not None and not PROPERTIES.isdisjoint(method.signs):
            inner = knowledge.inside(method, owner, frame)
            yield from _given(method, node, path, inner, frame)
            return
    if value.may(a.TENSOR | a.ARRAY) and (word in SHARES_MEMORY or word in memory_handings.ARRAY_VIEWS):
        yield owner, (), frame
    else:
        yield owner, (f".{word}", *path), frame


def _of_module(node: Node, base: str, word: str, path: Path, frame: CallFrame | None) -> Steps:
    program = node.fn.file.program
    file = program.at(base)
    if file is not None:
        yield file.export(word), path, frame
    elif not program.exists(os.path.join(base, word)):
        yield made_at(node, path, frame, UNKNOWN)


def _index(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    container = node.ins[0]
    value = knowledge.value(container)
    is_slice = node.data is g.SLICE or (isinstance(node.data, tuple) and g.SLICE in node.data)
    if value.may(a.SEQUENCE):
        step = ANY_ELEMENT if is_slice and path else step_of(node.data)
        yield container, ((step, *inside(path)) if is_slice else (step, *path)), frame
        if is_slice:
            yield made_at(node, path, frame)
    if value.must(a.SEQUENCE):
        return
    by = knowledge.value(node.ins[1]) if len(node.ins) > 1 and not is_slice else None
    selects = by is not None and by.may(a.TENSOR | a.ARRAY | a.SEQUENCE)
    if selects:
        yield made_at(node, path, frame)
    if by is None or not by.must(a.TENSOR | a.ARRAY | a.SEQUENCE):
        is_row = type(node.data) in (int, str) or not value.may(a.TENSOR | a.ARRAY)
        yield container, ((step_of(node.data), *path) if is_row else ()), frame


def _element(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    """Yield a member; what ``with`` binds is what a generator yields, or a part of the manager."""
    yield node.ins[0], (ANY_ELEMENT, *path), frame


def _item(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    if node.data is None:
        yield made_at(node, path, frame)
        yield node.ins[0], (ANY_ELEMENT, *inside(path)), frame
    else:
        yield node.ins[0], (step_of(node.data), *path), frame


def _display(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    """Yield what lies in a list, tuple, set or dict that is written out."""
    if not path or path[0] == ANY_DEPTH:
        yield made_at(node, path, frame)
    if not path:
        return
    keys = [step_of(each) for each in node.data] if isinstance(node.data, tuple) else list(range(len(node.ins)))
    step = path[0]
    if isinstance(step, int) and step < 0 and node.op == g.SEQUENCE:
        step += len(keys)
    for key, each in zip(keys, node.ins, strict=True):
        if step == ANY_DEPTH or may_be_same(step, key):
            yield each, inside(path), frame


def _comprehension(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    if not path or path[0] == ANY_DEPTH:
        yield made_at(node, path, frame)
    if path:
        yield node.ins[0], inside(path), frame


def _grown(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    before, member = node.ins[:2]
    yield before, path, frame
    is_sought = path and (path[0] == ANY_DEPTH or may_be_same(path[0], step_of(node.data)))
    if is_sought and not knowledge.value(before).must(a.TENSOR | a.ARRAY):
        yield member, inside(path), frame
        if node.data is g.SLICE:
            yield member, (ANY_ELEMENT, *inside(path)), frame


def _spread(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    yield node.ins[0], path, frame
    if path:
        yield node.ins[1], (path if str(path[0])[:1] in "=*" else (ANY_ELEMENT, *path[1:])), frame


def _setter(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    is_word = path[:1] == (f".{node.data}",)
    if not is_word:
        yield node.ins[0], path, frame
    if path[:1] == (ANY_DEPTH,) or is_word:
        yield node.ins[1], (path[1:] if is_word else path), frame


def _effect(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    """Yield an object as it was, and what functions that were handed it left in it."""
    before, call = node.ins
    yield before, path, frame
    for callee in knowledge.callees(call) if path else ():
        inner = knowledge.enter(callee, call, frame)
        fn = lower(callee.function)
        for word, parameter in fn.params.items():
            assert isinstance(parameter.data, FormalParameter)
            if inner is None or inner.argument(parameter.data) is not before:
                continue
            for leaving in (*fn.returns, *([fn.end] if fn.end is not None else [])):
                left = leaving.names.get(word)
                if left is not None and left is not parameter:
                    yield left, path, inner


def _operation(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    if str(node.data).endswith("="):
        yield node.ins[0], path, frame
    else:
        yield made_at(node, path, frame)
    if path and knowledge.value(node).may(a.SEQUENCE):
        for each in node.ins:
            yield each, (path if isinstance(path[0], str) else (ANY_ELEMENT, *path[1:])), frame


def _global(knowledge: CallKnowledge, node: Node, path: Path, _: CallFrame | None) -> Steps:
    file, word = node.fn.file, str(node.data)
    found = lower(file.body).definitions.get(word, ())
    yield MemoryRoot(SHARED, file.export(word), tuple(each for each in path if each != ANY_DEPTH))
    if not found or (path and not knowledge.value(node).must(a.TENSOR | a.ARRAY | a.MODULE)):
        yield MemoryRoot(UNKNOWN, node)  # other functions may have put more into it
    for each in found:
        yield each, path, None


def _free(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    assert isinstance(node.data, tuple)
    owner, word = node.data
    found = lower(owner).definitions.get(word, ())
    around = frame.of(owner) if frame is not None else None
    if frame is not None and around is None and not frame.began_in(owner):
        found = []  # nothing is known of the call in which the closure was made
    if not found:
        yield MemoryRoot(UNKNOWN, node)
    for each in found:
        yield each, path, around


def _import(_: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    assert isinstance(node.data, tuple)
    level, module, word = node.data
    program = node.fn.file.program
    base = program.base_of(node.fn.file, level, module)
    if base is None or word is None:
        yield made_at(node, path, frame, UNKNOWN)
    else:
        yield from _of_module(node, base, word, path, frame)


def _given(function: FunctionGraph, node: Node, path: Path, inner: CallFrame | None, frame: CallFrame | None) -> Steps:
    """Yield what a function gives, by returns or as what its yields hand out one by one."""
    if inner is None:
        yield made_at(node, path, frame, UNKNOWN)
        return
    fn = lower(function)
    for leaving in fn.returns:
        yield leaving.value, path, inner
    if fn.yields:
        yield made_at(node, path, frame)
    for leaving in fn.yields if path else ():
        yield leaving.value, inside(path), inner


def _call(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    value = knowledge.value(node)
    if owners := [each for each in value.references if isinstance(each, SuperRef)]:
        own = next(iter(node.fn.params.values()), None)
        yield (own, path, frame) if own is not None and owners else made_at(node, path, frame, UNKNOWN)
        return
    callees = knowledge.callees(node)
    if any(each.is_constructor and each.call is node for each in callees) or _makes_object(knowledge, node):
        yield from _of_made_object(knowledge, node, path, frame)
        return
    for callee in callees:
        inner = knowledge.enter(callee, node, frame)
        yield from _given(callee.function, node, path, inner, frame)
        if callee.call is not node and path:  # the results of a callable that is handed over come as members
            yield from _given(callee.function, node, inside(path), inner, frame)
    if not callees or any(each.call is not node for each in callees):
        yield from _of_library(knowledge, node, path, frame)


def _makes_object(knowledge: CallKnowledge, node: Node) -> bool:
    return any(isinstance(each, ClassRef) for each in knowledge.value(node.ins[0]).references)


def _of_library(knowledge: CallKnowledge, node: Node, path: Path, frame: CallFrame | None) -> Steps:
    for handing in memory_handings.handings(knowledge, node):
        if handing.sort == UNFAMILIAR:
            yield made_at(node, path, frame, UNKNOWN)
        elif handing.sort == FRESH or (handing.sort not in (VIEW, MEMBER) and path[:1] in ((), (ANY_DEPTH,))):
            yield made_at(node, path, frame)
        for position, each in enumerate(handing.sources if handing.sort != FRESH else ()):
            back = path if path[:1] == (ANY_DEPTH,) else memory_handings.path_back(handing.sort, path, position)
            if back is not None:
                yield each, back, frame


STEPS_BACK: Final = by_operation(
    "roots",
    {
        (g.PHI, g.GAMMA, g.EITHER): _copied,
        (g.PI, g.INPLACE): _first,
        (g.CONST, g.TRUTH, g.FUNCTION, g.DECORATED, g.CLASS): _made,
        (g.UNDEFINED, g.ENTRY, g.WITHIN, g.AFTER): _nothing,
        (g.OPAQUE,): _opaque,
        (g.PARAM,): _parameter,
        (g.ATTR,): _attribute,
        (g.INDEX,): _index,
        (g.ELEMENT, g.ENTER): _element,
        (g.ITEM,): _item,
        (g.SEQUENCE, g.DICT): _display,
        (g.COMPREHENSION,): _comprehension,
        (g.GROW,): _grown,
        (g.SPREAD,): _spread,
        (g.SETTER,): _setter,
        (g.EFFECT,): _effect,
        (g.OPERATION,): _operation,
        (g.GLOBAL, g.EXPORT): _global,
        (g.FREE,): _free,
        (g.IMPORT,): _import,
        (g.CALL,): _call,
    },
)
