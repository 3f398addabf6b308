"""`torch.set_default_tensor_type(...)` sets a default dtype and a default device in one deprecated call.

## What it does
Reports calls of `torch.set_default_tensor_type`.

## Why is this bad?
It is deprecated since torch 2.1 and warns. It hides a dtype and a device in the name of a type. With
`torch.cuda.FloatTensor`, it moves even `torch.Tensor(...)` to the GPU, and code that draws from a CPU generator, such
as a shuffling `DataLoader`, fails far away from the call. `torch.set_default_dtype` and `torch.set_default_device`
each set one thing.

## Example
```python
import torch

torch.set_default_tensor_type(torch.DoubleTensor)
```

Use instead:

```python
import torch

torch.set_default_dtype(torch.float64)
```

## Severity
Legacy: the code works until torch removes the function.

```python
import torch

torch.set_default_tensor_type(torch.DoubleTensor)  # legacy
```

## Fix safety
Safe for CPU types, if the file names no CUDA type in such a call and no other file in the project may set a default
device or tensor type: every factory gave the same dtype and device after either call (measured on torch 2.13 for
float64, float32, float16 and bfloat16). No fix for a CUDA type or in a file with one: legacy constructors follow the
default tensor type, but ignore the default device. No fix if the type is not written out.

## References
- [torch.set_default_tensor_type](https://docs.pytorch.org/docs/stable/generated/torch.set_default_tensor_type.html)
- [torch.set_default_dtype](https://docs.pytorch.org/docs/stable/generated/torch.set_default_dtype.html)
- [torch.set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import DEFAULT_DEVICE
from torchlint.diagnostics.model import Confidence, Edit, Fix
from torchlint.rules.api import DEVICE, TENSOR_TYPE, Draft, FileContext, Rule, Triggers
from torchlint.rules.constructors.legacy_types import name_node, spelled_like, type_of
from torchlint.rules.wording import import_step

_FLOATING = frozenset({"float32", "float64", "float16", "bfloat16"})
_SETS_CUDA = re.compile(rb"set_default_tensor_type\([^\n#]*cuda|set_default_device\b")
_MESSAGE = "`torch.set_default_tensor_type` is deprecated: use `torch.set_default_dtype` and `torch.set_default_device`"


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call that sets the default tensor type."""
    at = name_node(node.func)
    if at is None or not context.spells(node.func, "set_default_tensor_type"):
        return
    if context.names(node.func) == {"torch.set_default_tensor_type"}:
        yield Draft(at, _MESSAGE, Confidence.CERTAIN, (import_step(node.func, context),), _fix(node, context))


def _fix(node: cst.Call, context: FileContext) -> Fix | None:
    is_plain = len(node.args) == 1 and node.args[0].keyword is None and not node.args[0].star
    kind = type_of(node.args[0].value, context) if is_plain else None
    if kind is None or kind.dtype not in _FLOATING or _SETS_CUDA.search(context.source.utf8):
        return None
    setter, dtype = spelled_like(node.func, "set_default_dtype", context), spelled_like(node.func, kind.dtype, context)
    if setter is None or dtype is None:
        return None
    argument = Edit(*context.outer_span(node.args[0].value), dtype[0])
    edits = dict.fromkeys((context.replace(node.func, setter[0]), argument, *setter[1], *dtype[1]))
    alone = DEFAULT_DEVICE.decided(context.other_texts.sets(TENSOR_TYPE, DEVICE))
    return Fix(f"Use `{setter[0]}({dtype[0]})`", tuple(edits), (alone,))


RULE = Rule(
    "TNS310",
    "legacy-default-tensor-type",
    Triggers(functions=("set_default_tensor_type",)),
    assumes=("default-device-unchanged",),
    visit={cst.Call: check},
)
