"""A computed loss is turned into a new leaf before `backward`, so no gradient reaches the model.

## What it does
Reports `torch.tensor(loss, requires_grad=True)`, `Variable(loss, requires_grad=True)`, `loss.requires_grad = True` and
`loss.requires_grad_()` on a computed value, also one computed from numbers read from tensors, if `.backward()` or
`torch.autograd.grad` follows: on the value, its mean, sum or multiple, in another method that reads it, or in a caller
of the function that returns it. If nothing is known about the value, the finding is `possible`, provided that
`.backward()` gets no gradient argument.

Not reported: intentional leaves, such as constants, inputs created or copied to get their gradient, points between two
inputs of a gradient penalty, terms of a sum, and values that are detached first and computed with afterwards. Also
`loss.requires_grad_()` if nothing in sight cuts the loss's graph: then the call does nothing.

## Why is this bad?
The new tensor has no graph: `backward()` fills its own `grad` and no parameter's. If `backward()` used to raise
"element 0 of tensors does not require grad and does not have a grad_fn", the graph was lost earlier, and this line
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

If `backward()` then raises, look further up for what cuts the graph: `.item()`, `.detach()`, NumPy, `argmax`,
`no_grad`.

## Severity
A warning: nothing raises, and nothing before this line is trained.

```python
import torch


def train(model: torch.nn.Linear, x: torch.Tensor):
    loss = torch.tensor(model(x).sum(), requires_grad=True)  # warning
    loss.backward()
```

## Fix safety
The fix is only shown, because only you know which computation should be differentiated. It drops the line, so that
`backward()` reports the problem. The finding says where the graph was lost, if torchlint can see it.

## References
- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html): "when working with tensors prefer
  `torch.Tensor.clone()`, `torch.Tensor.detach()`, and `torch.Tensor.requires_grad_()`"; it "constructs a tensor with no
  autograd history"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    Draft,
    FileContext,
    FlowSpecification,
    FlowValue,
    Grad,
    Kind,
    KnownPath,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.repairs import is_literal, without_statement
from torchlint.rules.wording import first_line, flow_step

_MAKERS: Final = ("torch.tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable")
_FIRST: Final = frozenset({0})


def _is_attached(value: FlowValue) -> bool:
    return value.is_attached and value.may(Kind.TENSOR)


_CUTS: Final = (
    NodePattern(methods=frozenset("item detach numpy tolist argmax".split()), at=RECEIVES),
    NodePattern(ops=frozenset({"attr"}), words=frozenset({"data"})),
    NodePattern(ops=frozenset({"truth"})),
    NodePattern(functions=("torch.argmax", "builtins.float", "torch.tensor", "torch.FloatTensor"), at=_FIRST),
)
_REVIVED: Final = (
    NodePattern(functions=_MAKERS, at=_FIRST),
    NodePattern(methods=frozenset({"requires_grad_"}), at=RECEIVES),
    NodePattern(ops=frozenset({"inplace"}), words=frozenset({"requires_grad_"})),
    NodePattern(ops=frozenset({"setter"}), words=frozenset({"requires_grad"}), at=_FIRST),
)
_LOST: Final = FlowSpecification(
    sources=(NodePattern(ops=frozenset({"call", "operation"}), value=_is_attached),),
    changes=_CUTS,
    sinks=_REVIVED,
    is_computed=True,
)
_SCALES: Final = frozenset("mean sum to cuda float double half view reshape squeeze clone".split())
_DIFFERENTIATED: Final = FlowSpecification(
    sinks=(
        NodePattern(methods=frozenset({"backward"}), at=RECEIVES),
        NodePattern(methods=frozenset({"manual_backward"}), at=_FIRST),
        NodePattern(functions=("torch.autograd.backward", "torch.autograd.grad"), at=_FIRST),
    ),
    is_computed=True,
    computed_by=(
        NodePattern(methods=_SCALES, at=RECEIVES),
        NodePattern(methods=frozenset({"scale"}), at=_FIRST),
        NodePattern(ops=frozenset({"operation"}), beside=lambda value: not value.is_attached),
    ),
    vetoes=(NodePattern(ops=frozenset({"attr"}), words=frozenset({"grad"})),),  # a leaf on purpose
    is_followed_into_calls=False,
    through_objects=True,
    through_callers=True,
)
_ASKED: Final = replace(_DIFFERENTIATED, changes=_REVIVED[1:])


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``torch.tensor(loss, requires_grad=True)`` and ``loss.requires_grad_()``."""
    match node.func:
        case cst.Attribute(value=receiver, attr=cst.Name(value="requires_grad_")):
            if all(is_literal(each, "True") for each in node.args):
                yield from _revived(node, receiver, context, is_new=False)
            return
    asked = (each for each in node.args[1:] if each.keyword and each.keyword.value == "requires_grad")
    if any(is_literal(each, "True") for each in asked) and node.args[0].keyword is None:
        names = context.names(node.func)
        if names and names <= set(_MAKERS):
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


def _revived(
    node: cst.Call | cst.Attribute, of: cst.BaseExpression, context: FileContext, *, is_new: bool
) -> Iterator[Draft]:
    place, given = context.python(node), context.python(of)
    if not isinstance(place, ast.expr) or not isinstance(given, ast.expr):
        return
    used = _differentiated(place, given, context, is_new=is_new)
    if used is None:
        return
    value = context.value(given)
    is_attached = value.is_tensor and bool(value.grad & Grad.ATTACHED)
    is_certain = is_new and is_attached and not value.grad & Grad.DETACHED
    paths = () if is_certain else context.paths_in(_LOST, context.function_around(place) or context.tree)
    lost = next((each.change for each in paths if each.sink.node is place and each.source.node is not place), None)
    is_open = lost is None and not is_certain
    is_known = not is_new and (is_attached or isinstance(node, cst.Call))  # it raises, or does nothing to a loss
    if is_open and (is_known or not _may_be_loss(given, used, context)):
        return
    yield Draft(
        node.func if isinstance(node, cst.Call) else node.attr,
        f"`{first_line(given, context)}` becomes a new leaf, which stops gradients: "
        f"{'drop this' if lost is None else f'the graph was lost on line {lost.row}'}",
        Confidence.POSSIBLE if is_open else Confidence.CERTAIN if is_certain else Confidence.LIKELY,
        (*([flow_step(lost, "cuts the graph")] if lost else []), flow_step(used.sink, "differentiates it")),
        None if is_new else _fix(node, context),
    )


def _may_be_loss(given: ast.expr, used: KnownPath, context: FileContext) -> bool:
    """Whether what is differentiated may be a loss that was computed: a number, and no leaf that was made as one."""
    value, sink = context.value(given), used.sink.node
    if isinstance(given, ast.Constant | ast.List) or (value.is_tensor and value.grad == Grad.DETACHED):
        return False
    is_scalar = isinstance(sink, ast.Call) and not sink.args and not sink.keywords  # else it is told a gradient
    return is_scalar and not context.is_test


def _differentiated(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> KnownPath | None:
    """Return how the new leaf, or what it is scaled to, comes to what differentiates it."""
    for path in context.paths_from(_DIFFERENTIATED if is_new else _ASKED, place if is_new else given):
        is_this = is_new or (path.change is not None and path.change.node is place)
        # of `grad(f(x), x)` by an unknown function it is a leaf on purpose
        if is_this and (path.is_sure or len(getattr(path.sink.node, "args", ())) <= 1):
            return path
    return None


def _fix(node: cst.Call | cst.Attribute, context: FileContext) -> Fix | None:
    """Drop a statement that does nothing else."""
    statement = next((each for each in context.ancestors(node) if isinstance(each, cst.BaseSmallStatement)), None)
    if statement is None or (isinstance(node, cst.Call) and context.parent(node) is not statement):
        return None
    edit = without_statement(statement, context) if isinstance(statement, cst.Expr | cst.Assign) else None
    decided = AUTHOR_MEANT_THIS.open(doubt="`backward()` raises where the graph was lost")
    title = "Drop the line, so that `backward()` says where the graph is lost"
    return Fix(title, (edit,), (decided,)) if edit is not None else None


RULE = Rule(
    "TNS503",
    "loss-revived",
    Triggers(methods=("requires_grad_",), functions=("tensor", "Variable"), attributes=("requires_grad",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check_call, cst.Assign: check_assignment},
)
