"""Which argument meets a parameter: the value of a parameter in a context, or where no call is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.evaluation import instance_attributes
from torchlint.models import descent
from torchlint.models.presumed_parameters import presumed_parameter
from torchlint.models.tensor_moves import place_named
from torchlint.semantic.graph import CONST, FormalParameter, FunctionGraph, Node
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, BOTTOM, Abstract, join, unknown
from torchlint.values.asking import ANY_ELEMENT, Oracle, Path
from torchlint.values.contexts import Context

if TYPE_CHECKING:
    from torchlint.evaluation.evaluator import Evaluator


def parameter(ev: Evaluator, node: Node, path: Path, context: Context | None) -> Abstract:
    """Return what a parameter is."""
    function, formal = node.fn, node.data
    assert isinstance(formal, FormalParameter)
    own = context.of(function) if context is not None else None
    if formal.position == 0 and not formal.sort:
        if own is not None and own.receiver is not None:
            return ev.along(own.receiver, path, node, context)
        if function.takes_object and (own is None or own.call is None):
            return ev.along(instance_attributes.own_object(ev, function), path, node, context)
    if own is not None and own.call is not None:
        return passed(ev, node, own.call, path, own.parent, own.receiver is not None)
    return _by_oracle(ev, node, formal, function, path)


def _by_oracle(ev: Evaluator, node: Node, formal: FormalParameter, function: FunctionGraph, path: Path) -> Abstract:
    presumed = presumed_parameter(ev, node, formal, function, path)
    if ev.oracle is not Oracle.CALLERS or (presumed.must(a.NUMBER | a.STRING) and not _names_a_place(formal)):
        return presumed
    sites, is_all = ev.known_callers(function)
    value = BOTTOM if is_all else presumed
    for site in sites:
        value = join(value, passed(ev, node, site.call, path, None, site.has_receiver))
    if not value.kind:
        return presumed
    return _limited(value, presumed) if value.kind & presumed.kind else value


def _names_a_place(formal: FormalParameter) -> bool:
    """Whether a parameter is a device by its default: of other words and numbers no caller is asked."""
    default = formal.default.data if formal.default is not None and formal.default.op == CONST else None
    return isinstance(default, str) and bool(place_named(default))


def _limited(value: Abstract, presumed: Abstract) -> Abstract:
    """Return what calls bring as far as it is what the function says: who contradicts that passes something else."""
    kind = value.kind & presumed.kind
    if not kind & a.CARRIES:
        return Abstract(kind, 0, presumed.device, presumed.dtype, presumed.rank, value.references)
    found = value.but(kind=kind, dtype=value.dtype & presumed.dtype or presumed.dtype)
    if not presumed.may_require_grad and found.may_require_grad:
        found = found.but(grad=presumed.grad, grad_from=None)
    return found if presumed.may_be_on_accelerator else found.on_host()


def passed(ev: Evaluator, node: Node, call: Node, path: Path, outer: Context | None, has_receiver: bool) -> Abstract:
    """Return what a call hands over for the parameter of a node; ``outer`` is the context of the call."""
    formal, given = node.data, call.arguments
    assert isinstance(formal, FormalParameter)
    if formal.word in given.keywords and not formal.sort:
        return ev.value(given.keywords[formal.word], path, outer)
    if formal.sort == "*":
        return _collected(ev, formal, call, path, outer, has_receiver)
    if formal.sort == "**":
        return _collected_by_word(ev, node.fn, call, path, outer)
    if formal.position is not None:
        place = formal.position - has_receiver
        before = [at for at in given.starred if at <= place]
        if before:
            at = min(before)
            step = place - at if len(before) == 1 else ANY_ELEMENT
            value = ev.value(given.positional[at], (step, *path), outer)
            if value.kind:
                return value
        elif 0 <= place < len(given.positional):
            return ev.value(given.positional[place], path, outer)
    for each in given.spread:
        value = ev.value(each, (f"={formal.word}", *path), outer)
        if value.kind:
            return value
    if formal.default is not None:
        return ev.value(formal.default, path)
    return unknown(a.OF_PARAM, node)


def _collected(
    ev: Evaluator, formal: FormalParameter, call: Node, path: Path, outer: Context | None, has_receiver: bool
) -> Abstract:
    given = call.arguments
    first = (formal.position or 0) - has_receiver
    if not path:
        return A_SEQUENCE
    rest = given.positional[max(first, 0) :]
    step = path[0]
    if isinstance(step, int) and not any(at <= first + step for at in given.starred):
        return ev.value(rest[step], path[1:], outer) if 0 <= step < len(rest) else BOTTOM
    value = BOTTOM
    for position, each in enumerate(rest, max(first, 0)):
        inner = (ANY_ELEMENT, *path[1:]) if position in given.starred else path[1:]
        value = join(value, ev.value(each, inner, outer))
    return value


def _collected_by_word(
    ev: Evaluator, function: FunctionGraph, call: Node, path: Path, outer: Context | None
) -> Abstract:
    if not path:
        return A_SEQUENCE
    given, step = call.arguments, path[0]
    named = {each.word for each in function.parameters}
    rest = {word: each for word, each in given.keywords.items() if word not in named}
    word = step[1:] if isinstance(step, str) and step[:1] == "=" else None
    if word is not None and word in rest:
        return ev.value(rest[word], path[1:], outer)
    value = ev.join_of(rest.values(), path[1:], outer) if word is None else BOTTOM
    for each in given.spread:
        value = join(value, ev.value(each, path, outer))
    return value if value.kind or word is None else descent.descend(value, path)
