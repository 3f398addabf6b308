"""Objects that a module holds, as its attributes: parameters and buffers where their ``data`` is written."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import FileContext, Kind, remembered
from torchlint.rules.evidence.local_bindings import values_of


def is_part_of_module(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an object is an attribute of a module: ``module.word``, ``getattr(module, word)``, ``get_parameter``."""
    place = context.python(node)
    if not isinstance(place, ast.expr):
        return False
    taken = values_of(place, context) if isinstance(place, ast.Name) else [place]
    return bool(taken) and all(_is_taken_from_module(each, context) for each in taken)


def _is_taken_from_module(node: ast.expr, context: FileContext) -> bool:
    match node:
        case ast.Attribute(value=owner) | ast.Call(func=ast.Name(id="getattr"), args=[owner, _, *_]):
            return context.value(owner).must(Kind.MODULE) or _is_applied_to(owner, context)
        case ast.Call(func=ast.Attribute(attr="get_parameter" | "get_buffer")):  # nothing else has such a method
            return True
    return False


def _is_applied_to(owner: ast.expr, context: FileContext) -> bool:
    """Whether a name is the argument of a function that ``module.apply`` calls with each module."""
    function = context.function_around(owner)
    if not isinstance(owner, ast.Name) or not isinstance(function, ast.FunctionDef):
        return False
    given = [each.arg for each in function.args.args if each.arg not in ("self", "cls")]
    return given[:1] == [owner.id] and function.name in _applied(context.tree, context)


@remembered
def _applied(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the functions that a file hands to ``apply`` of a module."""
    found: set[str] = set()
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="apply"), args=[ast.Name(id=name) | ast.Attribute(attr=name)]
            ) if context.value(owner).must(Kind.MODULE):
                found.add(name)
    return frozenset(found)
