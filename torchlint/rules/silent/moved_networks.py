"""What was moved though nobody says what kind of thing it is: what a moved network gives, and what is in a moved batch.

What is moved and then called with what is there is a network, and what comes of it is where the network is:
``net.cuda()``, ``net(x.cuda())``. What is moved and then computed with a tensor is one: ``x.to(device) + 1``; so it is
with the members of what is moved one by one, of the batch that Lightning moves for its hooks, and with an argument for
which a call in the project hands over what was moved.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.rules.api import FileContext, Function, Kind, remembered
from torchlint.rules.local_bindings import NameBinding, bound_at
from torchlint.rules.silent.accelerator_places import Place, batch_of, place_by_argument, place_of
from torchlint.rules.silent.kept_networks import moved_by_class
from torchlint.rules.wording import in_a_line

_STEPS = frozenset(
    "sum mean squeeze unsqueeze view reshape flatten detach clone float exp log sigmoid softmax log_softmax tanh relu "
    "transpose permute t contiguous expand repeat abs sqrt pow square clamp argmax argmin norm chunk".split()
)
"""Methods whose result is where the tensor is."""
_MOVING = frozenset({"to", "cuda"})
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)
_DEEPEST = 5


def place_of_result(node: ast.expr, context: FileContext) -> Place | None:
    """Return why what a moved network gives, or what was moved itself, may be on an accelerator; None for others."""
    return _result(node, context, _DEEPEST)


def _result(node: ast.expr, context: FileContext, depth: int) -> Place | None:
    """Return where an expression is that is made of the result of a network; None where that is not known."""
    value = context.value(node)
    is_container = isinstance(node, (ast.Name, *_COMPREHENSIONS)) and not value.may(Kind.TENSOR)
    if depth == 0 or not (is_container or (value.may(Kind.TENSOR) and value.may_be_on_accelerator)):
        return None
    match node:
        case ast.Name():
            return _of_batch(node, context) or _handed_over(node, context) or _result_by_name(node, context, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _STEPS:
            return _result(inner, context, depth - 1)
        case ast.Call(func=ast.Attribute(attr=word)) if word in _MOVING:
            return place_of(node, context)
        case ast.Compare(left=inner, ops=[ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE() | ast.Eq() | ast.NotEq()]):
            return _result(inner, context, depth - 1)
        case ast.BinOp(left=one, right=other):
            return _result(one, context, depth - 1) or _result(other, context, depth - 1)
        case ast.Subscript(value=inner):
            return _of_batch(node, context) or _result(inner, context, depth - 1)
        case ast.ListComp(elt=member) | ast.GeneratorExp(elt=member) | ast.DictComp(value=member):
            return _result(member, context, depth - 1)
        case ast.IfExp(body=one, orelse=other):
            found = _result(one, context, depth - 1) if _result(other, context, depth - 1) is not None else None
            return replace(found, is_certain=False) if found is not None else None
        case ast.Call(func=ast.Name() | ast.Attribute() as network, args=[first, *_]) if not context.names(network):
            moved = _moved(network, context)
            given = place_of(first, context) if moved is not None else None
            if moved is None or given is None:
                return None
            said = f"`{in_a_line(network)}` is moved, and so is what it is given, line {moved.lineno}"
            return Place((said, *given.why), given.is_shown)
    return None


def _result_by_name(name: ast.Name, context: FileContext, depth: int) -> Place | None:
    """Return why what a name is bound to may be there: at one place, by itself or as a member of a comprehension."""
    bound = _bound_once(name, context)
    if bound is None or bound.is_augmented:
        return None
    is_member = bound.depth == 1 and isinstance(bound.value, ast.ListComp | ast.GeneratorExp)
    return _result(bound.value, context, depth - 1) if is_member or not bound.depth else None


def _handed_over(name: ast.Name, context: FileContext) -> Place | None:
    """Return why an argument may be there: a call in the project hands over what was moved, which is a tensor."""
    places = context.reaching(name)
    if len(places) != 1 or not isinstance(places[0], ast.arg):
        return None
    found = place_by_argument(name, context)
    return found if found is not None and not found.is_open else None


def _bound_once(name: ast.Name, context: FileContext) -> NameBinding | None:
    places = context.reaching(name)
    bound = [each for place in places if isinstance(place, ast.Name) for each in bound_at(place, context)]
    return bound[0] if len(places) == 1 and len(bound) == 1 else None


def _of_batch(node: ast.Name | ast.Subscript, context: FileContext) -> Place | None:
    """Return why a member of a batch may be on an accelerator: Lightning moves batches to where the module is."""
    is_member = isinstance(node, ast.Subscript)
    whole: ast.expr | ast.arg = node
    for _ in range(_DEEPEST):  # a name that a loop binds to a part of itself would lead round for ever
        match whole:
            case ast.arg():
                break
            case ast.Subscript(value=ast.Name() | ast.Subscript() as inner):
                whole, is_member = inner, True
            case ast.Name() if len(places := context.reaching(whole)) == 1 and isinstance(places[0], ast.arg):
                whole = places[0]
            case ast.Name() if (bound := _bound_once(whole, context)) is not None:
                if not isinstance(bound.value, ast.Name | ast.Subscript):
                    return None
                whole, is_member = bound.value, is_member or bound.depth > 0
            case _:
                return None
    said = batch_of(whole, context) if is_member and isinstance(whole, ast.arg) else None
    return Place((said,), False) if said is not None else None


def _moved(network: ast.Name | ast.Attribute, context: FileContext) -> ast.Call | None:
    """Return where the function around a call moves the network that it calls, or its class does."""
    if isinstance(network, ast.Attribute):
        return moved_by_class(network, context)
    function = context.function_around(network)
    return _moves_in(function, context).get(network.id) if function is not None else None


@remembered
def _moves_in(function: Function, context: FileContext) -> dict[str, ast.Call]:
    """Return the moves of a function that stand alone or rebind the same name, by that name: those of modules."""
    found: dict[str, ast.Call] = {}
    for call in context.own(function, ast.Call):
        match call.func:
            case ast.Attribute(value=ast.Name(id=word), attr=method) if method in _MOVING:
                if _stays(call, word, context):
                    found.setdefault(word, call)
    return found


def _stays(call: ast.Call, word: str, context: FileContext) -> bool:
    """Whether what a move gives is dropped, as a module is moved in place, or bound to the same name."""
    above = context.parent(call)
    statement = context.parent(above) if isinstance(above, ast.Tuple) else above
    if isinstance(statement, ast.Assign):
        bound = (each for target in statement.targets for each in getattr(target, "elts", [target]))
        return any(isinstance(each, ast.Name) and each.id == word for each in bound)
    return isinstance(statement, ast.Expr)
