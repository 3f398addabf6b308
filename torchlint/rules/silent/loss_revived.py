"""A computed loss is made a new leaf before it is differentiated: its gradients end there.

## What it does

Flags `torch.tensor(loss, requires_grad=True)`, `Variable(loss, requires_grad=True)`, `loss.requires_grad = True` and
`loss.requires_grad_()` on a value that was computed, where `.backward()` or `torch.autograd.grad` follows.
Possible is `return Variable(loss, requires_grad=True)`, where a file names the function and calls `backward`.

Silent are leaves on purpose: constants, inputs that are made or copied to ask for their gradient, points between two
inputs of a gradient penalty, and what is detached first and computed with afterwards. So is `loss.requires_grad_()`
where the loss still has its graph, or is made of a network's output and nothing in sight cuts that: it does nothing.

## Why is this bad?

The new tensor has no graph: `backward()` fills its own `grad` and that of no parameter. Where `backward()` raised
"element 0 of tensors does not require grad and does not have a grad_fn" before, the graph was lost above, and the line
hides that. The optimizer steps, nothing trains, and nothing raises.

## Example

```python
import torch


def step(model, optimizer, x, y):
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.requires_grad = True
    loss.backward()
    optimizer.step()
```

Use instead:

```python
import torch


def step(model, optimizer, x, y):
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
```

Where `backward()` raises then, look above for what cuts the graph: `.item()`, `.detach()`, NumPy, `argmax`, `no_grad`.

## Severity

A warning: nothing raises, and nothing before the line is trained.

```python
import torch


def train(model: torch.nn.Linear, x: torch.Tensor):
    loss = torch.tensor(model(x).sum(), requires_grad=True)  # warning
    loss.backward()
```

## Fix safety

No fix is applied: which computation was meant to be differentiated is for you to say. Shown is how the line is dropped,
so that `backward()` says what is wrong. The finding says where the graph was lost, as far as it can be seen.

## References

- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html): "when working with tensors prefer
  `torch.Tensor.clone()`, `torch.Tensor.detach()`, and `torch.Tensor.requires_grad_()`"; it "constructs a tensor with no
  autograd history"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    LOSSES,
    Draft,
    FileContext,
    Function,
    Grad,
    Kind,
    Rule,
    Triggers,
    Value,
    leaf,
    operations,
)
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.paths import header, reached_after, successors

_MAKERS = frozenset({"torch.tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable"})
_LOST = frozenset("item detach numpy tolist argmax data".split())
_LOSS_NAME = re.compile(r"(^|_)(loss|cost|criterion|objective)(_?\d*$|_)|Loss\d*$")
_DEEPEST = 4
_REDUCING = frozenset("mean sum item".split())


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``torch.tensor(loss, requires_grad=True)`` and ``loss.requires_grad_()``."""
    match node.func:
        case cst.Attribute(value=receiver, attr=cst.Name(value="requires_grad_")):
            if not any(_is_false(each.value) for each in node.args):
                yield from _revived(node, receiver, context, is_new=False)
        case _ if _is_maker(node, context) and node.args and node.args[0].keyword is None:
            yield from _revived(node, node.args[0].value, context, is_new=True)


def check_assignment(node: cst.Assign, context: FileContext) -> Iterator[Draft]:
    """Report ``loss.requires_grad = True``."""
    match node:
        case cst.Assign(
            targets=[
                cst.AssignTarget(target=cst.Attribute(value=receiver, attr=cst.Name(value="requires_grad")) as at)
            ],
            value=cst.Name(value="True"),
        ):
            yield from _revived(at, receiver, context, is_new=False)


def _is_false(node: cst.BaseExpression) -> bool:
    return not (isinstance(node, cst.Name) and node.value == "True")


def _is_maker(node: cst.Call, context: FileContext) -> bool:
    requires = (each.value for each in node.args if each.keyword is not None and each.keyword.value == "requires_grad")
    if not any(isinstance(each, cst.Name) and each.value == "True" for each in requires):
        return False
    names = context.names(node.func)
    return bool(names) and names <= _MAKERS


def _revived(
    node: cst.Call | cst.Attribute, of: cst.BaseExpression, context: FileContext, *, is_new: bool
) -> Iterator[Draft]:
    place, given = context.python(node), context.python(of)
    if not isinstance(place, ast.expr) or not isinstance(given, ast.expr):
        return
    used = _differentiated(place, given, context, is_new=is_new)  # before the values: few are differentiated
    returned = _returned(place, given, context) if used is None and is_new else None
    if used is None and returned is None:
        return
    value = context.value(given)
    keeps_graph = bool(value.grad & Grad.ATTACHED)
    if used is None and value.kind and not value.may(Kind.TENSOR):
        return  # a number that is handed out: it may stand for a sum of no losses
    if not is_new and value.is_tensor and not value.grad & Grad.DETACHED:
        return  # it has its graph, and the call does nothing
    if not is_new and isinstance(place, ast.Call) and _reaches_a_graph(given, context):
        return  # an assignment to `requires_grad` raises where there is a graph: whoever keeps it has none
    by_name = not _is_loss(given, value, context)
    is_leaf = value.is_tensor and value.grad == Grad.DETACHED
    if by_name and (is_leaf or context.is_test or not _is_called_a_loss(given)):
        return
    lost = None if keeps_graph and value.is_tensor and not value.grad & Grad.DETACHED else _lost(given, context)
    is_certain = value.is_tensor and is_new and not value.grad & Grad.DETACHED
    if is_certain:
        advice = "keep the graph: drop this"
    elif lost is not None:
        advice = f"the graph was lost on line {lost.lineno}: `{_text(lost, context)}`"
    else:
        advice = "drop this, and look above for what cuts the graph if `backward()` raises then"
    yield Draft(
        node.func if isinstance(node, cst.Call) else node.attr,
        f"no gradient gets past `{_text(given, context)}`, which is made a new leaf: {advice}",
        Confidence.POSSIBLE if by_name or used is None else Confidence.CERTAIN if is_certain else Confidence.LIKELY,
        (
            *([f"`{_text(given, context)}` is a loss, by its name"] if by_name or used is None else []),
            f"line {used.lineno} differentiates it: `{_text(used, context)}`"
            if used is not None
            else f"`{returned}` returns it, and is spelled in a file with `backward`",
        ),
        None if is_new else _fix(node, context),
    )


def _fix(node: cst.Call | cst.Attribute, context: FileContext) -> Fix | None:
    """Drop a statement that stands on a line of its own, beside others; a comment on the line goes with it."""
    for above in context.ancestors(node):
        if isinstance(above, cst.SimpleStatementLine):
            block = context.parent(above)
            if not isinstance(block, cst.IndentedBlock) or len(block.body) == 1 or len(above.body) != 1:
                return None
            row, last = context.row(above.body[0]), context.source.position(context.span(above.body[0])[1])[0]
            starts = context.source.line_starts
            text = context.source.line(row).strip()
            rest = text.removeprefix(context.code(above.body[0])).lstrip()
            if row != last or row >= len(starts) or (rest and not rest.startswith("#")):
                return None
            return Fix(
                "Drop the line, so that `backward()` says where the graph is lost",
                (Edit(starts[row - 1], starts[row], ""),),
                (AUTHOR_MEANT_THIS.open(doubt="`backward()` raises where the graph was lost"),),
            )
        if not isinstance(above, cst.Expr | cst.Assign | cst.AssignTarget):
            return None
    return None


def _text(node: ast.expr | ast.stmt, context: FileContext) -> str:
    return context.source.slice(*context.span(node)).partition("\n")[0]


# ---------------------------------------------------------------------- what is differentiated
def _differentiated(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> ast.expr | None:
    """Return the ``backward()`` or ``autograd.grad`` that what is revived is differentiated by itself."""
    above = context.parent(place)
    if isinstance(above, ast.Attribute) and above.attr == "backward":
        return above
    statement = next((each for each in context.ancestors(place) if isinstance(each, ast.stmt)), None)
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value) if value is place and (
            is_new or isinstance(place, ast.Call)
        ):
            code = ast.unparse(target)
        case ast.Assign() | ast.Expr() if not is_new and isinstance(given, ast.Name | ast.Attribute):
            code = ast.unparse(given)
        case _:
            return None
    scope: Function | ast.Module = context.function_around(place) or context.tree
    found: list[ast.expr] = []

    def is_asked(node: ast.stmt) -> bool:
        calls = (each for part in header(node) for each in context.inside(part, ast.Call))
        found.extend(each for each in calls if _differentiates(each, code, context))
        return bool(found)

    def ends(node: ast.stmt) -> bool:
        parts = list(header(node))
        names = (each for part in parts for each in context.inside(part, ast.Name))
        attributes = (each for part in parts for each in context.inside(part, ast.Attribute))
        bound: list[ast.Name | ast.Attribute] = [*names, *attributes]
        stored = (ast.unparse(each) for each in bound if isinstance(each.ctx, ast.Store))
        return code in stored

    assert statement is not None
    following = successors(scope, context)
    reached_after(statement, following, changes=lambda _: True, ends=ends, is_asked=is_asked)
    if not found:
        for each in following.get(statement, []):
            is_asked(each)
    return found[0] if found else None


def _differentiates(call: ast.Call, code: str, context: FileContext) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=receiver, attr="backward")) if ast.unparse(receiver) == code:
            return True
        case ast.Call(func=ast.Attribute(attr="backward"), args=[given, *_]):  # fabric, accelerator, engine
            return ast.unparse(given) == code
        case ast.Call(func=ast.Attribute(value=ast.Call(args=[given]), attr="backward")):  # scaler.scale(loss)
            return ast.unparse(given) == code
        case ast.Call(func=ast.Attribute(attr="grad") as function, args=[given, *_]):
            return ast.unparse(given) == code and context.names(function) == {"torch.autograd.grad"}
    return False


def _returned(place: ast.expr, given: ast.expr, context: FileContext) -> str | None:
    """Return the function, or the class, that hands out a loss that it has computed, where a caller may differentiate.

    That is a file which spells the name and `backward`.
    """
    function = context.function_around(place)
    if not isinstance(context.parent(place), ast.Return) or not isinstance(function, ast.FunctionDef):
        return None
    if context.is_test or not _is_called_a_loss(given) or not isinstance(given, ast.Name):
        return None
    owner = context.parent(function)
    is_called_by_class = isinstance(owner, ast.ClassDef) and function.name in ("forward", "__call__")
    name = owner.name if isinstance(owner, ast.ClassDef) and is_called_by_class else function.name
    uses = context.names_by_word().get(name) or context.attributes_by_word().get(name)
    if uses and "backward" in context.attributes_by_word():
        return name
    files = context.other_texts.spelling(name) or []
    return name if set(files) & set(context.other_texts.spelling("backward") or []) else None


# ---------------------------------------------------------------------- what is computed
def _is_loss(node: ast.expr, value: Value, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether an expression computes something, and is no leaf that is made, given, or a constant."""
    if value.is_tensor and not value.grad & Grad.DETACHED and not isinstance(node, ast.Name | ast.Attribute):
        return True
    match node:
        case ast.BinOp(left=left, right=right):
            return any(_is_loss(each, context.value(each), context, depth) for each in (left, right))
        case ast.UnaryOp(operand=inner):
            return _is_loss(inner, context.value(inner), context, depth)
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _LOST | _REDUCING | {"clone", "cpu"}:
            return word in _REDUCING or _is_loss(inner, context.value(inner), context, depth)
        case ast.Call(func=function):
            return _computes_a_loss(function, context)
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            return bool(bound) and any(
                each.depth == 0 and _is_loss(each.value, context.value(each.value), context, depth - 1)
                for each in bound
            )
    return False


def _is_called_a_loss(node: ast.expr) -> bool:
    """Whether what is computed out of sight goes by the name of a loss: ``self.actor_loss(x)``, ``total_loss``."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return _LOSS_NAME.search(word) is not None
        case ast.Call(func=function):
            return _is_called_a_loss(function)
    return False


def _computes_a_loss(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is one of torch's losses or full reductions, or a module of such a class."""
    value = context.value(function)
    if value.names and all(each.startswith("torch.") for each in value.names):
        names = {leaf(each) for each in value.names}
        return bool(names <= LOSSES | _REDUCING) and not value.names <= operations().factories
    return (
        value.must(Kind.MODULE) and isinstance(function, ast.Name | ast.Attribute) and _is_of_losses(function, context)
    )


def _is_of_losses(function: ast.expr, context: FileContext) -> bool:
    if not isinstance(function, ast.Name):
        return False
    made = (each.value for each in bindings_of(function, context))
    return any(
        isinstance(each, ast.Call) and any(one.endswith("Loss") for one in context.names(each.func)) for each in made
    )


def _reaches_a_graph(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> bool:
    """Whether a value is made of what has a graph, such as a network's output, and nothing seen cuts that."""
    match node:
        case ast.Call(func=ast.Attribute(attr=word)) | ast.Attribute(attr=word) if word in _LOST:
            return False
        case ast.Call() | ast.Name() if context.value(node).grad & Grad.ATTACHED:
            return _lost(node, context) is None
        case ast.Call(func=function, args=given):
            inner = [function.value] if isinstance(function, ast.Attribute) else []
            return any(_reaches_a_graph(each, context, depth) for each in (*inner, *given))
        case ast.UnaryOp(operand=inner_node):
            return _reaches_a_graph(inner_node, context, depth)
        case ast.BinOp(left=left, right=right):
            return any(_reaches_a_graph(each, context, depth) for each in (left, right))
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            return any(each.depth == 0 and _reaches_a_graph(each.value, context, depth - 1) for each in bound)
    return False


def _lost(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> ast.expr | None:
    """Return what cuts the graph of a value, where that can be seen."""
    match node:
        case ast.Call(func=ast.Attribute(attr=word)) | ast.Attribute(attr=word) if word in _LOST:
            return node
        case ast.Call(func=ast.Attribute(value=inner)) | ast.UnaryOp(operand=inner):
            return _lost(inner, context, depth)
        case ast.BinOp(left=left, right=right):
            return _lost(left, context, depth) or _lost(right, context, depth)
        case ast.Name() if depth:
            found = (_lost(each.value, context, depth - 1) for each in bindings_of(node, context))
            return next((each for each in found if each is not None), None)
    return None


RULE = Rule(
    "TNS503",
    "loss-revived",
    Triggers(methods=("requires_grad_",), functions=("tensor", "Variable"), attributes=("requires_grad",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check_call, cst.Assign: check_assignment},
)
