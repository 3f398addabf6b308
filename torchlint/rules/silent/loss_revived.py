"""A computed loss is made a new leaf before it is differentiated: its gradients end there.

## What it does

Flags `torch.tensor(loss, requires_grad=True)`, `Variable(loss, requires_grad=True)`, `loss.requires_grad = True` and
`loss.requires_grad_()` on a value that was computed, also from numbers that were read from tensors, where `.backward()`
or `torch.autograd.grad` follows: of it, its mean, sum or multiple, in another method that reads it, or by who calls the
function that returns it. Possible is what is a loss by its name alone, what a `training_step` of Lightning or a
`compute_loss` of a `Trainer` returns, which those differentiate, and what the `forward` of a loss returns.

Silent are leaves on purpose: constants, inputs that are made or copied to ask for their gradient, points between two
inputs of a gradient penalty, terms of a sum, and what is detached first and computed with afterwards. So is
`loss.requires_grad_()` where the loss still has its graph, or is made of a network's output and nothing in sight cuts
that: it does nothing.

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
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    RETURNED,
    Draft,
    FileContext,
    FlowPlace,
    FlowSpecification,
    FlowValue,
    Grad,
    Kind,
    KnownPath,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.silent.loss_names import LOSS_NAME, is_called_a_loss
from torchlint.rules.wording import first_line, in_a_line

_MAKERS: Final = ("torch.tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable")
_FIRST: Final = frozenset({0})
_FRAMEWORKS: Final = {"training_step": "LightningModule", "compute_loss": "Trainer"}
"""Methods whose result a framework differentiates, and the end of the name of their class's base."""


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
_REACHES: Final = replace(
    _LOST,
    sources=(
        NodePattern(
            ops=frozenset({"call", "param"}), value=lambda value: value.may(Kind.TENSOR) and value.may_require_grad
        ),
    ),
    changes=(),
    stops=_CUTS,
)
_SCALES: Final = NodePattern(methods=frozenset("mean sum to cuda float double half view reshape squeeze clone".split()))
_DIFFERENTIATED: Final = FlowSpecification(
    sinks=(
        NodePattern(methods=frozenset({"backward"}), at=RECEIVES),
        NodePattern(methods=frozenset({"manual_backward"}), at=_FIRST),
        NodePattern(functions=("torch.autograd.backward", "torch.autograd.grad"), at=_FIRST),
    ),
    ways_out=frozenset({RETURNED}),
    is_computed=True,
    computed_by=(
        replace(_SCALES, at=RECEIVES),
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
    return bool(names) and names <= set(_MAKERS)


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
    lost = _path_to(_LOST, place, context)
    if lost is None and not is_certain:
        if (is_attached and not is_new) or not _is_called_a_loss(given, context) or context.is_test:
            return
        may_do_nothing = not is_new and isinstance(node, cst.Call)  # an assignment raises where there is a graph
        if _is_leaf(given, context) or (may_do_nothing and _path_to(_REACHES, place, context)):
            return
    if is_certain:
        advice = "keep the graph: drop this"
    elif lost is not None and lost.change is not None:
        advice = f"the graph was lost on line {lost.change.row}: `{in_a_line(lost.change.node)}`"
    else:
        advice = "drop this, and look above for what cuts the graph if `backward()` raises then"
    by_name = lost is None and not is_certain
    if by_name and used.way_out and not value.may(Kind.TENSOR | Kind.SEQUENCE):
        return  # a number that is handed out: it may stand for a sum of no losses
    yield Draft(
        node.func if isinstance(node, cst.Call) else node.attr,
        f"no gradient gets past `{first_line(given, context)}`, which is made a new leaf: {advice}",
        Confidence.POSSIBLE if by_name or used.way_out else Confidence.CERTAIN if is_certain else Confidence.LIKELY,
        (
            *([f"`{first_line(given, context)}` is a loss, by its name"] if by_name else []),
            _spelled(used.sink, "is returned to what differentiates it" if used.way_out else "differentiates it"),
        ),
        None if is_new else _fix(node, context),
    )


def _differentiated(place: ast.expr, given: ast.expr, context: FileContext, *, is_new: bool) -> KnownPath | None:
    """Return how the new leaf, or what it is scaled to, comes to what differentiates it."""
    handed = None
    for path in context.paths_from(_DIFFERENTIATED if is_new else _ASKED, place if is_new else given):
        if not is_new and (path.change is None or path.change.node is not place):
            continue
        if not path.way_out:
            return path
        function = context.function_around(path.sink.node) if context.holds(path.sink.node) else None
        owner = context.parent(function) if function is not None else None
        word = getattr(function, "name", "")
        if not isinstance(owner, ast.ClassDef):
            continue
        bases = [ast.unparse(each) for each in owner.bases] if word in _FRAMEWORKS else []
        is_of_loss = word in ("forward", "__call__") and LOSS_NAME.search(owner.name) is not None
        if is_of_loss or any(each.endswith(_FRAMEWORKS[word]) for each in bases):
            handed = path
    return handed


def _path_to(specification: FlowSpecification, place: ast.expr, context: FileContext) -> KnownPath | None:
    """Return a way from what has a graph to what is made a new leaf."""
    paths = context.paths_in(specification, context.function_around(place) or context.tree)
    return next((each for each in paths if each.sink.node is place and each.source.node is not place), None)


def _is_leaf(given: ast.expr, context: FileContext) -> bool:
    """Whether a value was made by a factory, or is a number that is written out."""
    value = context.value(given)
    return isinstance(given, ast.Constant | ast.List) or (value.is_tensor and value.grad == Grad.DETACHED)


def _is_called_a_loss(given: ast.expr, context: FileContext) -> bool:
    """Whether a value is a loss by its name, or by that of the function or class which hands it out."""
    around = context.function_around(given)
    owner = context.parent(around) if around is not None else None
    named = [each.name for each in (around, owner) if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    made = context.parent(context.parent(given) or given)
    bound = made.targets if isinstance(made, ast.Assign) else []
    return any(LOSS_NAME.search(each) for each in named) or any(map(is_called_a_loss, (*context.within(given), *bound)))


def _spelled(place: FlowPlace, said: str) -> str:
    return f"`{in_a_line(place.node)}` {said}, {place.path}{' ' if place.path else ''}line {place.row}"


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


RULE = Rule(
    "TNS503",
    "loss-revived",
    Triggers(methods=("requires_grad_",), functions=("tensor", "Variable"), attributes=("requires_grad",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check_call, cst.Assign: check_assignment},
)
