"""`.type(...)` converts to a legacy tensor type, which moves the tensor as well.

## What it does

Flags `x.type(torch.FloatTensor)`, `x.type("torch.cuda.LongTensor")` and names that stand for such a type.
`x.type(torch.float32)`, `x.type_as(y)`, `x.type()` and `x.type(y.type())` are not flagged.

## Why is this bad?

A legacy type is a dtype and a device in one word. `x.type(torch.FloatTensor)` reads as a conversion to float32, but
it also copies a CUDA tensor to the CPU, silently and slowly; the next operation then fails with "Expected all tensors
to be on the same device". `.to("cpu", torch.float32)` says both, `.to(torch.float32)` keeps the device.

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

The fix keeps the move and says it. Drop `"cpu"` if it was not meant.

## Severity

Legacy: it works. A warning where the tensor may be on an accelerator and the type is one of the CPU: it moves there.

```python
import torch


def convert(x: torch.Tensor):
    here = x.type(torch.LongTensor)  # legacy
    return here, x.cuda().type(torch.FloatTensor)  # warning
```

## Fix safety

Safe on a tensor: same values, dtype, device and graph, and the tensor itself where nothing has to be done. Unsafe for
CUDA types: a tensor on another GPU stayed there, and `.to("cuda", ...)` moves it to the current one. Unsafe, too, where
the object may be a module: `Module.type` converts integer buffers too, `Module.to` does not. Only shown where the name
may stand for a CPU or a CUDA type. Unsafe, too, where a file of the project may set a default device or tensor type,
and for `torch.Tensor` a default dtype; and where only an annotation says that the object is a tensor: nothing holds a
caller to it.

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
from torchlint.rules.api import Device, Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.constructors.legacy_types import TensorType, kept_below, spelled_like, tensor_type, type_of
from torchlint.rules.obligations import defaults, defaults_unchanged, error_not_expected, is_tensor
from torchlint.rules.repairs import Spelled, in_fstring, torch_name
from torchlint.rules.wording import brief, tensor_step


def _why(wanted: cst.BaseExpression, receiver: cst.BaseExpression, context: FileContext) -> str:
    if context.value(receiver).is_tensor:
        return tensor_step(receiver, context)
    return f"`{brief(wanted, context)}` names a type of tensors, which only tensors and modules convert to"


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a conversion to a legacy tensor type."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "type" or not node.args:
        return
    wanted = _wanted(node)
    kind = _type(wanted.value, context) if wanted is not None else None
    if wanted is None or kind is None:
        return
    facts = context.value(node.func.value)
    if facts.kind and not facts.may(Kind.TENSOR | Kind.MODULE):
        return
    if not facts.must(Kind.TENSOR | Kind.MODULE) and not context.works_with_torch:
        return
    fix = _fix(node, node.func, wanted, kind, context)
    moves = kind.device == "cpu" and facts.device & Device.ACCELERATOR
    severity = Severity.WARNING if moves else Severity.LEGACY
    why = (_why(wanted.value, node.func.value, context),)
    yield Draft(node.func.attr, _message(kind), Confidence.CERTAIN, why, fix, severity)


def _wanted(node: cst.Call) -> cst.Arg | None:
    """Return the argument that names the type."""
    first = node.args[0]
    if first.star or any(each.star for each in node.args):
        return None
    if first.keyword is None:
        return first
    return next((each for each in node.args if each.keyword and each.keyword.value in ("dtype", "dst_type")), None)


def _type(node: cst.BaseExpression, context: FileContext) -> TensorType | None:
    match node:
        case cst.SimpleString():
            text = node.evaluated_value
            return tensor_type([text]) if isinstance(text, str) else None
        case cst.IfExp(body=one, orelse=other):
            both = [found.names for each in (one, other) if (found := _type(each, context))]
            return tensor_type([name for names in both for name in names]) if len(both) == 2 else None
    return type_of(node, context)


def _message(kind: TensorType) -> str:
    dtype = "the default dtype" if kind.plain else kind.dtype or "the dtype of its name"
    where = {"cpu": "the CPU", "cuda": "the GPU"}.get(kind.device or "", "the device of its name")
    return f"`.type({kind.names[0]})` converts to {dtype} and moves to {where}: use `.to(...)` and say both"


def _fix(node: cst.Call, func: cst.Attribute, wanted: cst.Arg, kind: TensorType, context: FileContext) -> Fix | None:
    known = defaults(context)
    name = "get_default_dtype" if kind.plain and known.dtype else kind.dtype
    name = name or ("float32" if kind.plain else None)
    if name is None or in_fstring(node, context) or "#" in context.code_with_parentheses(wanted.value):
        return None
    spelled = _spelled(wanted.value, name, context)
    if spelled is None:
        return None
    dtype, imports = spelled
    dtype += "()" if name == "get_default_dtype" else ""
    text = f"{_device(kind, wanted)}, {dtype}"
    keyword = context.outer_span(wanted.keyword)[0] if wanted.keyword else None
    start, end = context.outer_span(wanted.value)
    edits = (context.replace(func.attr, "to"), Edit(keyword if keyword is not None else start, end, text), *imports)
    action = f"Use `.to({text})`{' and say on which device' if kind.device is None else ''}"
    fix = Fix(action, edits, (*_assumed(func.value, kind, context), *kept_below(wanted.value, context)))
    if kind.device == "cpu":
        return fix
    return fix.assuming(error_not_expected(node, context))  # without that device each spelling raises another error


def _spelled(wanted: cst.BaseExpression, name: str, context: FileContext) -> Spelled | None:
    if isinstance(wanted, cst.Attribute):
        return spelled_like(wanted, name, context)
    return torch_name(context, name, wanted)


def _device(kind: TensorType, wanted: cst.Arg) -> str:
    if kind.device is None:
        return "device"
    quote = "'" if isinstance(wanted.value, cst.SimpleString) and wanted.value.quote == "'" else '"'
    return f"{quote}{kind.device}{quote}"


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
    yield from defaults_unchanged(context, dtype=kind.plain)


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
