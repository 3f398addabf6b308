"""A computed loss is made a new leaf before it is differentiated: its gradients end there.

## What it does

Flags `torch.tensor(loss, requires_grad=True)`, `Variable(loss, requires_grad=True)`, `loss.requires_grad = True` and
`loss.requires_grad_()` on a value that was computed, where `.backward()` or `torch.autograd.grad` follows, also of its
mean, sum or multiple, or of a sum that it is a term of, and on what is made of numbers that were read from tensors.
Possible is what a `training_step` of Lightning or a `compute_loss` of a `Trainer` returns, which those differentiate;
so is such a leaf that a function returns which is called a loss, by itself or in a tuple, where a file names the
function and calls `backward` or has a `training_step`, or whose result the file differentiates, by itself or as a term
of a sum, and one that a method keeps and another one differentiates.

Silent are leaves on purpose: constants, inputs that are made or copied to ask for their gradient, points between two
inputs of a gradient penalty, the weights of terms that an optimizer is given, and what is detached first and computed
with afterwards. So is `loss.requires_grad_()` where the loss still has its graph, or is made of a network's output and
nothing in sight cuts that: it does nothing.

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

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Grad, Kind, Rule, Triggers
from torchlint.rules.evidence.shown_code import first_line
from torchlint.rules.silent.computed_losses import (
    is_called_a_loss,
    is_given_by_a_loss,
    is_loss,
    loses_its_graph,
    lost_at,
    reaches_a_graph,
    subject_of,
)
from torchlint.rules.silent.differentiated_losses import differentiated, handed_out

_MAKERS = frozenset({"torch.tensor", "torch.autograd.Variable", "torch.autograd.variable.Variable"})


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
    used = differentiated(place, given, context, is_new=is_new)  # before the values: few are differentiated
    handed = handed_out(place, given, context, is_new=is_new) if used is None else None
    if used is None and handed is None:
        return
    value = context.value(given)
    keeps_graph = bool(value.grad & Grad.ATTACHED)
    if used is None and value.kind and not value.may(Kind.TENSOR | Kind.SEQUENCE) and lost_at(given, context) is None:
        return  # a number that is handed out: it may stand for a sum of no losses
    is_tested = not is_new and _is_without_graph(place, given, context)
    if not is_new and not is_tested and value.is_tensor and not value.grad & Grad.DETACHED:
        return  # it has its graph, and the call does nothing
    is_lost = loses_its_graph(given, value, context)
    may_do_nothing = not is_new and not is_tested and isinstance(place, ast.Call) and not is_lost
    if may_do_nothing and reaches_a_graph(given, context):
        return  # an assignment to `requires_grad` raises where there is a graph: whoever keeps it has none
    subject = subject_of(given, context)
    by_name = not is_lost and not is_loss(given, value, context)
    is_given = is_given_by_a_loss(subject, context)
    is_computed = is_given or is_lost or subject is not given
    is_leaf = value.is_tensor and value.grad == Grad.DETACHED and not is_computed
    is_called = is_called_a_loss(subject) or is_given
    if by_name and (is_leaf or context.is_test or not is_called):
        return
    keeps_graph = keeps_graph and not is_tested
    lost = None if keeps_graph and value.is_tensor and not value.grad & Grad.DETACHED else lost_at(given, context)
    is_certain = value.is_tensor and is_new and not value.grad & Grad.DETACHED
    if is_certain:
        advice = "keep the graph: drop this"
    elif lost is not None:
        advice = f"the graph was lost on line {lost.lineno}: `{first_line(lost, context)}`"
    else:
        advice = "drop this, and look above for what cuts the graph if `backward()` raises then"
    if used is not None:
        handed = f"line {used.lineno} differentiates it: `{first_line(used, context)}`"
    yield Draft(
        node.func if isinstance(node, cst.Call) else node.attr,
        f"no gradient gets past `{first_line(given, context)}`, which is made a new leaf: {advice}",
        Confidence.POSSIBLE if by_name or used is None else Confidence.CERTAIN if is_certain else Confidence.LIKELY,
        (
            *([f"`{first_line(given, context)}` is a loss, by its name"] if by_name or used is None else []),
            handed or "",
        ),
        None if is_new else _fix(node, context),
    )


def _is_without_graph(place: ast.expr, given: ast.expr, context: FileContext) -> bool:
    """Whether a test around says that a value requires no gradient: ``if not loss.requires_grad:``."""
    asked = f"{ast.unparse(given)}.requires_grad"
    below: ast.AST = place
    for above in context.ancestors(place):
        if isinstance(above, ast.If) and below in above.body:
            match above.test:
                case ast.UnaryOp(op=ast.Not(), operand=tested):
                    return ast.unparse(tested) == asked
                case ast.Compare(left=tested, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=False)]):
                    return ast.unparse(tested) == asked
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        below = above
    return False


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
