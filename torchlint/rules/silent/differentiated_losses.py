"""What differentiates a value that is made a new leaf: `backward()`, `autograd.grad`, or whoever is handed it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchlint.rules.api import FileContext, Function, Kind
from torchlint.rules.evidence.paths import header, reached_after, successors
from torchlint.rules.silent.computed_losses import is_called_a_loss, is_loss, lost_at

_SCALING = frozenset("mean sum to cuda float double half view reshape squeeze unsqueeze clone".split())
"""Methods whose result is differentiated in the place of the loss."""
_BACKWARD = frozenset({"backward", "manual_backward", "scale_loss"})
"""Methods that differentiate what they are given: those of Lightning, accelerate, DeepSpeed and apex."""
_FRAMEWORKS = {"training_step": "LightningModule", "compute_loss": "Trainer"}
"""Methods whose result a framework differentiates, and how the names of bases of their classes end."""


def differentiated(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> ast.expr | None:
    """Return the ``backward()`` or ``autograd.grad`` that what is revived is differentiated by itself."""
    whole = _scaled(place, context)
    above = context.parent(whole)
    if isinstance(above, ast.Attribute) and above.attr == "backward":
        return above
    bound = _bound(place, whole, given, context, is_new=is_new)
    if bound is None:
        return None
    found: list[ast.expr] = []

    def is_asked(node: ast.stmt) -> bool:
        calls = (each for part in header(node) for each in context.inside(part, ast.Call))
        found.extend(each for each in calls if _differentiates(each, bound[1], context))
        return bool(found)

    _follow(*bound, is_asked, context)
    return found[0] if found else None


def _scaled(place: ast.expr, context: FileContext) -> ast.expr:
    """Return what is made of a new leaf at once and stands for it: ``torch.tensor(losses, ...).mean()``."""
    node = place
    while True:
        above = context.parent(node)
        match above:
            case ast.Attribute(attr=word) if word in _SCALING:
                call = context.parent(above)
                if not isinstance(call, ast.Call) or call.func is not above:
                    return node
                node = call
            case ast.BinOp(op=ast.Mult() | ast.Div()):
                node = above
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                if not context.value(right if left is node else left).must(Kind.INTEGER | Kind.SCALAR):
                    return node
                node = above
            case _:
                return node


def _bound(
    place: ast.expr, whole: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool
) -> tuple[ast.stmt, str] | None:
    """Return the statement behind which code stands for what is revived, and that code."""
    statement = next((each for each in context.ancestors(place) if isinstance(each, ast.stmt)), None)
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value) if value is whole and (
            is_new or isinstance(place, ast.Call)
        ):
            return statement, ast.unparse(target)
        case ast.Assign() | ast.Expr() if not is_new and isinstance(given, ast.Name | ast.Attribute):
            return statement, ast.unparse(given)
    return None


def _follow(start: ast.stmt, code: str, is_asked: Callable[[ast.stmt], bool], context: FileContext) -> bool:
    """Whether a statement that is asked for may run while code stands for the same value, or that value scaled."""
    scope: Function | ast.Module = context.function_around(start) or context.tree

    def ends(node: ast.stmt) -> bool:
        return not _is_scaled_anew(node, code) and code in _stored(node, context)

    following = successors(scope, context)
    if reached_after(start, following, changes=lambda _: True, ends=ends, is_asked=is_asked) is not None:
        return True
    return any(is_asked(each) for each in following.get(start, []))


def _stored(node: ast.stmt, context: FileContext) -> Iterator[str]:
    parts = list(header(node))
    names = (each for part in parts for each in context.inside(part, ast.Name))
    attributes = (each for part in parts for each in context.inside(part, ast.Attribute))
    bound: list[ast.Name | ast.Attribute] = [*names, *attributes]
    yield from (ast.unparse(each) for each in bound if isinstance(each.ctx, ast.Store))


def _is_scaled_anew(node: ast.stmt, code: str) -> bool:
    """Whether a statement puts a multiple of a loss in its place: ``loss = loss / steps``, ``loss *= 0.5``."""
    match node:
        case ast.AugAssign(target=target, op=ast.Mult() | ast.Div()):
            return ast.unparse(target) == code
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Mult() | ast.Div())):
            return ast.unparse(target) == code == ast.unparse(left)
        case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(value=inner, attr=word))):
            return word in _SCALING and ast.unparse(target) == code == ast.unparse(inner)
    return False


def _differentiates(call: ast.Call, code: str, context: FileContext) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.BinOp(left=left, op=ast.Mult() | ast.Div()), attr="backward")):
            return ast.unparse(left) == code
        case ast.Call(func=ast.Attribute(value=receiver, attr="backward")) if ast.unparse(receiver) == code:
            return True
        case ast.Call(func=ast.Attribute(attr=word), args=[given, *_]) if word in _BACKWARD:
            return ast.unparse(given) == code
        case ast.Call(func=ast.Attribute(value=ast.Call(args=[given]), attr="backward")):  # scaler.scale(loss)
            return ast.unparse(given) == code
        case ast.Call(func=ast.Attribute(attr="grad") as function, args=[given, *_]):
            return ast.unparse(given) == code and context.names(function) == {"torch.autograd.grad"}
    return False


# ---------------------------------------------------------------------- what is handed out
def handed_out(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> str | None:
    """Say who may differentiate a loss that a function returns; None where nothing says that somebody does."""
    function = context.function_around(place)
    if context.is_test or not isinstance(function, ast.FunctionDef):
        return None
    if not _is_returned(place, given, context, is_new=is_new):
        return _kept_for(place, given, context) if is_new else None
    owner = context.parent(function)
    if isinstance(owner, ast.ClassDef) and (framework := _framework_of(function, owner)) is not None:
        return f"`{function.name}` returns it, and a `{framework}` differentiates that"
    if not is_new and isinstance(place, ast.Call) and lost_at(given, context) is None:
        return None  # it does nothing where the value has its graph
    is_called_by_class = isinstance(owner, ast.ClassDef) and function.name in ("forward", "__call__")
    name = owner.name if isinstance(owner, ast.ClassDef) and is_called_by_class else function.name
    said = f"`{name}` returns it, and is spelled in a file with `backward`"
    if is_called_a_loss(given) and isinstance(given, ast.Name):
        return said if _is_spelled_with_backward(name, context) else None
    if not is_loss(given, context.value(given), context):
        return None
    if is_called_a_loss(ast.Name(name, ast.Load())):
        return said if _is_spelled_with_backward(name, context) else None
    return said if _is_differentiated_by_callers(name, context) else None


def _kept_for(place: ast.expr, given: ast.expr, context: FileContext) -> str | None:
    """Say which other method differentiates what a method keeps: ``self.loss = ...``, then ``self.loss.backward()``."""
    whole = _scaled(place, context)
    match context.parent(whole):
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=value) if value is whole:
            owner = next((each for each in context.ancestors(place) if isinstance(each, ast.ClassDef)), None)
            calls = context.inside(owner, ast.Call) if owner is not None else []
            asked = next((each for each in calls if _differentiates(each, ast.unparse(target), context)), None)
            if asked is not None and is_loss(given, context.value(given), context):
                return f"line {asked.lineno} differentiates it: `{ast.unparse(asked)}`"
    return None


def _framework_of(function: ast.FunctionDef, owner: ast.ClassDef) -> str | None:
    base = _FRAMEWORKS.get(function.name)
    return base if base is not None and any(ast.unparse(each).endswith(base) for each in owner.bases) else None


def _is_returned(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> bool:
    whole = _scaled(place, context)
    if isinstance(context.parent(whole), ast.Return):
        return True
    bound = _bound(place, whole, given, context, is_new=is_new)
    return bound is not None and _follow(*bound, lambda node: _gives_back(node, bound[1]), context)


def _gives_back(node: ast.stmt, code: str) -> bool:
    """Whether a statement returns a value, by itself or beside others: ``return (loss, out) if wanted else loss``."""
    front: list[ast.expr | None] = [node.value] if isinstance(node, ast.Return) else []
    while front:
        match front.pop():
            case ast.Tuple(elts=elements):
                front += elements
            case ast.Dict(values=values):
                front += values
            case ast.IfExp(body=one, orelse=other):
                front += [one, other]
            case ast.Name() | ast.Attribute() as each if ast.unparse(each) == code:
                return True
    return False


def _is_spelled_with_backward(name: str, context: FileContext) -> bool:
    """Whether a file names a function, or a class, and calls `backward`."""
    uses = context.names_by_word().get(name) or context.attributes_by_word().get(name)
    if uses and "backward" in context.attributes_by_word():
        return True
    files = context.other_texts.spelling(name) or []
    return bool(set(files) & set(context.other_texts.spelling("backward") or []))


def _is_differentiated_by_callers(name: str, context: FileContext) -> bool:
    """Whether the file differentiates what a function returns, by itself or as a term: ``base + penalty(x)``."""
    uses = (*context.names_by_word().get(name, []), *context.attributes_by_word().get(name, []))
    calls = (call for each in uses if isinstance(call := context.parent(each), ast.Call) and call.func is each)
    terms = (_whole_sum(each, context) for each in calls)
    return any(differentiated(each, each, context, is_new=True) is not None for each in terms)


def _whole_sum(node: ast.expr, context: FileContext) -> ast.expr:
    """Return the sum or product that an expression is a part of."""
    while isinstance(above := context.parent(node), ast.BinOp) and isinstance(above.op, ast.Add | ast.Sub | ast.Mult):
        node = above
    return node
