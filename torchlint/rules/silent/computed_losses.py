"""Whether a value is a loss that was computed, and where its graph was lost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.rules.api import LOSSES, FileContext, Grad, Kind, Value, leaf, operations
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.own_results import returned

_LOST = frozenset("item detach numpy tolist argmax data".split())
_LOSS_NAME = re.compile(r"(^|_)(loss|losses|cost|criterion|objective)(_?\d*$|_)|Loss\d*$")
_DEEPEST = 4
_REDUCING = frozenset("mean sum item max min norm".split())
_GATHERING = frozenset("max min sum abs float round list".split())
"""Built-ins that make numbers of numbers, and what they are given is read from tensors."""
_BUILT_IN = frozenset(f"builtins.{each}" for each in _GATHERING)
_READING = frozenset("item tolist numpy".split())
"""Methods by which numbers are read from tensors."""
_PASSING_ON = frozenset("cpu cuda to float double half clone mean sum squeeze".split())
"""Methods whose result is the same loss."""
_HOLDING_DATA = frozenset({"tensor", "as_tensor", "from_numpy", "FloatTensor", "DoubleTensor", "Tensor"})
"""Functions of torch that make a leaf of numbers."""


def is_loss(node: ast.expr, value: Value, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether an expression computes something, and is no leaf that is made, given, or a constant."""
    if value.is_tensor and value.grad & Grad.ATTACHED and not isinstance(node, ast.Name | ast.Attribute):
        return True
    match node:
        case ast.BinOp(left=left, right=right):
            return any(is_loss(each, context.value(each), context, depth) for each in (left, right))
        case ast.UnaryOp(operand=inner):
            return is_loss(inner, context.value(inner), context, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _LOST | _REDUCING | {"clone", "cpu"}:
            return word in _REDUCING or is_loss(inner, context.value(inner), context, depth)
        case ast.Call() if _is_made_of_data(node, context):
            return any(_is_of_computed(each, context, depth) for each in node.args)
        case ast.Call(func=function):
            return _computes_a_loss(function, context)
        case ast.Attribute(value=inner, attr="data"):
            return is_loss(inner, context.value(inner), context, depth)
        case ast.List() | ast.Tuple():
            return _is_of_computed(node, context, depth)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) if depth:
            return _is_of_computed(element, context, depth - 1)
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            if any(isinstance(each.value, ast.List) for each in bound):
                return any(_is_of_computed(each, context, depth - 1) for each in _appended(node, context))
            return bool(bound) and any(
                each.depth == 0 and is_loss(each.value, context.value(each.value), context, depth - 1) for each in bound
            )
    return False


def _is_made_of_data(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes a leaf, an array or a number of what it is given first."""
    names = context.names(call.func)
    if not call.args or not names:
        return False
    if all(each.startswith("numpy.") for each in names):
        return True
    words = {each.rpartition(".")[2] for each in names}
    if all(each.startswith("torch.") for each in names):
        return words <= _HOLDING_DATA
    return all(each.startswith("builtins.") for each in names) and words <= _GATHERING


def _is_of_computed(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether data comes from a loss or a number that was read from a tensor, by itself or in a list."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(_is_of_computed(each, context, depth) for each in elements)
        case ast.Attribute() | ast.Call() if is_called_a_loss(node):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name() as mapping, attr="values"), args=[]) if depth:
            held = _values_of(mapping, context)
            return any(_is_read(each) or _is_of_computed(each, context, depth - 1) for each in held)
        case ast.Call(func=ast.Name(), args=given) if _is_made_of_data(node, context):
            return any(_is_of_computed(each, context, depth) for each in given)
        case ast.BinOp(left=left, right=right):
            return any(_is_of_computed(each, context, depth) for each in (left, right))
        case ast.Name() if depth and (is_given_by_a_loss(node, context) or _is_member(node, context, depth - 1)):
            return True
        case ast.Name() if depth and any(_is_made_of_read(each.value, context) for each in bindings_of(node, context)):
            return True
        case ast.IfExp(body=one, orelse=other):
            return any(_is_of_computed(each, context, depth) for each in (one, other))
        case ast.Call() if _is_made_of_read(node, context):
            return True
    return is_loss(node, context.value(node), context, depth)


def _values_of(mapping: ast.Name, context: FileContext) -> Iterator[ast.expr]:
    """Yield what a dictionary of the function holds: ``{"a": first.item()}``, ``{k: v.item() for k, v in ...}``."""
    for each in bindings_of(mapping, context):
        match each.value:
            case ast.Dict(values=values) if each.depth == 0:
                yield from values
            case ast.DictComp(value=value) if each.depth == 0:
                yield value


def _is_member(name: ast.Name, context: FileContext, depth: int) -> bool:
    """Whether a loop takes a name out of a list of what was computed: ``[1 - each for each in losses]``."""
    taken = (each.value for each in bindings_of(name, context) if each.depth == 1 and not each.is_augmented)
    return any(
        isinstance(each, ast.Name | ast.List | ast.ListComp)
        and _is_of_computed(each, context, depth)
        and lost_at(each, context) is None
        for each in taken
    )


def _is_read(node: ast.expr) -> bool:
    """Whether numbers are read from a tensor: what any function makes of them has no graph."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READING


def _is_made_of_read(node: ast.expr, context: FileContext) -> bool:
    """Whether a function of no library is given what was read from tensors."""
    if not isinstance(node, ast.Call) or _is_of_a_library(node, context):
        return False
    return any(_is_read(each) for each in node.args)


def _appended(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Return what is appended to a list in the function around it."""
    around = context.function_around(name) or context.tree
    found: list[ast.expr] = []
    for call in context.inside(around, ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=word), attr="append"), args=[one]) if word == name.id:
                found.append(one)
    return found


def is_called_a_loss(node: ast.expr) -> bool:
    """Whether what is computed out of sight goes by the name of a loss: ``self.actor_loss(x)``, ``total_loss.data``."""
    match node:
        case ast.Attribute(value=inner, attr=word) | ast.Call(func=ast.Attribute(value=inner, attr=word)) if (
            word in _LOST or word == "values"
        ):
            return is_called_a_loss(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _PASSING_ON:
            return is_called_a_loss(inner)
        case ast.List(elts=[one]) | ast.Tuple(elts=[one]):
            return is_called_a_loss(one)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return _LOSS_NAME.search(word) is not None
        case ast.Call(func=function):
            return is_called_a_loss(function)
    return False


def is_given_by_a_loss(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a name stands for what a function gives that is called a loss: ``criterion(out, y)``.

    So it is where a function of the file returns what such a one gives.
    """
    bound = bindings_of(node, context) if isinstance(node, ast.Name) and depth else []
    for each in bound:
        if isinstance(each.value, ast.Name) and each.depth == 0 and is_given_by_a_loss(each.value, context, depth - 1):
            return True
        if isinstance(each.value, ast.Call):
            given = returned(each.value, context) or []
            results = (one for one in given if isinstance(one, ast.Call))
            if is_called_a_loss(each.value) or any(is_called_a_loss(one) for one in results):
                return True
    return False


def loses_its_graph(node: ast.expr, value: Value, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a value is known to have no graph, and is what a function of the project gives that was handed one.

    No leaf on purpose is made so: the function switches grad mode off, or cuts the graph.
    """
    if not value.may(Kind.TENSOR) or value.grad != Grad.DETACHED or not isinstance(node, ast.Name) or not depth:
        return False
    made = [each.value for each in bindings_of(node, context)]
    return any(
        loses_its_graph(each, context.value(each), context, depth - 1)
        if isinstance(each, ast.Name)
        else isinstance(each, ast.Call) and not _is_of_a_library(each, context) and _is_handed_a_graph(each, context)
        for each in made
    )


def _is_of_a_library(call: ast.Call, context: FileContext) -> bool:
    return any(each.startswith(("torch.", "numpy.", "builtins.")) for each in context.names(call.func))


def _is_handed_a_graph(call: ast.Call, context: FileContext) -> bool:
    """Whether a function is given what a call gave that may have a graph, or is one of the file that gives losses."""
    results = returned(call, context) or []
    if any(isinstance(each, ast.Call) and is_called_a_loss(each) for each in results):
        return True
    given = _behind(call.args, context)
    return any(isinstance(each, ast.Call) and reaches_a_graph(each, context) for each in given)


def _behind(given: Iterable[ast.expr], context: FileContext) -> Iterator[ast.expr]:
    """Yield expressions, and what names among them are bound to as a whole."""
    for each in given:
        yield each
        if isinstance(each, ast.Name):
            yield from (one.value for one in bindings_of(each, context) if one.depth == 0)


def _computes_a_loss(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is one of torch's losses or full reductions, or a module of such a class."""
    value = context.value(function)
    if value.names and all(each.startswith("torch.") for each in value.names):
        names = {leaf(each) for each in value.names}
        return bool(names <= LOSSES | _REDUCING) and not value.names <= operations().factories
    return value.must(Kind.MODULE) and _is_of_losses(function, context)


def _is_of_losses(function: ast.expr, context: FileContext) -> bool:
    """Whether a module is made of a class of losses, where it is called or before: ``nn.L1Loss()(out, y)``."""
    made = [function]
    if isinstance(function, ast.Name):
        made = [each.value for each in bindings_of(function, context)]
    return any(
        isinstance(each, ast.Call) and any(one.endswith("Loss") for one in context.names(each.func)) for each in made
    )


def subject_of(given: ast.expr, context: FileContext) -> ast.expr:
    """Return what a leaf is made of in the end: ``loss`` for ``torch.tensor([loss])``."""
    match given:
        case ast.Call(args=[one]) if _is_made_of_data(given, context) and not context.names(given.func) & _BUILT_IN:
            return subject_of(one, context)
        case ast.List(elts=[one]) | ast.Tuple(elts=[one]):
            return subject_of(one, context)
    return given


def reaches_a_graph(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a value is made of what has a graph, such as a network's output, and nothing seen cuts that."""
    match node:
        case ast.Call(func=ast.Attribute(attr=word)) | ast.Attribute(attr=word) if word in _LOST:
            return False
        case ast.Call() | ast.Name() if context.value(node).grad & Grad.ATTACHED:
            return lost_at(node, context) is None
        case ast.Call(func=function, args=given):
            inner = [function.value] if isinstance(function, ast.Attribute) else []
            return any(reaches_a_graph(each, context, depth) for each in (*inner, *given))
        case ast.UnaryOp(operand=inner_node):
            return reaches_a_graph(inner_node, context, depth)
        case ast.BinOp(left=left, right=right):
            return any(reaches_a_graph(each, context, depth) for each in (left, right))
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            return any(each.depth == 0 and reaches_a_graph(each.value, context, depth - 1) for each in bound)
    return False


def lost_at(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> ast.expr | None:
    """Return what cuts the graph of a value, where that can be seen."""
    match node:
        case ast.Call(func=ast.Attribute(attr=word)) | ast.Attribute(attr=word) if word in _LOST:
            return node
        case ast.Call(func=ast.Name(id="float"), args=[_]) | ast.Compare():
            return node
        case ast.Call(args=given) if _is_made_of_data(node, context):
            return _first_lost(given, context, depth)
        case ast.Call(func=ast.Attribute(value=inner)) | ast.UnaryOp(operand=inner):
            return lost_at(inner, context, depth)
        case ast.BinOp(left=left, right=right):
            return lost_at(left, context, depth) or lost_at(right, context, depth)
        case ast.IfExp(body=one, orelse=other):
            return lost_at(one, context, depth) or lost_at(other, context, depth)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) if depth:
            return lost_at(element, context, depth - 1)
        case ast.Name() if depth:
            return _first_lost((each.value for each in bindings_of(node, context)), context, depth - 1)
    return None


def _first_lost(nodes: Iterable[ast.expr], context: FileContext, depth: int) -> ast.expr | None:
    found = (lost_at(each, context, depth) for each in nodes)
    return next((each for each in found if each is not None), None)
