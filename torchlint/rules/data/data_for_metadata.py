"""`.data` is used only to read a tensor's size, dtype or device.

## What it does
Reports `.data` before anything that does not depend on the elements: `.size()`, `.shape`, `.dtype`, `.device`,
`.is_cuda`, `.dim()`, `.numel()`, `.type()`, `.new(...)`, `.new_zeros(...)` and similar, `len(x.data)` and
`torch.zeros_like(x.data)`.

## Why is this bad?
The tensor itself gives the same answer. The detour creates a second tensor object for nothing, and distracts from the
other uses of `.data` in the file, which do have an effect.

## Example
```python
import torch

weight = torch.ones(2, 3, requires_grad=True)
rows = weight.data.size(0)
noise = torch.zeros_like(weight.data)
mask = weight.data.new_ones(3)
```

Use instead:

```python
import torch

weight = torch.ones(2, 3, requires_grad=True)
rows = weight.size(0)
noise = torch.zeros_like(weight)
mask = weight.new_ones(3)
```

## Severity
Legacy: `.data` changes nothing here.

```python
import torch

x = torch.ones(3, requires_grad=True)
n = x.data.size(0)  # legacy
```

## Fix safety
Safe for a tensor: results, their type, `requires_grad`, strides and memory were the same for leaves, results,
parameters, integer and bool tensors. Unsafe if the code does not show that the object is a tensor; an annotation, a
name or a method of an unknown object is not enough. Unsafe in a project that uses `torch.jit.trace`,
`torch.onnx.export` or similar: a trace stores `x.data.size(0)` as a constant, but follows `x.size(0)`.

## References
- [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html)
- Measured on torch 2.13 with every attribute, method and function that the rule knows
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Fix
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.data_evidence import is_tensor_by, used_tensor
from torchlint.rules.data.data_use import Use, drop_edit
from torchlint.rules.obligations import not_traced


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report `.data` where only the tensor's form is asked for."""
    found = used_tensor(node, Use.FORM, context)
    if found is None:
        return
    use, evidence = found
    assumed = (is_tensor_by(evidence, node.value, context), not_traced(context))
    fix = Fix("Drop `.data`", (drop_edit(node, context),), assumed)
    message = f"`{use.word}` is the same without `.data`: drop it"
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), fix)


RULE = Rule(
    "TNS205",
    "data-for-metadata",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "not-traced"),
    visit={cst.Attribute: check},
)
