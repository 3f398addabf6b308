"""`.data` is assigned: the tensor gets another tensor's memory.

## What it does
Reports `x.data = y` where `x` is a tensor.

## Why is this bad?
The assignment replaces the tensor's memory without telling autograd. A graph that saved `x` computes with the old or
the new memory, depending on what its views hold. A gradient of another shape stays until the next `backward` raises.
Old views keep the old memory. Afterwards `x` and `y` share memory, so an in-place step on one changes the other. The
shape and dtype are now those of `y`, whatever the optimizer's state was made for.

## Example
```python
import torch

weight = torch.ones(3, requires_grad=True)
weight.data = torch.zeros(3)
```

Use instead, if you only want to change the values:

```python
import torch

weight = torch.ones(3, requires_grad=True)
with torch.no_grad():
    weight.copy_(torch.zeros(3))
```

## Severity
A warning if the tensor was computed with grad mode on, or if the assignment is between a forward pass and its
`backward`; otherwise legacy.

```python
import torch


def shrink(weight: torch.nn.Parameter):
    weight.data = weight[:2].detach()  # legacy


def step(layer: torch.nn.Linear, x: torch.Tensor):
    out = layer(x)
    out.data = out.detach().clamp(0)  # warning
    return out
```

## Fix safety
No replacement does exactly the same, so the fix is only shown. Choose:

- new values, same shape: `with torch.no_grad(): x.copy_(y)` copies, keeps dtype and device, and autograd counts the
  write;
- clipped or scaled values: the in-place method under `no_grad`, such as `x.clamp_(0, 1)`;
- another shape, dtype or device: a new parameter, `layer.weight = nn.Parameter(y)`, and a new optimizer after it; or
  `module.to(...)` for all parameters;
- one weight used twice: `decoder.weight = encoder.weight`, which is the same parameter instead of two that share
  memory.

## References
- [pytorch#30987](https://github.com/pytorch/pytorch/issues/30987): remove `.data`
- Measured on torch 2.13: after `x.data = y`, `x` shares `y`'s memory, `x._version` is unchanged, the object is the
  same
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.data_evidence import used_tensor
from torchlint.rules.data.data_use import Use
from torchlint.rules.data.live_graph import may_change_a_graph
from torchlint.rules.data.no_grad_block import no_grad_edits, statement_of
from torchlint.rules.wording import brief


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report an assignment to a tensor's `.data`."""
    found = used_tensor(node, Use.REBINDING, context)
    if found is None:
        return
    _, evidence = found
    message = f"`{brief(node, context)} = ...` swaps the tensor's memory: copy under `torch.no_grad()` instead"
    severity = Severity.WARNING if may_change_a_graph(node, context) else Severity.LEGACY
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), _choice(node, context), severity)


RULE = Rule(
    "TNS203",
    "data-rebinding",
    Triggers(attributes=("data",)),
    assumes=("author-meant-this",),
    visit={cst.Attribute: check},
)


_OTHERWISE = "a new dtype, device or shape needs a new parameter"


def _choice(node: cst.Attribute, context: FileContext) -> Fix | None:
    """Show the choice that fits most often: copy the values."""
    statement = statement_of(node, context)
    if statement is None:
        return None
    match statement.body[0]:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if target is node:
            start, end = context.outer_span(node.value)[1], context.outer_span(value)[0]
            block = no_grad_edits([statement], context)
            if block is None or "#" in context.source.slice(start, end) or isinstance(value, cst.Tuple | cst.Yield):
                return None
            edits = (*block, Edit(start, end, ".copy_("), context.insert_after(value, ")"))
            return Fix("Copy the values under `torch.no_grad()`", edits, (AUTHOR_MEANT_THIS.open(doubt=_OTHERWISE),))
    return None
