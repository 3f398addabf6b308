"""A Python number is taken from a tensor by way of `.data`.

## What it does

Flags `loss.data[0]` where `loss` has no dimensions or is named as a loss, `x.data.item()`, `float(x.data)` and
`int(x.data)`.

## Why is this bad?

`loss.data[0]` was how PyTorch 0.3 read a loss. Since 0.5 it raises "invalid index of a 0-dim tensor. Use
`tensor.item()`". `.item()` gives the number whether or not the tensor requires grad and wherever it is, so `.data`
before it does nothing.

## Example

```python
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
total = loss.data.item()
count = int((w > 1).sum().data)
```

Use instead:

```python
import torch

w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
total = loss.item()
count = int((w > 1).sum().item())
```

## Severity

`.data[0]` raises where there are no dimensions: an error where the code shows that, else a warning. `.data.item()` is
legacy.

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

`x.data.item()` becomes `x.item()`, which is safe for each tensor. `x.data[0]` becomes `x.item()`: safe where `x` has
no dimensions beyond doubt, as the result of a full reduction or of a loss that reduces as usual, because the old code
raised; unsafe elsewhere, because on a tensor of one dimension `x.data[0]` is a tensor. Everything here is unsafe where
the code does not show that `x` is a tensor. `float(x.data)` and `int(x.data)` become `float(x.item())` and
`int(x.item())`: safe where the dtype is known to be real. A complex tensor without imaginary part has a `float`, a
Python complex number has none. Unsafe where an error of `x.data[0]` or of the conversion may be expected: inside `try`
with a handler that takes it, `pytest.raises` and the like, or in a function that this file calls there.

## References

- [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
- [PyTorch 0.4 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/): "Support for 0-dimensional
  tensors"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import HAS_NO_DIMENSIONS, IS_REAL, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, Dtype, FileContext, Rule, Triggers
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
    known = context.value(node.value)
    is_sure = use.word != "[0]" or known.rank == 0
    confidence = evidence.confidence if is_sure else min(evidence.confidence, Confidence.LIKELY)
    place = context.python(node.value)
    fix = _fix(node, use, context)
    if fix is not None:
        number = isinstance(place, ast.expr) and has_no_dimension(place, context)
        fix = fix.assuming(is_tensor_by(evidence, node.value, context), *_assumed(node, use, number, context))
    severity = Severity.LEGACY if use.word != "[0]" else Severity.ERROR if known.rank == 0 else Severity.WARNING
    yield Draft(node.attr, _message(use), confidence, (evidence.why,), fix, severity)


RULE = Rule(
    "TNS204",
    "data-as-scalar",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "is-scalar", "error-not-expected"),
    severity=Severity.LEGACY,
    visit={cst.Attribute: check},
)


def _message(use: DataUse) -> str:
    if use.word == "[0]":
        return "`.data[0]` raises on a tensor without dimensions, such as a loss: use `.item()`"
    if use.word == "item":
        return "`.item()` needs no `.data` before it: call it on the tensor"
    return f"`{use.word}(x.data)` reads one number by a detour: use `.item()`"


def _assumed(node: cst.Attribute, use: DataUse, number: bool, context: FileContext) -> Iterator[Decision]:
    known, code = context.value(node.value), brief(node.value, context)
    if use.word == "[0]":
        yield HAS_NO_DIMENSIONS.decided(None if number and known.rank == 0 else "", code)
    if use.word in ("float", "int"):
        real = not known.dtype & Dtype.FLOATING or (known.exact is not None and "complex" not in known.exact)
        yield IS_REAL.decided(None if real else "", code)
    if use.word != "item":
        yield error_not_expected(node, context)


def _fix(node: cst.Attribute, use: DataUse, context: FileContext) -> Fix | None:
    if use.word == "item":
        return Fix("Drop `.data`", (drop_edit(node, context),))
    edits = [context.replace(node.attr, "item()")]
    if use.word == "[0]":
        start, end = context.outer_span(node)[1], context.span(use.top)[1]
        is_tensor_wanted = isinstance(context.parent(use.top), cst.Attribute | cst.Subscript)
        if is_tensor_wanted or "#" in context.source.slice(start, end):
            return None
        edits.append(Edit(start, end, ""))
    return Fix("Use `.item()`", tuple(edits))
