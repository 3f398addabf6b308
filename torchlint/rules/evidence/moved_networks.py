"""What a network gives that its function moves and then calls with what is there: ``net.cuda()``, ``net(x.cuda())``.

Nobody says what kind of thing ``net`` is; but what is moved and then called with a tensor is a network, and what comes
of it is where the network is.
"""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, Function, Kind, remembered
from torchlint.rules.evidence.accelerator_places import Place, place_of
from torchlint.rules.evidence.finding_reasons import in_a_line
from torchlint.rules.evidence.local_bindings import bound_at

_STEPS = frozenset(
    "sum mean squeeze unsqueeze view reshape flatten detach clone float exp log sigmoid softmax log_softmax tanh relu "
    "transpose permute t contiguous expand repeat abs sqrt pow square clamp argmax argmin norm chunk".split()
)
"""Methods whose result is where the tensor is."""
_MOVING = frozenset({"to", "cuda"})
_DEEPEST = 5


def place_of_result(node: ast.expr, context: FileContext) -> Place | None:
    """Return why what a moved network gives may be on an accelerator; None for anything else."""
    return _result(node, context, _DEEPEST)


def _result(node: ast.expr, context: FileContext, depth: int) -> Place | None:
    value = context.value(node)
    if depth == 0 or not value.may(Kind.TENSOR) or not value.may_be_on_accelerator:
        return None
    match node:
        case ast.Name():
            places = context.reaching(node)
            bound = [each for place in places if isinstance(place, ast.Name) for each in bound_at(place, context)]
            if len(places) != 1 or len(bound) != 1 or bound[0].depth or bound[0].is_augmented:
                return None
            return _result(bound[0].value, context, depth - 1)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _STEPS:
            return _result(inner, context, depth - 1)
        case ast.Compare(left=inner, ops=[ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE()]):
            return _result(inner, context, depth - 1)
        case ast.Call(func=ast.Name() as network, args=[first, *_]) if not context.names(network):
            moved = _moved(network, context)
            given = place_of(first, context) if moved is not None else None
            if moved is None or given is None:
                return None
            said = f"`{in_a_line(network)}` is moved, and so is what it is given, line {moved.lineno}"
            return Place((said, *given.why), given.is_shown)
    return None


def _moved(network: ast.Name, context: FileContext) -> ast.Call | None:
    """Return where the function around a call moves the network that it calls."""
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
