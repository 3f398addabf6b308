"""Names that stand for a type on the CPU or on an accelerator by a test, and that test as a device."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from torchlint.rules.api import FUNCTIONS, FileContext, Kind, remembered, root_of_name
from torchlint.rules.constructors.legacy_types import tensor_type
from torchlint.rules.local_bindings import values_of

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class ConditionalDevice:
    """The device of a name such as ``Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor``."""

    code: str
    """``"cuda" if cuda else "cpu"``"""
    follows_defaults: bool
    """Whether one of the two is ``torch.Tensor``, which follows the default tensor type."""


@remembered
def conditional_device(node: cst.BaseExpression, context: FileContext) -> ConditionalDevice | None:
    """Spell the device of a name by the test that chooses its type; None where the test may come out otherwise now."""
    name = context.python(node)
    if not isinstance(name, ast.Name):
        return None
    match values_of(name, context):
        case [ast.IfExp() as chosen]:
            pass
        case _:
            return None
    kinds = [tensor_type(context.names(each)) for each in (chosen.body, chosen.orelse)]
    devices = [each.device for each in kinds if each is not None]
    if sorted(str(each) for each in devices) != ["cpu", "cuda"] or not _stays(chosen.test, name, context):
        return None
    first, second = devices
    code = f'"{first}" if {ast.unparse(chosen.test)} else "{second}"'
    return ConditionalDevice(code, any(each is not None and each.plain for each in kinds))


def _stays(test: ast.expr, at: ast.AST, context: FileContext) -> bool:
    """Whether a test means the same at another place, and comes out the same there."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _stays(inner, at, context)
        case ast.Call(func=function, args=[], keywords=[]) if context.names(function) == {"torch.cuda.is_available"}:
            return _means_the_same(root_of_name(function), at, context)
        case ast.Name():
            return _is_constant(test, context) and _means_the_same(test, at, context)
    return False


def _is_constant(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is bound once to a number or a truth value, whose truth nobody can change later."""
    scope, value = context.scope_that_binds(name), context.value(name)
    is_flag = value.must(Kind.SCALAR | Kind.INTEGER) and not value.claimed
    return is_flag and scope is not None and len(context.stores(scope).get(name.id, ())) == 1


def _means_the_same(root: ast.AST, at: ast.AST, context: FileContext) -> bool:
    """Whether the first word of a test means the same where a name is used as where it is bound."""
    binding = context.nearest(root, *_SCOPES)
    for above in context.ancestors(at):
        if above is binding:
            return isinstance(root, ast.Name)
        if isinstance(above, ast.ClassDef | ast.Lambda) or (
            isinstance(above, FUNCTIONS) and isinstance(root, ast.Name) and root.id in context.local_names(above)
        ):
            return False
    return binding is None and isinstance(root, ast.Name)
