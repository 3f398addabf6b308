"""A tensor that requires grad is turned into a Python number without being detached.

## What it does

Reports `float(t)`, `complex(t)`, `t` as an element in `torch.tensor([t])`, and in functions that call `backward` also
what `math` and `cmath` are given, where `t` requires grad: a parameter, a loss that is differentiated in the same
function, what a module with parameters gives.

Silent are `int(t)`, `bool(t)`, f-strings, `str.format`, `.item()` and `.tolist()`, which torch takes without a word,
`"%.2f" % t`, all conversions while grad mode is off, and values of which only a parameter or an unknown call could say
that they require grad.

## Why is this bad?

The number has left the graph, and nothing in the code says that this is meant. Since 2.8 torch warns "Converting a
tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using tensor.detach() first", and
announces an error. In `torch.tensor([a, b])` it is mostly a mistake: what was to be a vector of `a` and `b` is a
constant, and whatever is computed of it trains nothing.

## Example

```python
import torch

weight = torch.ones(3, requires_grad=True)
loss = (weight * 2).sum()
loss.backward()
total = float(loss)
```

Use instead:

```python
import torch

weight = torch.ones(3, requires_grad=True)
loss = (weight * 2).sum()
loss.backward()
total = float(loss.detach())
```

Where the gradient is to flow, use `torch.exp(loss)`, and `torch.stack([a, b])` in place of `torch.tensor([a, b])`.

## Severity

Legacy: torch only warns today. A warning where a loss is computed of the number, which ends its gradient, and where
`torch.tensor` makes a constant of it; not in a test, where what is expected needs no gradient.

```python
import torch

w = torch.ones(3, requires_grad=True)
shown = float(w.sum())  # legacy
both = torch.tensor([w.sum(), w.mean()])  # warning
```

## Fix safety

Safe where the code shows that the value is a tensor: the number is the same, bit for bit, and only the warning goes.
Unsafe where a number may be handed to the same place, which has no `.detach()`, and in a `forward` and where a loss is
computed: there the warning may be the only sign that a gradient gets lost.

Without a fix for `torch.tensor([a, b])`: `torch.stack` keeps the gradient, which changes what is trained, and
`.detach()` keeps what happens today. Which was meant is yours to say.

## References

* [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
* [torch.stack](https://docs.pytorch.org/docs/stable/generated/torch.stack.html)
* [Warning on tensors that require grad](https://github.com/pytorch/pytorch/pull/143261)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import NO_GRADIENT_WANTED
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    Draft,
    FileContext,
    FlowSpecification,
    Kind,
    KnownPath,
    Mode,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.host.host_conversions import called_on, computes_loss
from torchlint.rules.obligations import is_tensor
from torchlint.rules.wording import brief

_WITHOUT_FLOAT: Final = frozenset("trunc prod comb perm gcd lcm factorial isqrt fsum dist sumprod".split())
"""Functions of ``math`` that ask a tensor for something else than ``__float__``, or take a list."""
_BACKWARD: Final = frozenset({"backward", "manual_backward"})
_FIRST: Final = frozenset({0})
_OPERATION: Final = frozenset({"operation"})
_DIFFERENTIATED: Final = FlowSpecification(
    sinks=(
        NodePattern(methods=frozenset({"backward"}), at=RECEIVES),
        NodePattern(methods=_BACKWARD, at=_FIRST, beside=lambda value: not value.must(Kind.TENSOR)),
        NodePattern(functions=("torch.autograd.backward",), at=_FIRST),
    ),
    is_computed=True,
    computed_by=(
        NodePattern(methods=frozenset({"scale"}), at=_FIRST),
        NodePattern(ops=_OPERATION, words=frozenset({"+", "+=", "/"}), value=lambda value: value.must(Kind.TENSOR)),
        NodePattern(ops=_OPERATION, beside=lambda value: not value.may(Kind.TENSOR)),
    ),
    of_all_versions=True,
    is_followed_into_calls=False,
)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call that asks tensors for their numbers, or makes a constant of them."""
    plain = [each.value for each in node.args if not each.star and each.keyword is None]
    match node.func:
        case cst.Name(value="float" | "complex" as word) as at if len(node.args) == len(plain) == 1:
            if context.names(at) == {f"builtins.{word}"}:
                yield from _converted(node, at, plain, context)
        case cst.Attribute(value=cst.Name(value="math" | "cmath" as module), attr=cst.Name(value=word) as at):
            is_one = word not in _WITHOUT_FLOAT and _trains(node, context)
            if is_one and context.names(node.func) == {f"{module}.{word}"}:
                yield from _converted(node, at, plain, context)
        case function if context.spells(function, "tensor") and plain and context.names(function) == {"torch.tensor"}:
            yield from _gathered(node, plain[0], context)


def _converted(
    node: cst.Call, at: cst.CSTNode, given: list[cst.BaseExpression], context: FileContext
) -> Iterator[Draft]:
    """Report those of some values that require grad: each is asked for its number."""
    live = {each: sure for each in given if (sure := _requires_grad(each, node, context)) is not None}
    if not live:
        return
    first, function = next(iter(live)), brief(node.func, context)
    cuts = computes_loss(node, context) and not _trains(node, context)
    message = f"`{function}` of a tensor that requires grad warns and will raise: insert `.detach()`"
    if cuts:
        message = f"`{function}` cuts the gradient where a loss is computed: stay in torch, or insert `.detach()`"
    doubt = "a loss is computed here: the warning may be the only sign of a lost gradient"
    wanted = NO_GRADIENT_WANTED.decided(doubt if cuts else None, brief(first, context))
    edits = tuple(edit for each in live for edit in called_on(each, ".detach()", context))
    yield Draft(
        at,
        message,
        min(live.values()),
        _why(first, context),
        Fix("Insert `.detach()`", edits, (*(is_tensor(each, context) for each in live), wanted)),
        Severity.WARNING if cuts else Severity.LEGACY,
    )


def _gathered(node: cst.Call, given: cst.BaseExpression, context: FileContext) -> Iterator[Draft]:
    """Report ``torch.tensor([a, b])``: a constant that was made of values with a gradient."""
    live = {each: sure for each in _leaves(given) if (sure := _requires_grad(each, node, context)) is not None}
    if not live:
        return
    first = next(iter(live))
    yield Draft(
        node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
        "`torch.tensor` cuts the gradient of its elements: use `torch.stack`, or `.detach()` if that is meant",
        min(live.values()),
        _why(first, context),
        None,
        Severity.LEGACY if context.is_test else Severity.WARNING,
    )


def _leaves(given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what the elements of a list are, and of the lists in it."""
    match given:
        case cst.ListComp(elt=each):
            yield each
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            for element in (each for each in elements if isinstance(each, cst.Element)):
                is_list = isinstance(element.value, cst.List | cst.Tuple)
                yield from _leaves(element.value) if is_list else (element.value,)


# ---------------------------------------------------------------------- what requires grad
def _trains(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether the function around a node, or outside of functions its statements, call ``backward``."""
    around = (each for each in context.ancestors(node) if isinstance(each, cst.FunctionDef))
    return "backward(" in context.code(next(around, context.module))


def _requires_grad(node: cst.BaseExpression, at: cst.BaseExpression, context: FileContext) -> Confidence | None:
    """Return how sure it is that a value requires grad where a number is asked for; None where nothing brings it."""
    value = context.value(node)
    if not (value.may(Kind.TENSOR) and value.may_require_grad and context.mode(node) & Mode.ON):
        return None
    judged = context.judged(node, at) if value.is_tensor else None
    if judged is not None and judged.has_source_of_grad:
        return judged.of_grad
    return Confidence.LIKELY if _differentiated(node, context) else None


def _differentiated(node: cst.BaseExpression, context: FileContext) -> tuple[KnownPath, ...]:
    """Return the ways of a value to where it is differentiated."""
    may_be = context.works_with_torch and _trains(node, context)
    return context.paths_from(_DIFFERENTIATED, node) if may_be else ()


def _why(node: cst.BaseExpression, context: FileContext) -> tuple[str, ...]:
    reason = context.value(node).why_grad
    if reason is not None:
        return context.why(reason)
    row = next((each.sink.row for each in _differentiated(node, context)), context.row(node))
    return (f"`{brief(node, context)}` is differentiated, line {row}",)


RULE = Rule(
    "TNS109",
    "scalar-from-grad-tensor",
    Triggers(functions=("tensor",), methods=("backward",), builtins=("float", "complex")),
    assumes=("is-torch-tensor", "no-gradient-wanted"),
    visit={cst.Call: check},
)
