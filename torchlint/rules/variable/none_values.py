"""Whether the code shows that an expression may be `None`: by a default, an assignment, or what a call is given.

Where a name stands, what is bound to it on the way there counts, and a test for `None` around it. Further back, and
from file to file, any binding counts (:mod:`torchlint.inference.program.none_graph`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import IS_NOT_NONE, Decision
from torchlint.rules.api import FileContext, Kind, asks_for_none, root_of_place
from torchlint.rules.evidence.kept_meaning import rebinding
from torchlint.rules.evidence.local_bindings import is_guarded, places_of
from torchlint.rules.evidence.shown_code import brief

_DEEPEST = 4
"""Names are followed to what they are bound to where they stand this far."""


def is_not_none(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is not `None`: open where the code shows that it may be."""
    place, doubt = context.python(node), None
    if isinstance(place, ast.expr):
        doubt = "the code shows that it may be" if _may_be(place, context) else _bound_anew(place, context)
    return IS_NOT_NONE.decided(doubt, brief(node, context))


def _bound_anew(node: ast.expr, context: FileContext) -> str | None:
    """Return who may rebind what an expression comes from: a function of the project, or a name to `None`."""
    for each, _ in _passed(node, context):
        match each:
            case ast.Call(func=function) if any("@" in name for name in context.value(function).names):
                if (found := rebinding([function], context)) is not None:
                    return found[1]
    return None


def _may_be(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression may be `None` by what the project shows, and no test around it says otherwise."""
    known = context.value(node)
    if known.may(Kind.NONE) and not known.unknown:
        return True
    if _is_tested(node, context) or (isinstance(node, ast.Name) and _is_replaced(node, context)):
        return False
    origins, flow = _origins(node, context), context.none_flow
    return flow.leads_to_none(origins)


def _origins(node: ast.expr, context: FileContext) -> list[ast.expr]:
    """Return what an expression comes from: of a name all that may be bound to it where it stands."""
    return [each for each, values in _passed(node, context) if not values and not _is_of_tensor(each, context)]


def _passed(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Yield an expression and all that it comes from, each with what it is bound to where that is told of a name."""
    values = _values(node, context) if isinstance(node, ast.Name) and depth else []
    yield node, values
    for each in values:
        yield from _passed(each, context, depth - 1)


def _values(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Return what may be bound to a name where it stands; nothing where not all of that is told."""
    places = places_of(name, context)
    values = [_bound(each, context) for each in places if isinstance(each, ast.Name)]
    return [each for each in values if each is not None] if len(values) == len(places) and None not in values else []


def _is_of_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is an attribute of torch's own, whatever other objects have of that name."""
    match node:
        case ast.Attribute(value=inner, attr=word):
            return word != "grad" and context.value(inner).is_tensor
    return False


def _bound(place: ast.Name, context: FileContext) -> ast.expr | None:
    """Return what an assignment binds to a name as a whole; None for other ways to bind one."""
    match context.parent(place):
        case ast.Assign(value=value, targets=targets) if place in targets:
            return value
    return None


def _is_tested(node: ast.expr, context: FileContext) -> bool:
    """Whether a test for `None` is in force around a name, or around an attribute or an element of one."""
    code, root = ast.unparse(node), root_of_place(node)

    def tells(test: ast.expr, holds: bool) -> bool:
        asked = asks_for_none(test, code)
        return asked is not None and asked is not holds

    return isinstance(root, ast.Name) and is_guarded(root, tells, context)


def _is_replaced(name: ast.Name, context: FileContext) -> bool:
    """Whether an earlier ``if x is None: x = ...`` puts something in the place of `None`."""
    around = (above for above in context.ancestors(name) if isinstance(above, ast.stmt))
    for each in (one for above in around for one in getattr(above, "body", ())):
        match each:
            case ast.If(test=test, body=[*_, ast.Assign(targets=[ast.Name(id=word)])]) if word == name.id:
                if asks_for_none(test, word) and context.span(each)[1] <= context.span(name)[0]:
                    return True
    return False
