"""The one call graph: which functions of the project a call may run, and which calls run a function.

A call through ``submit``, ``map``, ``partial``, a hook, a collate function or a decorator is a call like another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.models import handed_calls
from torchlint.semantic.graph import ATTR, CALL, PARAM, ClassGraph, FormalParameter, FunctionGraph, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import CallSite
from torchlint.values.contexts import Context
from torchlint.values.references import ClassRef, FunctionRef, InstanceRef, LibraryRef, MethodRef, Reference, SuperRef

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator
    from torchlint.semantic.module_graph import ModuleGraph

_MOST_FILES: Final = 60
_MOST_CALLS: Final = 24
"""Callers beyond these are not looked at: a function that all call is called with anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """A function of the project that a call may run."""

    function: FunctionGraph
    call: Node
    """The call whose arguments apply: the one that is written, or one derived from it."""
    receiver: Abstract | None = None
    """What its first parameter is bound to; None where arguments begin with the first."""
    made: Context | None = None
    """Where a closure was made."""
    is_constructor: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CallerSite:
    """A call of the project that runs a function."""

    call: Node
    has_receiver: bool
    """Whether arguments begin with the second parameter."""


# ---------------------------------------------------------------------- down
def callees(ev: Evaluator, call: Node, context: Context | None = None) -> tuple[Callee, ...]:
    """Return the functions of the project that a call may run, as far as they are known."""
    if call.op != CALL:
        return ()
    function = call.ins[0]
    found: list[Callee] = []
    if function.op == ATTR:
        owner = ev.value(function.ins[0], (), context)
        for reference in owner.references:
            found += _of_method(ev, owner, reference, str(function.data), call)
        if found:
            return tuple(found)
    target = ev.value(function, (), context)
    for reference in target.references:
        found += of_reference(ev, target, reference, call)
        if isinstance(reference, LibraryRef):
            for handed in handed_calls.handed_calls(CallSite(ev, call, context), reference.name):
                found += callees(ev, handed.call, context)
    return tuple(found)


def of_reference(ev: Evaluator, target: Abstract, reference: Reference, call: Node) -> Iterator[Callee]:
    """Yield what calling one of the things that a value may be runs."""
    match reference:
        case FunctionRef(function, made):
            yield Callee(function, call, None, made)
        case MethodRef(function, owner):
            yield bound(ev, function, a.of_kind(a.OTHER | a.MODULE, frozenset({owner})), call)
        case ClassRef(cls):
            maker = ev.family(cls).method("__init__")
            if maker is not None:
                yield Callee(maker, call, ev.object_of(cls), None, is_constructor=True)
        case InstanceRef(cls):
            method = called_method(ev, reference)
            if method is not None:
                yield Callee(method, call, target.but(references=frozenset({reference})))


def _of_method(ev: Evaluator, owner: Abstract, reference: Reference, word: str, call: Node) -> Iterator[Callee]:
    match reference:
        case InstanceRef(cls):
            method = ev.family(cls).method(word)
            if method is not None:
                yield bound(ev, method, owner.but(references=frozenset({reference})), call)
        case ClassRef(cls):
            method = ev.family(cls).method(word)
            if method is not None:
                own = a.of_kind(a.OTHER, frozenset({reference}))
                yield Callee(method, call, own if method.is_class_method else None)
        case SuperRef(cls, owners):
            for each in owners:
                method = super_method(ev, cls, each, word)
                if method is not None:
                    yield bound(ev, method, owner.but(references=frozenset({each})), call)


def bound(ev: Evaluator, method: FunctionGraph, owner: Abstract, call: Node) -> Callee:
    """Return what calling a method of an object runs."""
    if method.is_static:
        return Callee(method, call)
    if method.is_class_method:
        owner = a.of_kind(a.OTHER, frozenset(ClassRef(e.cls) for e in owner.references if isinstance(e, InstanceRef)))
    return Callee(method, call, owner)


def called_method(ev: Evaluator, reference: InstanceRef) -> FunctionGraph | None:
    """Return the method that calling an object runs."""
    family = ev.family(reference.cls)
    return family.method("__call__") or family.method("forward")


def super_method(ev: Evaluator, cls: ClassGraph, owner: Reference, word: str) -> FunctionGraph | None:
    """Return the method that ``super().word`` leads to: the one after the class of the text, for the object's class."""
    family = ev.family(owner.cls if isinstance(owner, InstanceRef | ClassRef) else cls)
    found = family.method_after(cls, word)
    return family.method("forward") if found is None and word == "__call__" else found


def argument_of(callee: Callee, parameter: FormalParameter) -> Node | None:
    """Return the node that a call hands over for a parameter; None where it is not written as one argument."""
    given = callee.call.arguments
    if parameter.word in given.keywords:
        return given.keywords[parameter.word]
    if parameter.position is None or parameter.sort or given.starred:
        return None
    place = parameter.position - (callee.receiver is not None)
    if place < 0:
        function = callee.call.ins[0]
        return function.ins[0] if function.op == ATTR else None
    return given.positional[place] if place < len(given.positional) else None


# ---------------------------------------------------------------------- up
def callers(ev: Evaluator, function: FunctionGraph) -> tuple[CallerSite, ...]:
    """Return the calls that run a function; none where nobody calls it, or not all who may can be known."""
    sites, is_all = known_callers(ev, function)
    return sites if is_all else ()


def known_callers(ev: Evaluator, function: FunctionGraph) -> tuple[tuple[CallerSite, ...], bool]:
    """Return the calls that are known to run a function, and whether these are all."""
    known, program = ev.oracles.callers_found, ev.program
    if function not in known:
        before, program.touched = program.touched, function.file.bit
        known[function] = (), True, 0  # what calls itself alone is called by nobody
        sites, is_all = _found(ev, function)
        known[function] = tuple(sites), is_all, program.touched
        program.touched |= before
    found, is_complete, touched = known[function]
    program.touched |= touched
    return found, is_complete


def _found(ev: Evaluator, function: FunctionGraph) -> tuple[list[CallerSite], bool]:
    word = function.name
    is_maker = word == "__init__" and function.cls is not None
    if function.is_module or function.is_lambda or (word.startswith("__") and word not in ("__init__", "__call__")):
        return [], False
    if word in ("forward", "__call__"):
        return [], False
    sought = function.cls.name if is_maker and function.cls is not None else word
    files = ev.program.files_with(sought)
    if function.cls is None and function.parent is function.file.body:
        files = [each for each in files if each is function.file or not _defines(each, word)]
    if len(files) > _MOST_FILES:
        return [], False
    words = (sought, "__init__") if is_maker else (sought,)
    written = [(file, each) for file in files for word in words for each in file.calls.get(word, ())]
    if len(written) > _MOST_CALLS:
        return [], False
    found: list[CallerSite] = []
    strict = ev.oracles.strict
    for file, each in written:
        node = file.node_of_call(each)
        site = _site(strict, node, function) if node is not None else None
        if site is not None:
            found.append(site)
    handed = _handed(strict, files, sought, function)
    return found + (_registered(strict, function) if handed is None else handed), handed is not None


def _registered(strict: Evaluator, function: FunctionGraph) -> list[CallerSite]:
    """Return the calls of a closure by those to whom its file hands what gave it: ``register_forward_hook(make())``."""
    if function.parent is function.file.body or function.cls is not None:
        return []
    found = []
    for word in handed_calls.CALLING_WORDS:
        for written in function.file.calls.get(word, ()):
            node = function.file.node_of_call(written)
            for call in callees_of_handed(strict, node) if node is not None else ():
                site = _site(strict, call, function)
                found += [site] if site is not None else []
    return found


def _defines(file: ModuleGraph, word: str) -> bool:
    """Whether a file has a function of the name itself, so that its calls run that."""
    return any(getattr(each, "name", None) == word for each in file.outline.functions)


def _site(strict: Evaluator, node: Node, function: FunctionGraph) -> CallerSite | None:
    for callee in callees(strict, node):
        if callee.function is function or _may_run_instead(strict, node, callee.function, function):
            return CallerSite(callee.call, callee.receiver is not None)
    if function.cls is not None and node.ins[0].op == ATTR and node.ins[0].data == function.name:
        owner = strict.value(node.ins[0].ins[0])
        if not owner.references and owner.kind & (a.OTHER | a.MODULE):  # an unknown object with a method of the name
            return CallerSite(node, not function.is_static)
    return None


def _may_run_instead(strict: Evaluator, call: Node, method: FunctionGraph, override: FunctionGraph) -> bool:
    """Whether a call of a method of one's own object runs what a class below makes of it, where that is asked about."""
    owner = call.ins[0].ins[0] if call.ins[0].op == ATTR else None
    if owner is None or owner.op != PARAM or method.cls is None or override.cls is None or method.name != override.name:
        return False
    return method.cls in strict.family(override.cls).lineage


def _handed(strict: Evaluator, files: list[ModuleGraph], word: str, function: FunctionGraph) -> list[CallerSite] | None:
    """Return the calls of a function by whom it is handed to; None where it is handed to somebody unknown."""
    found: list[CallerSite] = []
    for file in files:
        for mention in file.mentions.get(word, ()):
            if not _may_mean(strict, file, mention.name, function):
                continue
            node = file.node_of(mention.node)
            if node is None or node.op != CALL:
                return None
            sites = [site for each in callees_of_handed(strict, node) if (site := _site(strict, each, function))]
            if not sites and node.arguments.spelled.rpartition(".")[2] not in handed_calls.CALLING_WORDS:
                return None
            found += sites
    return found


def _may_mean(strict: Evaluator, file: ModuleGraph, name: ast.Name | ast.Attribute, function: FunctionGraph) -> bool:
    """Whether a name that is handed over may stand for a function: one that has no owner is known to, if it does."""
    node = file.node_of(name)
    value = strict.value(node) if node is not None else a.BOTTOM
    if any(isinstance(each, FunctionRef | MethodRef) and each.function is function for each in value.references):
        return True
    is_open = isinstance(name, ast.Attribute) or function.decorated is not None
    return is_open and not value.references and bool(value.kind & a.OTHER)


def callees_of_handed(strict: Evaluator, call: Node) -> list[Node]:
    """Return the calls that a call makes of what it is handed."""
    names = [each.name for each in strict.value(call.ins[0]).references if isinstance(each, LibraryRef)]
    site = CallSite(strict, call, None)
    names = names or [site.word]
    return [handed.call for name in names for handed in handed_calls.handed_calls(site, name)]
