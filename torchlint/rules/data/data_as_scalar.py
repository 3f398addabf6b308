"""`.data` is used to get a Python number from a tensor.

## What it does
Reports `loss.data[0]` where `loss` has no dimensions or is named like a loss, and `x.data.item()`.

## Why is this bad?
PyTorch 0.3 read a loss with `loss.data[0]`. Since 0.5 this raises "invalid index of a 0-dim tensor. Use
`tensor.item()`". `.item()` gives the number on any device, with or without a gradient, so `.data` before it does
nothing.

## Example
```python
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
total = loss.data.item()
```

Use instead:

```python
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
total = loss.item()
```

## Severity
`.data[0]` raises on a tensor without dimensions: an error if the code shows that there are none, otherwise a warning.
`.data.item()` is legacy.

```python
import torch
import torch.nn.functional as F


def train(x: torch.Tensor, y: torch.Tensor):
    loss = F.mse_loss(x, y)
    print(loss.data[0])  # error
    return loss.data.item()  # legacy


def step(cost):
    return cost.data[0]  # warning
```

## Fix safety
`x.data.item()` becomes `x.item()`, which is safe for every tensor. `x.data[0]` becomes `x.item()`: safe if `x`
certainly has no dimensions, such as the result of a full reduction or of a loss with the usual reduction, because the
old code raised; unsafe otherwise, because on a tensor with one dimension `x.data[0]` is a tensor. All fixes are unsafe
if the code does not show that `x` is a tensor. Unsafe if an error of `x.data[0]` may be expected: inside `try` with a
handler that catches it, in `pytest.raises` and similar blocks, or in a function that this file calls there.

## References
- [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
- [PyTorch 0.4 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/): "Support for 0-dimensional
  tensors"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import HAS_NO_DIMENSIONS, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.data_evidence import is_tensor_by, used_tensor
from torchlint.rules.data.data_use import DataUse, Use, drop_edit
from torchlint.rules.obligations import error_not_expected, has_no_dimension
from torchlint.rules.wording import brief


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report a number that is read by way of `.data`."""
    found = used_tensor(node, Use.SCALAR, context)
    if found is None:
        return
    use, evidence = found
    assumed = is_tensor_by(evidence, node.value, context)
    if use.word == "item":
        dropped = Fix("Drop `.data`", (drop_edit(node, context),), (assumed,))
        message = "`.item()` needs no `.data` before it: drop it"
        yield Draft(node.attr, message, evidence.confidence, (evidence.why,), dropped)
        return
    edits, is_number = _item(node, use, context), context.value(node.value).rank == 0
    fix = Fix("Use `.item()`", edits, (assumed, *_assumed(node, context))) if edits else None
    message = "`.data[0]` raises on a 0-dim tensor: use `.item()`"
    confidence = evidence.confidence if is_number else min(evidence.confidence, Confidence.LIKELY)
    severity = Severity.ERROR if is_number else Severity.WARNING
    yield Draft(node.attr, message, confidence, (evidence.why,), fix, severity)


RULE = Rule(
    "TNS204",
    "data-as-scalar",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "is-scalar", "error-not-expected"),
    severity=Severity.LEGACY,
    visit={cst.Attribute: check},
)


def _assumed(node: cst.Attribute, context: FileContext) -> Iterator[Decision]:
    """Decide whether the index raises, and nobody waits for that."""
    place = context.python(node.value)
    is_sure = isinstance(place, ast.expr) and has_no_dimension(place, context)
    yield HAS_NO_DIMENSIONS.decided(None if is_sure else "", brief(node.value, context))
    yield error_not_expected(node, context)


def _item(node: cst.Attribute, use: DataUse, context: FileContext) -> tuple[Edit, ...]:
    """Write ``x.item()`` for ``x.data[0]``; nothing where a tensor is wanted behind it, or a comment would go."""
    start, end = context.outer_span(node)[1], context.span(use.top)[1]
    is_tensor_wanted = isinstance(context.parent(use.top), cst.Attribute | cst.Subscript)
    if is_tensor_wanted or "#" in context.source.slice(start, end):
        return ()
    return context.replace(node.attr, "item()"), Edit(start, end, "")
