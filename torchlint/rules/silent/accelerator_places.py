"""Whether a tensor may be on an accelerator, and why: it was moved there, or it comes where a module is."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import (
    Device,
    FileContext,
    Function,
    Kind,
    Reason,
    Value,
    any_element,
    handed_to,
    is_settings,
    remembered,
)
from torchlint.rules.local_bindings import bindings_of, places_of
from torchlint.rules.silent.called_definitions import has_plain_default
from torchlint.rules.silent.calls_in_sight import calls_of
from torchlint.rules.silent.kept_networks import moved_by_class
from torchlint.rules.silent.read_devices import read_device
from torchlint.rules.wording import in_a_line

_FORWARD = re.compile(r"_?forward(_\w+)?")
"""Methods that a module's call leads to: their arguments come where the module is."""
_STEP = re.compile(r"(training|validation|test|predict)_step")
"""Hooks of Lightning, which moves the batch that they are given first to where the module is."""
_DEVICE_IN_PLAY = re.compile(rb"\bcuda\b|\.device\b|\bdevice\s*[=:]|torch\.device|accelerat|\bto\(\s*device|\bgpus?\b")
_OF_A_MODULE = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", "buffer"})
_DEEPEST = 12
_FEW = 3
"""So many assignments are gone back for the arguments behind a tensor."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Place:
    """Why a tensor may be on an accelerator."""

    why: tuple[str, ...]
    is_shown: bool
    """Whether the file at hand moves it, or it is there in every run.

    Else a module brings it, which whoever uses the module may move, or another file, which may be told a device.
    """
    is_certain: bool = False
    """Whether it is on an accelerator in every run."""
    is_open: bool = False
    """Whether callers decide: it is made of an argument, and no call in the project hands over one that is there."""

    def confidence(self, context: FileContext) -> Confidence:
        """Return how sure it is that the tensor will be on an accelerator some day."""
        if self.is_certain:
            return Confidence.CERTAIN
        if self.is_open:
            return Confidence.UNPROVEN
        return Confidence.LIKELY if self.is_shown or speaks_of_devices(context) else Confidence.POSSIBLE


@remembered
def place_of(node: ast.expr, context: FileContext) -> Place | None:
    """Return why an expression may be on an accelerator; None where nothing says so.

    A tensor of which nothing is known is no such: only what is moved, a module's own tensors and results, and what its
    ``forward`` is given.
    """
    return _place_of(node, context, _said_by_module) if context.value(node).may(Kind.TENSOR) else None


@remembered
def place_of_members(node: ast.expr, context: FileContext) -> Place | None:
    """Return why an expression may be on an accelerator, as :func:`place_of`, or the members of a list may be."""
    return _place_of(node, context, _said_by_module)


@remembered
def place_by_methods(node: ast.expr, context: FileContext) -> Place | None:
    """Return why an expression may be on an accelerator, as :func:`place_of`, or by what methods of its module give.

    That is no evidence where another tensor meets it: a method may bring its result back to where that one is.
    """
    return _place_of(node, context, _said_by_methods)


@remembered
def place_by_reading(node: ast.expr, context: FileContext) -> Place | None:
    """Return why an expression may be elsewhere, as :func:`place_of`, or by what its function does with its device.

    The author who makes another tensor on ``x.device`` expects ``x`` elsewhere: whoever runs that on a CPU alone would
    not ask. That is enough where a tensor of the host meets it, and says nothing of how often the code runs there.
    """
    return _place_of(node, context, _said_by_reading)


@remembered
def place_by_argument(node: ast.expr, context: FileContext) -> Place | None:
    """Return why an expression that is made of an argument may be elsewhere: callers decide where that is.

    A call in the project that hands over what is there shows it. None where all calls hand over tensors of the host.
    """
    value = context.value(node)
    if not _may_be_there(value) or not context.presumed_value(node).may_be_on_accelerator:
        return None
    start = begun_by(value.why_device, context)
    brought = context.brought_by_calls(start) if start is not None else None
    if brought is not None and brought.source is not None:
        told = f"{context.spelled_place(brought.source)} hands it over"
        return Place((*context.why(value.why_device), told), is_shown=not context.is_test)
    if start is not None and (handed := _handed_in_sight(start, context)) is not None:
        return handed
    for argument in dict.fromkeys(_arguments_behind(node, context, _FEW)):
        brought = context.brought_by_calls(argument)
        if not brought.is_excluded:
            said = _said("is an argument: callers decide where it is", argument)
            return Place((said,), False, is_open=True)
    return None


@remembered
def _handed_in_sight(argument: ast.arg, context: FileContext) -> Place | None:
    """Return why what a call hands over for an argument may be there: it comes where a module is."""
    function = context.parent(context.parent(argument) or argument)
    if not isinstance(function, ast.FunctionDef):
        return None
    for file, call in calls_of(function, context):
        given = handed_to(call, function, argument)
        place = place_of_members(given, file) if given is not None and not is_building_a_module(call, file) else None
        if place is not None:
            told = f"`{in_a_line(call)}` hands it over, line {call.lineno}"
            return Place(tuple(map(file.located, (*place.why, told))), False)
    return None


def _arguments_behind(node: ast.AST, context: FileContext, depth: int) -> Iterator[ast.arg]:
    """Yield the arguments that an expression may be made of, by the names in it and what they are bound to.

    What is called is none of them, nor is what an object of settings is asked for.
    """
    if isinstance(node, ast.expr) and not _may_hold_it(context.value(node)):
        return
    match node:
        case ast.Name() | ast.Attribute():
            if isinstance(node, ast.Attribute) and _is_of_settings(node):
                return
            argument = begun_by(context.value(node).why_device, context)
            if argument is not None and not _is_number(argument, context):
                yield argument
            for binding in bindings_of(node, context) if depth and isinstance(node, ast.Name) else ():
                yield from _arguments_behind(binding.value, context, depth - 1)
        case ast.Call(func=function, args=args, keywords=keywords):
            receiver = [function.value] if isinstance(function, ast.Attribute) else []
            for each in (*receiver, *args, *(one.value for one in keywords)):
                yield from _arguments_behind(each, context, depth)
        case _:
            for below in ast.iter_child_nodes(node):
                yield from _arguments_behind(below, context, depth)


def _is_of_settings(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and is_settings(node.value.id)


def _may_hold_it(value: Value) -> bool:
    return _may_be_there(value) or (value.may(Kind.SEQUENCE) and _may_be_there(any_element(value)))


def begun_by(reason: Reason | None, context: FileContext) -> ast.arg | None:
    """Return the argument of this file with which a reason begins, a method's object aside."""
    first = reason.start if reason is not None else None
    is_given = isinstance(first, ast.arg) and context.holds(first) and context.value_of_self(first) is None
    return first if is_given and isinstance(first, ast.arg) else None


def _is_number(argument: ast.arg, context: FileContext) -> bool:
    """Whether an argument is one for a number or a word: that is its default."""
    function = context.parent(context.parent(argument) or argument)
    return isinstance(function, _FUNCTIONS) and has_plain_default(function, argument.arg)


_Says = Callable[[ast.expr, FileContext], "str | None"]
"""What says of an expression by itself that it may be on an accelerator."""


def _place_of(node: ast.expr, context: FileContext, says: _Says) -> Place | None:
    value = context.value(node)
    if not _may_hold_it(value):
        return None
    for each in (value, context.presumed_value(node)):
        if each.may(Kind.TENSOR) and (shown := _shown(each, context)) is not None:
            return shown
    begun = _begins(node, context, says, _DEEPEST)
    if begun is None or not _may_hold_it(context.presumed_value(node)):
        return None
    return Place((begun,), False)


def place_of_layer(node: ast.expr, context: FileContext) -> Place | None:
    """Return why a layer that is called may be on an accelerator: it was moved, or it is a part of a module."""
    value = context.value(node)
    if (shown := _shown(value, context)) is not None:
        return shown
    if not value.may_be_on_accelerator or not _is_of_a_module(node, context):
        return None
    return Place((_said("is where the module is that it is a part of", node),), False)


def _shown(value: Value, context: FileContext) -> Place | None:
    """Return the place of what is known to be moved there."""
    if value.device & Device.ACCELERATOR:
        only = value.device == Device.ACCELERATOR
        reason = value.why_device
        steps = list(reason.chain()) if reason is not None else []
        is_certain = only and bool(steps) and not any(step.weak for step in steps)
        begins = steps[0].node if steps else None
        is_shown = only or (begins is not None and context.holds(begins))
        return Place(context.why(reason), is_shown, is_certain)
    return None


def is_building(node: ast.AST, context: FileContext) -> bool:
    """Whether code runs while an object is made, in ``__init__`` and what it calls: all is on the host yet."""
    function = context.function_around(node)
    while function is not None:
        if _builds(function, context):
            return True
        function = context.function_around(function)
    return False


def is_building_a_module(node: ast.AST, context: FileContext) -> bool:
    """Whether code runs while a module is made: nobody has had it yet, to move it or to give it what was moved."""
    function = context.function_around(node)
    while function is not None:
        if _builds(function, context) and _is_method_of_a_module(function, context):
            return True
        function = context.function_around(function)
    return False


def is_called_in_building(node: ast.AST, context: FileContext) -> bool:
    """Whether code stands in a function that other files call, and that is called only while objects are made."""
    function = context.function_around(node)
    if function is None:
        return False
    calls = context.calls_of(function)
    is_elsewhere = any(file is not context for file, _ in calls)
    return is_elsewhere and all(is_building_a_module(each, file) for file, each in calls)


@remembered
def _builds(function: Function, context: FileContext) -> bool:
    owner = context.parent(function)
    if not isinstance(owner, ast.ClassDef):
        return False
    return function.name in _called_while_building(owner, context)


@remembered
def _called_while_building(owner: ast.ClassDef, context: FileContext) -> frozenset[str]:
    methods = {each.name: each for each in owner.body if isinstance(each, _FUNCTIONS)}
    found = {"__init__", "__new__", "__post_init__", "reset_parameters", "setUp"}
    waiting = list(found)
    while waiting:
        method = methods.get(waiting.pop())
        for call in context.inside(method, ast.Call) if method is not None else ():
            match call.func:
                case ast.Attribute(value=ast.Name(id="self"), attr=word) if word in methods and word not in found:
                    found.add(word)
                    waiting.append(word)
    return frozenset(found)


def speaks_of_devices(context: FileContext) -> bool:
    """Whether the text of a file has a word of devices."""
    return context.matches(_DEVICE_IN_PLAY)


def _begins(node: ast.expr, context: FileContext, says: _Says, depth: int) -> str | None:
    """Return where a tensor of unknown place comes from, if that is a module or what a module is given."""
    if (owner := _whose_device(node, context)) is not None:
        node = owner  # what is made on the device of a tensor is where that is
    value = context.value(node)
    if depth == 0 or not _may_hold_it(value):
        return None
    if (said := says(node, context)) is not None:
        return said
    match node:
        case ast.Name():
            return _name_begins(node, context, says, depth) or _handed_by_module(node, context, says, depth)
        case ast.Attribute(value=owner):
            if value.instance & _OF_A_MODULE:
                return _said("is a parameter or buffer: it is where the module is", node)
            return None if context.value(owner).must(Kind.MODULE) else _begins(owner, context, says, depth - 1)
        case ast.Call():
            return _call_begins(node, context, says, depth)
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner) | ast.NamedExpr(value=inner):
            return _begins(inner, context, says, depth - 1)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return _first((left, right), context, says, depth)
        case ast.IfExp(body=one, orelse=other):
            return _first((one, other), context, says, depth)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return _first(elements, context, says, depth)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return _begins(element, context, says, depth - 1)
    return None


def _whose_device(node: ast.expr, context: FileContext) -> ast.expr | None:
    """Return the tensor whose device an expression is, also by a name: ``device = x.device``."""
    if isinstance(node, ast.Name):
        bound = bindings_of(node, context)
        node = bound[0].value if len(bound) == 1 and not bound[0].depth else node
    return node.value if isinstance(node, ast.Attribute) and node.attr == "device" else None


def _said_by_module(node: ast.expr, context: FileContext) -> str | None:
    """Return how a module's method that is given a name says where that is."""
    for place in places_of(node, context) if isinstance(node, ast.Name) else ():
        if isinstance(place, ast.arg) and (function := _forward_of(place, context)) is not None:
            return _said(f"is an argument of `{function.name}`: it comes where the module is", place)
    return None


def _said_by_methods(node: ast.expr, context: FileContext) -> str | None:
    """Return how a module's method that is given a name says where that is, or what its methods give does."""
    said = _said_by_module(node, context)
    if said is not None or not isinstance(node, ast.Call):
        return said
    return _first(_given_by_method(node.func, context), context, _said_by_module, _DEEPEST)


def _said_by_reading(node: ast.expr, context: FileContext) -> str | None:
    """Return how the function around a tensor says that it may be elsewhere, or a module's method does."""
    said = _said_by_module(node, context)
    read = read_device(node, context) if said is None else None
    return said if read is None else _said("is read: the tensor is expected elsewhere", read)


def _may_be_there(value: Value) -> bool:
    return value.may(Kind.TENSOR) and value.may_be_on_accelerator


def _first(nodes: Iterable[ast.expr], context: FileContext, says: _Says, depth: int) -> str | None:
    found = (_begins(each, context, says, depth - 1) for each in nodes)
    return next((each for each in found if each is not None), None)


def _name_begins(name: ast.Name, context: FileContext, says: _Says, depth: int) -> str | None:
    return _first((each.value for each in bindings_of(name, context)), context, says, depth)


def _handed_by_module(name: ast.Name, context: FileContext, says: _Says, depth: int) -> str | None:
    """Return where an argument comes from that a method of a module is given by another method of its class alone."""
    return _first(_handed_over(name, context), context, says, depth)


def is_handed_a_tensor(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is an argument for which the methods of its class, a module, hand over tensors alone."""
    given = _handed_over(name, context)
    return bool(given) and all(context.value(each).is_tensor for each in given)


def _handed_over(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Return what the methods of a module give to another one of it as the argument that a name stands for."""
    places = places_of(name, context)
    if len(places) != 1 or not isinstance(places[0], ast.arg):
        return []
    function = context.parent(context.parent(places[0]) or places[0])
    if not isinstance(function, ast.FunctionDef) or not _is_method_of_a_module(function, context):
        return []
    calls = [call for file, call in calls_of(function, context) if file is context]
    return [given for each in calls if (given := handed_to(each, function, places[0])) is not None]


def _call_begins(call: ast.Call, context: FileContext, says: _Says, depth: int) -> str | None:
    """Return why the result of a call may be elsewhere: by the module, the arguments or the receiver."""
    function = context.value(call.func)
    if function.must(Kind.MODULE):
        if _is_of_a_module(call.func, context):
            return _said("is computed where the module is", call)
        return None
    if function.names:
        if not all(each.startswith("torch.") for each in function.names):
            return None
        given = (*call.args, *(each.value for each in call.keywords))
        return _first((each for each in given if not isinstance(each, ast.Starred)), context, says, depth)
    if (moved := moved_by_class(call.func, context)) is not None:
        return _said("moves the network: what it gives is there", moved)
    match call.func:
        case ast.Call(func=ast.Attribute(attr="to" | "cuda")) if function.device & Device.ACCELERATOR:
            return _said("is called, and moves the network before", call)
        case ast.Attribute(value=receiver, attr="to"):
            return _first((receiver, *call.args), context, says, depth)
        case ast.Attribute(value=receiver):
            return _begins(receiver, context, says, depth - 1)
    return None


def _given_by_method(function: ast.expr, context: FileContext) -> list[ast.expr]:
    """Return what a method of the module whose method this is may give, where its class defines it once."""
    if not isinstance(function, ast.Attribute) or not _is_of_a_module(function.value, context):
        return []
    owner = next((each for each in context.ancestors(function) if isinstance(each, ast.ClassDef)), None)
    defined = [each for each in owner.body if isinstance(each, ast.FunctionDef)] if owner is not None else []
    found = [each for each in defined if each.name == function.attr]
    if len(found) != 1 or not isinstance(function.value, ast.Name):
        return []
    return [each.value for each in context.own(found[0], ast.Return) if each.value is not None]


def _is_of_a_module(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is the module whose method this is, or a part of it: also one that a loop is at."""
    for _ in range(_FEW):
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        own = context.value_of_self(node)
        if own is not None:
            return own.must(Kind.MODULE)
        bound = bindings_of(node, context) if isinstance(node, ast.Name) else []
        if len(bound) != 1 or bound[0].is_augmented or not context.value(node).must(Kind.MODULE):
            return False
        node = bound[0].value
    return False


def _forward_of(argument: ast.arg, context: FileContext) -> Function | None:
    """Return the ``forward`` of a module that an argument is one of; ``self`` is none."""
    function = context.parent(context.parent(argument) or argument)
    if not isinstance(function, _FUNCTIONS) or not _FORWARD.fullmatch(function.name) or argument.arg == "self":
        return None
    return function if _is_method_of_a_module(function, context) else None


def batch_of(argument: ast.arg, context: FileContext) -> str | None:
    """Return how an argument is the batch of a hook of Lightning; None where it is none."""
    function = context.parent(context.parent(argument) or argument)
    if not isinstance(function, ast.FunctionDef) or not _STEP.fullmatch(function.name):
        return None
    if function.args.args[1:2] != [argument] or not _is_method_of_a_module(function, context):
        return None
    return _said(f"is the batch of `{function.name}`: Lightning moves it to where the module is", argument)


@remembered
def _is_method_of_a_module(function: Function, context: FileContext) -> bool:
    first = [*function.args.posonlyargs, *function.args.args][:1]
    own = context.value_of_self(first[0]) if first else None
    return own is not None and own.must(Kind.MODULE)


def _said(text: str, node: ast.expr | ast.arg) -> str:
    return f"`{in_a_line(node)}` {text}, line {node.lineno}"
