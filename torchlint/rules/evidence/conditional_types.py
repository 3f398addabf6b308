"""Names that stand for a type on the CPU or on an accelerator by a test, and that test as a device."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from torchlint.rules.api import FUNCTIONS, FileContext, Kind, remembered, root_of_name
from torchlint.rules.evidence.legacy_types import tensor_type
from torchlint.rules.evidence.local_bindings import NameBinding, bindings_of

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
    match bindings_of(name, context):
        case [NameBinding(ast.IfExp() as chosen, 0, False)]:
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
        case ast.BoolOp(values=parts):
            return all(_stays(each, at, context) for each in parts)
        case ast.Call(args=[], keywords=[]):
            return _asks_for_cuda(test, context) and _is_visible(test, at, context)
        case ast.Name():
            return _is_constant(test, context) and _is_visible(test, at, context)
    return False


def _asks_for_cuda(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is `torch.cuda.is_available()`, which gives the same as long as the process runs."""
    return isinstance(node, ast.Call) and context.names(node.func) == {"torch.cuda.is_available"}


def _is_constant(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is bound once, by all that the file says, to a number or a truth value."""
    scope = context.scope_that_binds(name)
    if scope is None or len(context.stores(scope).get(name.id, ())) != 1:
        return False
    around = {each for each in context.ancestors(name) if isinstance(each, _SCOPES)}
    if not isinstance(scope, ast.Module) and scope not in around:
        return False
    bound = bindings_of(name, context)
    return len(bound) == 1 and not bound[0].depth and _is_flag(bound[0].value, context)


def _is_flag(value: ast.expr, context: FileContext) -> bool:
    """Whether an expression gives a number or a truth value, whose truth nobody can change later."""
    match value:
        case ast.Constant(value=bool() | int()) | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return not isinstance(value, ast.Compare) or context.value(value).must(Kind.SCALAR | Kind.INTEGER)
        case ast.IfExp(body=one, orelse=other):
            return _is_flag(one, context) and _is_flag(other, context)
        case ast.BoolOp(values=parts):
            return all(_is_flag(each, context) for each in parts)
    known = context.value(value)
    return _asks_for_cuda(value, context) or (bool(known.kind) and known.must(Kind.SCALAR | Kind.INTEGER))


def _is_visible(test: ast.expr, at: ast.AST, context: FileContext) -> bool:
    """Whether the first word of a test means the same where a name is used as where it is bound."""
    root = root_of_name(test.func if isinstance(test, ast.Call) else test)
    if not isinstance(root, ast.Name):
        return False
    binding = context.nearest(test, *_SCOPES)
    for above in context.ancestors(at):
        if above is binding:
            return True
        if isinstance(above, ast.ClassDef | ast.Lambda) or (
            isinstance(above, FUNCTIONS) and root.id in context.local_names(above)
        ):
            return False
    return binding is None
