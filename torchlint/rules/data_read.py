"""`.data` is read as a detached value.

## What it does

Flags `.data` of a tensor where its value is used, and nothing is written into it at once.

## Why is this bad?

`.data` gives the tensor's memory without its history, and hides what is later written through it: such a write is not
counted by autograd, and a `backward` that needs the old value computes a wrong gradient without a word. `.detach()`
gives the same value and is watched: there the same mistake is an error.

Only leaving `.data` out is no repair: it puts the value back into the graph, which then is kept in memory, receives
gradient, or refuses `.numpy()`.

## Example

```python
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
total = y.data.sum()
array = y.data.cpu().numpy()
```

Use instead:

```python
import torch

x = torch.ones(3, requires_grad=True)
y = x * 2
total = y.detach().sum()
array = y.detach().cpu().numpy()
```

## Fix safety

Safe where the value is only read: it goes into operations that keep no graph, into a number, a list, an array or a
text, or is copied. What is written through a NumPy array of the value is hidden in both spellings.

Unsafe where something may be written through the value later, or where a graph may save it: when the value is
returned, stored, given to another function, or multiplied with a tensor that may require grad. Then a write that
passed silently may raise, and a gradient that was silently wrong becomes an error.

Unsafe where the object is not shown to be a tensor, as the output of a network is not: the fix says so.

Unsafe in a file that speaks of `torch.jit.trace`, `torch.onnx.export` and the like: a trace keeps what `.data` gives
as a constant, whatever the input is later, and follows `.detach()`. Most often the constant is a bug.

Rare worlds: `.detach()` raises on the uninitialized parameters of lazy modules, where `.data` is an empty tensor;
under `torch.vmap` it is the other way round.

## References

- [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
- [PyTorch 0.4 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/): "What about `.data`?"
- Measured on torch 2.13: values, dtype, device, strides and memory are the same, and so is the effect of each
  in-place method; only the version counter is shared by `.detach()` and not by `.data`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.model import Applicability, Confidence, Fix
from torchlint.rule import Draft, FileContext, Rule
from torchlint.rules.data_edits import detached, dropped
from torchlint.rules.data_evidence import doubt, tensor_evidence
from torchlint.rules.data_use import Use, data_use, method_call
from torchlint.rules.tracing import unless_traced
from torchlint.rules.write_through import only_read


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report `.data` where its value is read."""
    if node.attr.value != "data":
        return
    use = data_use(node, context)
    if use is None or use.use is not Use.READ:
        return
    confidence = tensor_evidence(node, context)
    if confidence is None:
        return
    place = context.python(node)
    safe = confidence is Confidence.CERTAIN and isinstance(place, ast.expr) and only_read(place, context)
    if _is_detached_next(node, context):
        edit, title = dropped(node, context), "Drop `.data` before `.detach()`"
    else:
        edit, title = detached(node, context), "Replace `.data` with `.detach()`"
    message = "`.data` hides later writes from autograd, so gradients may be silently wrong: use `.detach()`"
    fix = Fix(title, (edit,), Applicability.SAFE if safe else Applicability.UNSAFE)
    yield Draft(
        node.attr, message, confidence, fix=unless_traced(fix.doubted(doubt(node, confidence, context)), context)
    )


RULE = Rule("TNS201", {cst.Attribute: check})


def _is_detached_next(node: cst.Attribute, context: FileContext) -> bool:
    called = method_call(node, context)
    return called is not None and called[1] == "detach"
