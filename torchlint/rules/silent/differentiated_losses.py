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
_DIFFERENTIATING = ("backward", "training_step")
"""Words of files that differentiate losses: the call itself, and the method whose result Lightning differentiates."""
_FRAMEWORKS = {"training_step": "LightningModule", "compute_loss": "Trainer"}
"""Methods whose result a framework differentiates, and how the names of bases of their classes end."""


def differentiated(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> ast.expr | None:
    """Return the ``backward()`` or ``autograd.grad`` that differentiates what is revived, by itself or in a sum."""
    whole = _scaled(place, context)
    above = context.parent(whole)
    if isinstance(above, ast.Attribute) and above.attr == "backward":
        return above
    bound = _bound(place, whole, given, context, is_new=is_new)
    if bound is None:
        return None
    found = _asked_for(*bound, context)
    if found is not None or _is_learned(place, bound[1], context):
        return found
    is_learned = is_new and not _stands_in_for_it(bound[1], given, context)
    sums = _sums_with(*bound, context, is_learned=is_learned)
    return next((asked for each in sums if (asked := _asked_for(*each, context)) is not None), None)


def _asked_for(start: ast.stmt, code: str, context: FileContext) -> ast.expr | None:
    """Return what differentiates the value that code stands for behind a statement."""
    found: list[ast.expr] = []

    def is_asked(node: ast.stmt) -> bool:
        calls = (each for part in header(node) for each in context.inside(part, ast.Call))
        found.extend(each for each in calls if _differentiates(each, code, context))
        return bool(found)

    _follow(start, code, is_asked, context)
    return found[0] if found else None


def _is_learned(place: ast.expr, code: str, context: FileContext) -> bool:
    """Whether an optimizer is given a leaf: then it is trained itself, as the weight of a term is."""
    around = context.function_around(place) or context.tree
    made = (each for each in context.inside(around, ast.Call) if _is_optimizer(each, context))
    return any(
        ast.unparse(each) == code for call in made for each in context.within(call) if isinstance(each, ast.expr)
    )


def _is_optimizer(call: ast.Call, context: FileContext) -> bool:
    names = context.names(call.func)
    return bool(names) and all(each.startswith("torch.optim.") for each in names)


def _stands_in_for_it(code: str, given: ast.expr, context: FileContext) -> bool:
    """Whether a new leaf takes the name of what it is made of: ``gap = torch.tensor(gap.item(), ...)``."""
    return any(
        isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) == code for each in context.within(given)
    )


def _sums_with(start: ast.stmt, code: str, context: FileContext, *, is_learned: bool) -> list[tuple[ast.stmt, str]]:
    """Return the statements that bind sums of which code is a term, and what they bind: ``loss = base + 0.1 * code``.

    ``is_learned``: it may be the weight of what it is multiplied with, and no term.
    """
    found: list[tuple[ast.stmt, str]] = []

    def is_sum(node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.BinOp() as value):
                terms = _terms(value, context, is_learned=is_learned)
            case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=ast.Add() | ast.Sub(), value=value):
                terms = _terms(value, context, is_learned=is_learned)
            case _:
                return False
        if ast.unparse(target) != code and code in terms:
            found.append((node, ast.unparse(target)))
        return False

    _follow(start, code, is_sum, context)
    return found


def _terms(node: ast.expr, context: FileContext, *, is_learned: bool) -> Iterator[str]:
    """Yield the code of the terms of a sum, their factors aside."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield from _terms(left, context, is_learned=is_learned)
            yield from _terms(right, context, is_learned=is_learned)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            for one, other in ((left, right), (right, left)):
                if not is_learned or context.value(other).must(Kind.INTEGER | Kind.SCALAR):
                    yield from _terms(one, context, is_learned=is_learned)
        case ast.UnaryOp(operand=inner):
            yield from _terms(inner, context, is_learned=is_learned)
        case _:
            yield ast.unparse(node)


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
    word = _spelled_with(name, context)
    said = f"`{name}` returns it, and is spelled in a file with `{word or 'backward'}`"
    if is_called_a_loss(given) and isinstance(given, ast.Name):
        return said if word else None
    if not is_loss(given, context.value(given), context):
        return None
    if is_called_a_loss(ast.Name(name, ast.Load())):
        return said if word else None
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
    whole: ast.AST = _scaled(place, context)
    above = context.parent(whole)
    while isinstance(above, ast.Tuple | ast.Dict):
        whole, above = above, context.parent(above)
    if isinstance(above, ast.Return):
        return True
    bound = _bound(place, _scaled(place, context), given, context, is_new=is_new)
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


def _spelled_with(name: str, context: FileContext) -> str | None:
    """Return the word by which a file that names a function, or a class, differentiates losses."""
    uses = context.names_by_word().get(name) or context.attributes_by_word().get(name)
    if uses and "backward" in context.attributes_by_word():
        return "backward"
    files = set(context.other_texts.spelling(name) or [])
    return next((each for each in _DIFFERENTIATING if files & set(context.other_texts.spelling(each) or [])), None)


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
