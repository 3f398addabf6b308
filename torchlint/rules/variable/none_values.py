"""Whether the code shows that an expression may be `None`: by a default, an assignment, or what a call is given.

Where a name stands, what is bound to it on the way there counts, and a test for `None` around it. Further back, and
from file to file, any binding counts (:mod:`torchlint.inference.program.none_graph`).
"""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.assumptions import IS_NOT_NONE, Decision
from torchlint.rules.api import FileContext, Kind, asks_for_none
from torchlint.rules.evidence.constructor_argument import brief
from torchlint.rules.evidence.kept_meaning import rebinding
from torchlint.rules.evidence.local_bindings import is_guarded, places_of

_DEEPEST = 4
"""Names are followed to what they are bound to where they stand this far."""


def is_not_none(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is not `None`: open where the code shows that it may be."""
    place, doubt = context.python(node), None
    if isinstance(place, ast.expr):
        doubt = "the code shows that it may be" if _may_be(place, context) else _gives_another(place, context)
    return IS_NOT_NONE.decided(doubt, brief(node, context))


def _gives_another(node: ast.expr, context: FileContext) -> str | None:
    """Return who may bind a function of the project anew whose result an expression is: ``lib.load = lambda: None``."""
    for each in _origins(node, context):
        if isinstance(each, ast.Call) and any("@" in name for name in context.value(each.func).names):
            found = rebinding([each.func], context)
            if found is not None:
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
    if flow.leads_to_none(origins):
        return True
    return any(context.other_texts.hands_none(each) is not None for each in flow.entries(origins))


def _origins(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> list[ast.expr]:
    """Return what an expression comes from: of a name all that may be bound to it where it stands."""
    match node:
        case ast.Attribute(value=inner, attr=word) if word != "grad" and context.value(inner).is_tensor:
            return []  # it is torch's own, whatever other objects have of that name
        case ast.Name() if depth:
            places = places_of(node, context)
            values = [_bound(each, context) for each in places if isinstance(each, ast.Name)]
            if values and len(values) == len(places) and None not in values:
                return [origin for each in values if each is not None for origin in _origins(each, context, depth - 1)]
    return [node]


def _bound(place: ast.Name, context: FileContext) -> ast.expr | None:
    """Return what an assignment binds to a name as a whole; None for other ways to bind one."""
    match context.parent(place):
        case ast.Assign(value=value, targets=targets) if place in targets:
            return value
    return None


def _is_tested(node: ast.expr, context: FileContext) -> bool:
    """Whether a test for `None` is in force around a name, or around an attribute or an element of one."""
    code, root = ast.unparse(node), node
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value

    def tells(test: ast.expr, holds: bool) -> bool:
        asked = asks_for_none(test, code)
        return asked is not None and asked is not holds

    return isinstance(root, ast.Name) and is_guarded(root, tells, context)


def _is_replaced(name: ast.Name, context: FileContext) -> bool:
    """Whether an earlier ``if x is None: x = ...`` puts something in the place of `None`."""
    for above in context.ancestors(name):
        for each in getattr(above, "body", []) if isinstance(above, ast.stmt) else []:
            match each:
                case ast.If(test=test, body=[*_, ast.Assign(targets=[ast.Name(id=word)])]) if word == name.id:
                    if asks_for_none(test, word) and context.span(each)[1] <= context.span(name)[0]:
                        return True
    return False
