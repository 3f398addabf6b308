"""`.type(...)` converts to a legacy tensor type, which may also move the tensor to another device.

## What it does
Reports `x.type(torch.FloatTensor)`, `x.type("torch.cuda.LongTensor")` and names for such a type.
`x.type(torch.float32)`, `x.type_as(y)`, `x.type()` and `x.type(y.type())` are not reported.

## Why is this bad?
A legacy type combines a dtype and a device. `x.type(torch.FloatTensor)` looks like a conversion to float32, but also
copies a CUDA tensor to the CPU, silently and slowly. The next operation then fails with "Expected all tensors to be on
the same device". `.to("cpu", torch.float32)` states both; `.to(torch.float32)` keeps the device.

## Example
```python
import torch

scores = torch.tensor([0.2, 0.8])
labels = scores.round().type(torch.LongTensor)
```

Use instead:

```python
import torch

scores = torch.tensor([0.2, 0.8])
labels = scores.round().to("cpu", torch.int64)
```

The fix keeps the move and makes it visible. Drop `"cpu"` if you do not want the move.

## Severity
Legacy: the code works. A warning if the tensor may be on an accelerator and the type is a CPU type, because the tensor
moves to the CPU.

```python
import torch


def convert(x: torch.Tensor):
    here = x.type(torch.LongTensor)  # legacy
    return here, x.cuda().type(torch.FloatTensor)  # warning
```

## Fix safety
Safe on a tensor: same values, dtype, device and graph, and the same tensor if nothing changes. Unsafe for CUDA types:
a tensor on another GPU stayed there, but `.to("cuda", ...)` moves it to the current one. Unsafe if the object may be a
module: `Module.type` also converts integer buffers, `Module.to` does not. Unsafe if a file in the project may set a
default device or tensor type (for `torch.Tensor`, also a default dtype), and if only an annotation says that the
object is a tensor, because callers need not follow it. Only shown if the name may stand for a CPU or a CUDA type.

## References
- [Tensor.type](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.type.html)
- [Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
- [Module.type](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.type)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import DEVICE_IS_KNOWN, IS_TENSOR, ON_CURRENT_GPU, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import DTYPE, TENSOR_TYPE, Device, Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.constructors.legacy_types import TensorType, kept_below, spelled_like, type_of
from torchlint.rules.obligations import (
    default_device_unchanged,
    default_dtype_unchanged,
    error_not_expected,
    is_tensor,
)
from torchlint.rules.repairs import in_fstring
from torchlint.rules.wording import brief, tensor_step


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a conversion to a legacy tensor type."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "type" or not node.args:
        return
    wanted = node.args[0]
    kind = type_of(wanted.value, context) if wanted.keyword is None and not wanted.star else None
    if kind is None:
        return
    receiver = node.func.value
    value = context.value(receiver)
    is_known = value.must(Kind.TENSOR | Kind.MODULE)
    if (value.kind and not value.may(Kind.TENSOR | Kind.MODULE)) or not (is_known or context.works_with_torch):
        return
    moves = kind.device == "cpu" and value.device & Device.ACCELERATOR
    why = f"`{brief(wanted.value, context)}` names a type of tensors, which only tensors and modules convert to"
    yield Draft(
        node.func.attr,
        _message(kind),
        Confidence.CERTAIN,
        (tensor_step(receiver, context) if value.is_tensor else why,),
        _fix(node, node.func, wanted, kind, context),
        Severity.WARNING if moves else Severity.LEGACY,
    )


def _message(kind: TensorType) -> str:
    dtype = "the default dtype" if kind.plain else kind.dtype or "the dtype of its name"
    where = {"cpu": "the CPU", "cuda": "the GPU"}.get(kind.device or "", "the type's device")
    return f"`.type({kind.names[0]})` converts to {dtype} and moves to {where}: use `.to(...)`"


def _fix(node: cst.Call, func: cst.Attribute, wanted: cst.Arg, kind: TensorType, context: FileContext) -> Fix | None:
    name = kind.dtype
    if kind.plain:
        name = "get_default_dtype" if context.defaults_set & {DTYPE, TENSOR_TYPE} else "float32"
    if name is None or in_fstring(node, context) or "#" in context.code_with_parentheses(wanted.value):
        return None
    spelled = spelled_like(wanted.value, name, context)
    if spelled is None:
        return None
    dtype, imports = spelled
    quote = wanted.value.quote if isinstance(wanted.value, cst.SimpleString) else '"'
    device = f"{quote}{kind.device}{quote}" if kind.device is not None else "device"
    text = f"{device}, {dtype}{'()' if name == 'get_default_dtype' else ''}"
    action = f"Use `.to({text})`{' and say on which device' if kind.device is None else ''}"
    edits = (context.replace(func.attr, "to"), Edit(*context.outer_span(wanted.value), text), *imports)
    fix = Fix(action, edits, (*_assumed(func.value, kind, context), *kept_below(wanted.value, context)))
    if kind.device == "cpu":
        return fix
    return fix.assuming(error_not_expected(node, context))  # without that device each spelling raises another error


def _assumed(receiver: cst.BaseExpression, kind: TensorType, context: FileContext) -> Iterator[Decision]:
    code = brief(receiver, context)
    if context.value(receiver).is_tensor:
        yield is_tensor(receiver, context)
    else:
        yield IS_TENSOR.open(code, "a module's integer buffers keep their dtype")
    if kind.device is None:
        yield DEVICE_IS_KNOWN.open()
    elif kind.device == "cuda":
        yield ON_CURRENT_GPU.open(code)
    yield default_device_unchanged(context)
    if kind.plain:
        yield default_dtype_unchanged(context)


RULE = Rule(
    "TNS307",
    "legacy-type-conversion",
    Triggers(methods=("type",)),
    assumes=(
        "is-torch-tensor",
        "default-dtype-unchanged",
        "default-device-unchanged",
        "error-not-expected",
        "author-meant-this",
    ),
    visit={cst.Call: check},
)
