"""`torch.tensor(t)` is called with a tensor: it copies, warns, and cuts the gradient.

## What it does
Reports `torch.tensor(t)` where `t` is a tensor, certainly or most likely.

## Why is this bad?
`torch.tensor` is for Python data. For a tensor it makes a detached copy and warns on every call: "To copy construct
from a tensor, it is recommended to use sourceTensor.detach().clone()". If you wanted a tensor that takes part in
training, you have lost the gradient without an error: the result does not depend on `t`.

## Example
```python
import torch

weight = torch.ones(3, requires_grad=True)
start = torch.tensor(weight)
target = torch.tensor(weight * 2, dtype=torch.float64)
```

Use instead:

```python
import torch

weight = torch.ones(3, requires_grad=True)
start = weight.detach().clone()
target = (weight * 2).detach().to(dtype=torch.float64, copy=True)
```

## Severity
Legacy: the code works, with a torch warning. A warning if the tensor is part of a graph and grad mode is on, because
the gradient ends there.

```python
import torch

w = torch.ones(3, requires_grad=True)
x = torch.tensor(torch.ones(3))  # legacy
y = torch.tensor(w * 2)  # warning
```

## Fix safety
Safe: same values, dtype, device, strides and `requires_grad`, and always a copy (measured on torch 2.13 for
contiguous, transposed, expanded, strided, empty and 0-dim tensors, parameters, integers and bools); only the torch
warning disappears.

Unsafe if a file in the project sets a default device, because `torch.tensor(t)` moves its result there; if the file
mentions a class of the project that derives from `Tensor`, because `.detach()` keeps the class and `torch.tensor` does
not; and if the code does not show that `t` is a tensor. The results of torch's own functions and layers, values
computed from them, and `isinstance` or `torch.is_tensor` tests show it. An annotation and a method such as `argmax`,
`split` or `max` of an unknown object do not: arrays have these methods too, and `torch.tensor` often gets a number.

Integers, values detached in the same expression and tensors created there from data carry no gradient, so the fix does
not detach them again: `torch.tensor(t.detach())` becomes `t.detach().clone()`. If the gradient is meant to flow, write
`weight.clone()` or `weight` instead.

## References
- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html): "When data is a tensor `x`,
  `torch.tensor(x)` is equivalent to `x.detach().clone()`"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Grad, Mode, Rule, Triggers
from torchlint.rules.constructors.legacy_types import name_node
from torchlint.rules.data.detached import carries_no_gradient, is_detached_behind
from torchlint.rules.obligations import default_device_unchanged, is_tensor, of_no_subclass
from torchlint.rules.repairs import in_fstring, is_primary
from torchlint.rules.wording import value_step

_KNOWN = frozenset({"data", "dtype", "device", "requires_grad"})


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a tensor given to `torch.tensor`."""
    at = name_node(node.func)
    if at is None or not node.args or not context.spells(node.func, "tensor"):
        return
    named = [each for each in node.args if each.keyword is not None and each.keyword.value == "data"]
    source = next(iter(named), node.args[0])
    if source.star or isinstance(source.value, cst.List | cst.Tuple | cst.ListComp | cst.Integer | cst.Float):
        return
    value = context.value(source.value)
    if context.names(node.func) != {"torch.tensor"} or not value.is_tensor:
        return
    known = is_tensor(source.value, context)
    cuts = value.grad & Grad.ATTACHED and context.mode(source.value) & Mode.ON
    harm = "warns and cuts its gradient" if cuts else "copies it with a warning"
    remedy = ".clone()" if carries_no_gradient(source.value, context) else ".detach().clone()"
    yield Draft(
        at,
        f"`torch.tensor` of a tensor {harm}: use `{remedy}`",
        Confidence.CERTAIN if known.is_proven else Confidence.LIKELY,
        (value_step(source.value, "a tensor" if known.is_proven else "most likely a tensor", context),),
        _fix(node, source, context),
        Severity.WARNING if cuts else Severity.LEGACY,
    )


def _fix(node: cst.Call, source: cst.Arg, context: FileContext) -> Fix | None:
    others = [each for each in node.args if each is not source]
    if any(each.keyword is None or each.keyword.value not in _KNOWN for each in others) or in_fstring(node, context):
        return None
    inner, outer = context.outer_span(source.value), context.span(node)
    if "#" in context.source.slice(outer[0], inner[0]) + context.source.slice(inner[1], outer[1]):
        return None
    tail, is_behind = _tail(others, context), is_detached_behind(node, context)
    if is_behind or carries_no_gradient(source.value, context):
        tail = tail.removeprefix(".detach()")
    if is_behind and "requires_grad_" in tail:
        return None  # nobody means both
    opening, closing = ("(", ")") if _needs_parentheses(source.value, context) else ("", "")
    edits = (Edit(outer[0], inner[0], opening), Edit(inner[1], outer[1], f"{closing}{tail}"))
    known, plain = is_tensor(source.value, context), of_no_subclass(source.value, context)
    return Fix(f"Use `{tail}`", edits, (known, plain, default_device_unchanged(context)))


def _tail(others: list[cst.Arg], context: FileContext) -> str:
    said = {each.keyword.value: context.code_with_parentheses(each.value) for each in others if each.keyword}
    needs_grad = said.pop("requires_grad", "False")
    converted = "".join(f"{word}={text}, " for word, text in said.items())
    copied = f".detach().to({converted}copy=True)" if said else ".detach().clone()"
    if needs_grad == "False":
        return copied
    return f"{copied}.requires_grad_({'' if needs_grad == 'True' else needs_grad})"


def _needs_parentheses(node: cst.BaseExpression, context: FileContext) -> bool:
    if getattr(node, "lpar", ()):
        return False
    try:  # a chain broken over lines may have stood on the call's own parentheses
        ast.parse(context.code(node), mode="eval")
    except SyntaxError:
        return True
    return not is_primary(node)


RULE = Rule(
    "TNS308",
    "tensor-from-tensor",
    Triggers(functions=("tensor",)),
    assumes=("is-torch-tensor", "default-device-unchanged"),
    visit={cst.Call: check},
)
