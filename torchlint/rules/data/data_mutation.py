"""A tensor is written through `.data`, hidden from autograd.

## What it does
Reports writes to a tensor through `.data`: in-place methods (`w.data.normal_()`), assignments to elements
(`w.data[0] = 1`), augmented assignments (`w.data += v`), `out=w.data`, and `nn.init` functions called with `.data`.

## Why is this bad?
Autograd counts the writes to each tensor, so that `backward` can refuse a value that was overwritten after the forward
pass. Writes through `.data` are not counted: a gradient computed from an overwritten value is wrong, without any
error. `with torch.no_grad():` allows the same write and counts it.

`w.data.resize_(n)`, `w.data.t_()`, `w.data.set_(v)` and similar calls do not even do what they say: they change the
temporary object that `.data` made, and `w` keeps its shape. On a sparse tensor, `grad.data.zero_()` does nothing at
all.

## Example
```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.fc.weight.data.normal_(0, 0.02)
        self.fc.bias.data.zero_()


net = Net()
```

Use instead:

```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        nn.init.normal_(self.fc.weight, 0, 0.02)
        nn.init.zeros_(self.fc.bias)


net = Net()
```

## Severity
A warning if the tensor was computed with grad mode on, or if the write is between a forward pass and its `backward`:
the gradient is silently wrong. Legacy otherwise: a module initialises itself, an optimizer step is written by hand, or
a gradient is written that no graph has saved.

```python
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.fc.weight.data.zero_()  # legacy

    def forward(self, x):
        out = self.fc(x)
        out.data.clamp_(0)  # warning
        return out
```

## Fix safety
The initial values of a module, written by `normal_`, `uniform_`, `zero_` or `fill_` where it is built, use `nn.init`,
which calls the same methods without grad. Other writes go into a `torch.no_grad()` block that neighbouring statements
share. If grad mode is already off, and in calls of `nn.init`, `.data` is simply removed. `.data` becomes `.detach()`,
which also counts writes, if the statement calls anything other than torch, NumPy or Python builtins, depends on grad
mode, or uses its result, and for `out=`.

`m.weight.data += v` becomes `m.weight.add_(v)`, because `m.weight += v` also assigns the attribute, which may be a
property. Unsafe unless `v` is a tensor or a number: with a NumPy array, `+=` makes a new tensor.

Safe if no graph can hold the tensor yet and the method was measured to do the same in both spellings. The write is
then in `__init__`, in `reset_parameters` or a method that only these call, or in a function that the file passes to
`.apply` of a new module, also in a loop over the object's own `modules()` or `parameters()`; or right after the line
that creates the layer or tensor. The tensor must be created in sight, and nothing may have computed with it.

Unsafe otherwise: between a forward pass and its `backward`, the write was silently wrong and now raises.
`grad.zero_()` under `no_grad` clears a sparse gradient; `grad.data.zero_()` did not. Methods that change the shape now
change the tensor itself. The two spellings also differ on an inference tensor outside `inference_mode` and for the
tangents of forward-mode AD. Unsafe if the code does not show a tensor, and in a file that uses `torch.jit.trace`,
`torch.onnx.export` or similar, because a trace does not record writes through `.data`.

Only shown for the arguments of `forward` in an `autograd.Function`: the write is hidden there on purpose, and a
visible write must be declared with `ctx.mark_dirty`. There is no fix for `resize_`, `apply_` and `map_` on a tensor
that may require grad, which torch refuses, nor for a change of shape that cannot go into a block.

## References
- [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
- [Autograd mechanics: in-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html)
- [pytorch#30987](https://github.com/pytorch/pytorch/issues/30987): remove `.data`
- [pytorch#15070](https://github.com/pytorch/pytorch/issues/15070): writes through `.data` of sparse tensors are lost
- Measured on torch 2.13: of 162 in-place methods, `ALIKE` in `torchlint/rules/data/tensor_uses.py` do the same
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.data_evidence import used_tensor
from torchlint.rules.data.data_use import DataUse, Use, Way
from torchlint.rules.data.live_graph import is_input_of_function, may_change_a_graph
from torchlint.rules.data.tensor_uses import REFORMING, REFUSED
from torchlint.rules.data.write_repair import repair
from torchlint.rules.obligations import not_traced_here
from torchlint.rules.wording import in_the_imperative


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report a write through `.data`."""
    found = used_tensor(node, Use.MUTATION, context)
    if found is None:
        return
    use, evidence = found
    fix = repair(node, use, evidence, context)
    severity = Severity.WARNING if may_change_a_graph(node, context) else Severity.LEGACY
    message = _message(use, fix, severity)
    if fix is not None:
        fix = fix.assuming(not_traced_here(context))
    if fix is not None and is_input_of_function(node.value, context):
        fix = fix.assuming(AUTHOR_MEANT_THIS.open(doubt=_MARKED))
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), fix, severity)


RULE = Rule(
    "TNS202",
    "data-mutation",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "only-read", "no-live-graph", "not-traced", "author-meant-this"),
    visit={cst.Attribute: check},
)


_MARKED = "an input that `forward` changes is told by `ctx.mark_dirty`"


def _message(use: DataUse, fix: Fix | None, severity: Severity) -> str:
    """Say what happens, and what the fix does about it."""
    by_hand = "make a new tensor" if use.word in REFUSED else "write under `torch.no_grad()`"
    remedy = in_the_imperative(fix) or by_hand
    if use.word in REFORMING:
        return f"`.data.{use.word}()` leaves the tensor as it is: {remedy}"
    if use.way is Way.INIT:
        return f"`nn.init.{use.word}` turns grad mode off itself: {remedy}"
    if severity is Severity.WARNING:
        return f"autograd misses this write, so gradients may be wrong: {remedy}"
    return f"autograd misses writes through `.data`: {remedy}"
