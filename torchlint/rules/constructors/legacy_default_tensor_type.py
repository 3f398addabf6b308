"""`torch.set_default_tensor_type(...)` sets a default dtype and a default device in one deprecated call.

## What it does

Flags calls of `torch.set_default_tensor_type`.

## Why is this bad?

It is deprecated as of torch 2.1 and warns. It hides a dtype and a device in the name of a type; with
`torch.cuda.FloatTensor` it moves even `torch.Tensor(...)` to the GPU, and code that draws from a CPU generator, such as
a shuffling `DataLoader`, fails far away from the call. `torch.set_default_dtype` and `torch.set_default_device` say one
thing each.

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

Legacy: it works until torch drops it.

```python
import torch

torch.set_default_tensor_type(torch.DoubleTensor)  # legacy
```

## Fix safety

Safe for CPU types, in a file that names no CUDA type in such a call, where no other file of the project may set a
default device or tensor type: every factory gave the same dtype and device after either call (measured on torch 2.13
for float64, float32, float16 and bfloat16). For a CUDA type the fix writes `torch.set_default_dtype` and
`torch.set_default_device("cuda")` and is unsafe: legacy constructors followed the default tensor type, but they ignore
the default device. Without a fix where the type is not written out, and for a CUDA type where `target-torch` is older
than 2.0, which has no `torch.set_default_device`.

## References

- [torch.set_default_tensor_type](https://docs.pytorch.org/docs/stable/generated/torch.set_default_tensor_type.html)
- [torch.set_default_dtype](https://docs.pytorch.org/docs/stable/generated/torch.set_default_dtype.html)
- [torch.set_default_device](https://docs.pytorch.org/docs/stable/generated/torch.set_default_device.html)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import DEFAULT_DEVICE, NO_LEGACY_DEVICE
from torchlint.diagnostics.model import Confidence, Edit, Fix
from torchlint.rules.api import DEVICE, TENSOR_TYPE, Draft, FileContext, Rule, Triggers
from torchlint.rules.constructors.legacy_types import TensorType, name_node, spelled_like, tensor_type, type_of
from torchlint.rules.wording import import_step

_FLOATING = frozenset({"float32", "float64", "float16", "bfloat16"})
_SETS_CUDA = re.compile(rb"set_default_tensor_type\([^\n#]*cuda|set_default_device\b")
_SET_DEVICE_SINCE = (2, 0)
_MESSAGE = "`torch.set_default_tensor_type` is deprecated: use `torch.set_default_dtype` and `torch.set_default_device`"


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call that sets the default tensor type."""
    at = name_node(node.func)
    if at is None or not context.spells(node.func, "set_default_tensor_type"):
        return
    if context.names(node.func) == {"torch.set_default_tensor_type"}:
        yield Draft(at, _MESSAGE, Confidence.CERTAIN, (import_step(node.func, context),), _fix(node, context))


def _fix(node: cst.Call, context: FileContext) -> Fix | None:
    kind = _given(node, context)
    if kind is None or kind.device is None or kind.dtype not in _FLOATING:
        return None
    words = ("set_default_dtype", str(kind.dtype), "set_default_device")
    spelled = [spelled_like(node.func, each, context) for each in words]
    setter, dtype, placer = (each[0] if each is not None else "" for each in spelled)
    if not (setter and dtype and placer):
        return None
    imports = {edit for each in spelled if each is not None for edit in each[1]}
    span = context.outer_span(node.args[0].value)
    edits = (context.replace(node.func, setter), Edit(*span, dtype), *imports)
    if not _SETS_CUDA.search(context.source.utf8):
        alone = DEFAULT_DEVICE.decided(context.other_texts.sets(TENSOR_TYPE, DEVICE))
        return Fix(f"Use `{setter}({dtype})`", edits, (alone,))
    call = f'{placer}("{kind.device}")'
    second = _second_statement(node, call, context)
    if second is None:
        return None
    return Fix(f"Use `set_default_dtype` and `{call}`", (*edits, second), (NO_LEGACY_DEVICE.open(),))


def _given(node: cst.Call, context: FileContext) -> TensorType | None:
    match node.args:
        case [cst.Arg(keyword=None, star="", value=cst.SimpleString() as text)]:
            return tensor_type([str(text.evaluated_value)])
        case [cst.Arg(keyword=None, star="", value=value)]:
            return type_of(value, context)
    return None


def _second_statement(node: cst.Call, call: str, context: FileContext) -> Edit | None:
    """Add the second call behind the first; only a statement of its own leaves room for it."""
    target = context.settings.target_torch
    statement = context.parent(node)
    line = context.parent(statement) if isinstance(statement, cst.Expr) else None
    if not isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite) or len(line.body) != 1:
        return None
    if target is not None and target < _SET_DEVICE_SINCE:
        return None
    start, end = context.span(node)
    if isinstance(line, cst.SimpleStatementSuite):
        return Edit(end, end, f"; {call}")
    indentation = context.source.slice(context.source.line_starts[context.row(node) - 1], start)
    return Edit(end, end, f"\n{indentation}{call}")


RULE = Rule(
    "TNS310",
    "legacy-default-tensor-type",
    Triggers(functions=("set_default_tensor_type",)),
    assumes=("default-device-unchanged",),
    visit={cst.Call: check},
)
