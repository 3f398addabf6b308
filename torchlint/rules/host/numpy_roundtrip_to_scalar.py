"""A detour through NumPy for a number that `.item()` or `.tolist()` gives directly.

## What it does
Reports `.numpy().item()`, `.numpy().tolist()`, `float(x.numpy())` and `int(x.numpy())`, and `.numpy()[0]` on a tensor
without dimensions, with or without `.detach()` and `.cpu()` before them.

## Why is this bad?
`.item()` and `.tolist()` work on every device, with or without a gradient. The detour needs `.detach()` and `.cpu()`
and does not work for `bfloat16`. With NumPy 2.4, `float(x.numpy())` raises a `TypeError` for a tensor of shape `(1,)`.
`.numpy()[0]` on a loss raises an `IndexError`, because a loss has no dimensions.

## Example
```python
import torch

loss = torch.nn.functional.mse_loss(torch.ones(3, requires_grad=True), torch.zeros(3))
total = float(loss.detach().cpu().numpy())
history = torch.arange(3.0).numpy().tolist()
```

Use instead:

```python
import torch

loss = torch.nn.functional.mse_loss(torch.ones(3, requires_grad=True), torch.zeros(3))
total = loss.item()
history = torch.arange(3.0).tolist()
```

## Severity
An error if an array without dimensions is indexed; otherwise legacy, because the detour only costs time. TNS101 and
TNS102 say whether its `.numpy()` may raise.

```python
import torch
import torch.nn.functional as F


def read(x: torch.Tensor):
    first = F.mse_loss(x, x).detach().cpu().numpy()[0]  # error
    return first, float(torch.ones(3).sum().numpy())  # legacy
```

## Fix safety
Safe on a tensor: the result is the same Python number, bit for bit, for every dtype that NumPy has. If the dtype is
not known to fit, the conversion stays: `float(x.item())`, because `.item()` of an integer tensor is an `int`.

Unsafe if the value may be a tensor of another framework or an object of a class in the project with its own `numpy`,
because callers need not follow an annotation. If the chain contains `.data`, the tensor must be created in sight.
Unsafe if an error may be expected: inside `try` with a handler that catches it, and in `pytest.raises` and similar
blocks in the same function.

`.numpy()[0]` on a tensor of one element gives a NumPy scalar, which keeps float32 arithmetic:
`torch.tensor(0.1).item() == 0.1` is `False`, but `torch.tensor(0.1).numpy() == 0.1` is `True`. So it is reported only
on a tensor without dimensions, where it cannot work.

## References
* [torch.Tensor.item](https://pytorch.org/docs/stable/generated/torch.Tensor.item.html)
* [torch.Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html)
* [NumPy 2.4: conversion of arrays with dimensions to scalars](https://numpy.org/doc/stable/release/2.4.0-notes.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, Dtype, FileContext, Kind, Rule, Triggers
from torchlint.rules.host.host_conversions import has_method_of_torch, is_host_copy
from torchlint.rules.obligations import error_not_expected, is_tensor
from torchlint.rules.wording import tensor_step

_NUMBERS: Final = {"float": Dtype.FLOATING, "int": Dtype.INTEGRAL}
_WHAT: Final = {"item": "number", "tolist": "list"}


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``.numpy`` whose array only becomes Python numbers."""
    match node:
        case cst.Call(func=cst.Attribute(value=chain, attr=cst.Name(value="numpy") as at), args=args):
            source = _source(chain, context)
        case _:
            return
    if any(each.keyword is None or each.keyword.value != "force" for each in args):
        return
    found = _read(node, source, context)
    if found is None:
        return
    used, word, around = found
    value = context.value(source)
    if not value.may(Kind.TENSOR) or not (value.is_tensor or _speaks_for_torch(chain, source, context)):
        return
    severity, message = Severity.LEGACY, f"NumPy is a detour to a Python {_WHAT[word]}: use `.{word}()`"
    if isinstance(used, cst.Subscript):
        severity, message = Severity.ERROR, "this tensor has no dimensions, so `[0]` raises `IndexError`: use `.item()`"
    known = has_method_of_torch(source, "numpy", context, chain)
    if ".data" in context.source.slice(context.outer_span(source)[1], context.span(chain)[1]):
        known = is_tensor(source, context)  # others keep a tensor under that name, too
    edits = _edits(node if around else used, source, word, context)
    yield Draft(
        at,
        message,
        Confidence.CERTAIN if value.is_tensor else Confidence.LIKELY,
        (tensor_step(source, context),),
        Fix(f"Use `.{word}()`", edits, (known, error_not_expected(node, context))) if edits else None,
        severity,
    )


def _source(node: cst.BaseExpression, context: FileContext) -> cst.BaseExpression:
    """Return what stands before the ``.detach()`` and ``.cpu()`` of a conversion."""
    match node:
        case cst.Attribute(value=inner, attr=cst.Name(value="data")) if context.value(inner).is_tensor:
            return _source(inner, context)
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="detach")), args=[]):
            return _source(inner, context)
        case cst.Call(func=cst.Attribute(value=inner)) if is_host_copy(node, context):
            return _source(inner, context)
    return node


def _read(
    node: cst.Call, source: cst.BaseExpression, context: FileContext
) -> tuple[cst.BaseExpression, str, bool] | None:
    """Return what takes numbers of an array, the method that gives them, and whether it stays around that."""
    above = context.parent(node)
    beyond = context.parent(above) if above is not None else None
    match above, beyond:
        case cst.Attribute(attr=cst.Name(value="item" | "tolist" as word)), cst.Call(func=read, args=[]):
            return (beyond, word, False) if read is above else None
        case cst.Arg(keyword=None, star=""), cst.Call(func=cst.Name(value="float" | "int" as word) as called, args=[_]):
            value = context.value(source)
            stays = not value.is_tensor or value.dtype != _NUMBERS[word]
            return (beyond, "item", stays) if context.names(called) == {f"builtins.{word}"} else None
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]), _:
            is_read = not isinstance(beyond, cst.AssignTarget | cst.AugAssign | cst.Del)
            return (above, "item", False) if is_read and context.value(source).rank == 0 else None
    return None


def _speaks_for_torch(chain: cst.BaseExpression, source: cst.BaseExpression, context: FileContext) -> bool:
    """Whether ``.detach()`` or ``.cpu()`` stands before ``.numpy()``: TensorFlow's tensors have ``.numpy()`` alone."""
    is_mixed = context.uses_other_frameworks and not context.value(chain).is_tensor
    return context.works_with_torch and chain is not source and not is_mixed


def _edits(used: cst.BaseExpression, source: cst.BaseExpression, word: str, context: FileContext) -> tuple[Edit, ...]:
    """Cut the chain behind its source, and what stands around both; nothing where a comment would go with it."""
    (start, end), (first, last) = context.outer_span(used), context.outer_span(source)
    edits = (Edit(start, first, ""), Edit(last, end, f".{word}()"))
    if any("#" in context.source.slice(each.start, each.end) for each in edits):
        return ()
    return edits[start == first :]


RULE = Rule(
    "TNS107",
    "numpy-roundtrip-to-scalar",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "error-not-expected"),
    visit={cst.Call: check},
)
