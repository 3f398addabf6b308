"""A detour through NumPy for what `.item()` or `.tolist()` gives directly.

## What it does

Reports `.numpy().item()`, `.numpy().tolist()`, `float(x.numpy())` and `int(x.numpy())`, and `.numpy()[0]` on a tensor
without dimensions, with whatever `.detach()` and `.cpu()` stands before.

## Why is this bad?

`.item()` and `.tolist()` work on every device and with or without a gradient, so there is nothing to forget. The
detour works only with `.detach()` and `.cpu()` in place, not at all for `bfloat16`, and with NumPy 2.4
`float(x.numpy())` raises a `TypeError` for a tensor of shape `(1,)`. `.numpy()[0]` on a loss raises an `IndexError`:
a loss has no dimensions.

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

An error where an index asks an array without dimensions, a warning where the tensor may be on a graph or an
accelerator when `.numpy()` is called, and legacy where the detour only costs time.

```python
import torch
import torch.nn.functional as F


def read(model: torch.nn.Linear, x: torch.Tensor):
    first = F.mse_loss(x, x).detach().cpu().numpy()[0]  # error
    second = float(model(x).mean().numpy())  # warning
    third = float(model(x).mean().detach().cpu().numpy())  # legacy
    return first, second, third, float(torch.ones(3).sum().numpy())  # legacy
```

## Fix safety

Safe on a tensor: the same Python numbers come out, bit for bit, for every dtype that NumPy has. Where the dtype is not
known to fit, the conversion stays: `float(x.item())`, because the `.item()` of an integer tensor is an `int`. Unsafe
where the value may be a tensor of another framework, or an object of a class of the project that has a `numpy` of its
own: nothing holds a caller to an annotation. A `.data` on the way needs a tensor that is made in sight or asked for by
`isinstance`. Unsafe, too, where an error of the old code may be expected: inside `try` with a handler that takes it,
`pytest.raises` and the like in the same function.

`.numpy()[0]` on a tensor of one element gives a NumPy scalar, which keeps float32 arithmetic:
`torch.tensor(0.1).item() == 0.1` is `False`, `torch.tensor(0.1).numpy() == 0.1` is `True`. It is therefore reported
only where it cannot work, on a tensor without dimensions.

## References

* [torch.Tensor.item](https://pytorch.org/docs/stable/generated/torch.Tensor.item.html)
* [torch.Tensor.tolist](https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html)
* [NumPy 2.4: conversion of arrays with dimensions to scalars](https://numpy.org/doc/stable/release/2.4.0-notes.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Device, Draft, Dtype, FileContext, Grad, Kind, Rule, Triggers, Value
from torchlint.rules.host.host_conversions import has_method_of_torch, is_host_copy
from torchlint.rules.method_calls import call_of
from torchlint.rules.obligations import error_not_expected, is_tensor
from torchlint.rules.wording import tensor_step

_NUMBERS = {"float": Dtype.FLOATING, "int": Dtype.INTEGRAL}
_WHAT = {"item": "number", "tolist": "list"}


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``.numpy`` whose array only becomes Python numbers."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "numpy" or not _plain(node):
        return
    above = context.parent(node)
    match above:
        case cst.Attribute(attr=cst.Name(value="item" | "tolist" as word)):
            read = call_of(above, context)
            if read is not None and not read.args:
                yield from _reported(node, read, word, "", context)
        case cst.Arg(keyword=None, star=""):
            used = context.parent(above)
            if isinstance(used, cst.Call) and len(used.args) == 1:
                yield from _converted(node, used, context)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            place = context.python(above)  # as the target of an assignment it is no read
            is_read = isinstance(place, ast.Subscript) and isinstance(place.ctx, ast.Load)
            if is_read and context.value(_source(node, context)).rank == 0:
                yield from _reported(node, above, "item", "", context)


def _plain(node: cst.Call) -> bool:
    return all(each.keyword is not None and each.keyword.value == "force" for each in node.args)


def _converted(node: cst.Call, used: cst.Call, context: FileContext) -> Iterator[Draft]:
    """``float(x.numpy())``: the number's own type may make the call of ``float`` superfluous."""
    word = used.func.value if isinstance(used.func, cst.Name) else ""
    if word not in _NUMBERS or context.names(used.func) != {f"builtins.{word}"}:
        return
    value = context.value(_source(node, context))
    fits = value.is_tensor and value.dtype == _NUMBERS[word]
    yield from _reported(node, used, "item", "" if fits else word, context)


def _reported(
    node: cst.Call, used: cst.BaseExpression, word: str, around: str, context: FileContext
) -> Iterator[Draft]:
    source = _source(node, context)
    value = context.value(source)
    if not value.may(Kind.TENSOR) or (not value.is_tensor and not _speaks_for_torch(node, context)):
        return
    message = f"NumPy is a detour here: `.{word}()` gives the Python {_WHAT[word]} directly, on every device"
    if isinstance(used, cst.Subscript):
        message = "this tensor has no dimensions, so `[0]` raises `IndexError`: use `.item()`"
    fix = _repair(node, used, word, around, context)
    confidence = Confidence.CERTAIN if value.is_tensor else Confidence.LIKELY
    attribute = cst.ensure_type(node.func, cst.Attribute).attr
    converted = context.value(cst.ensure_type(node.func, cst.Attribute).value)
    why = (tensor_step(source, context),)
    yield Draft(attribute, message, confidence, why, fix, _severity(used, converted))


def _severity(used: cst.BaseExpression, value: Value) -> Severity:
    """Return what happens: an index raises without dimensions, NumPy refuses what is on a graph or an accelerator.

    ``value`` is what the array is made of: `.detach()` and `.cpu()` before the conversion have done their work.
    """
    if isinstance(used, cst.Subscript):
        return Severity.ERROR
    may_fail = value.grad & Grad.ATTACHED or value.device & Device.ACCELERATOR
    return Severity.WARNING if may_fail else Severity.LEGACY


def _repair(node: cst.Call, used: cst.BaseExpression, word: str, around: str, context: FileContext) -> Fix | None:
    """Cut the chain behind its source, and the conversion around it where the number's type is known."""
    source, chain = _source(node, context), cst.ensure_type(node.func, cst.Attribute).value
    known = has_method_of_torch(source, "numpy", context, chain)
    if _reads_data(chain):  # a class of one's own may keep a tensor under that name
        known = is_tensor(source, context)
    start, end = context.outer_span(node) if around else context.span(used)
    first, last = context.outer_span(source)
    edits = [Edit(last, end, f".{word}()")]
    if start < first:
        edits.append(Edit(start, first, ""))
    if any("#" in context.source.slice(edit.start, edit.end) for edit in edits):
        return None
    return Fix(f"Use `.{word}()`", tuple(edits), (known, error_not_expected(node, context)))


def _source(node: cst.Call, context: FileContext) -> cst.BaseExpression:
    """Return what stands before the ``.detach()`` and ``.cpu()`` of a conversion."""
    below = cst.ensure_type(node.func, cst.Attribute).value
    while _is_step(below, context):
        below = _receiver(below)
    return below


def _is_step(node: cst.BaseExpression, context: FileContext) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="detach")), args=[]):
            return True
        case cst.Attribute(attr=cst.Name(value="data"), value=owner):
            return context.value(owner).is_tensor
        case cst.Call():
            return is_host_copy(node, context)
    return False


def _reads_data(chain: cst.BaseExpression) -> bool:
    """Whether a conversion goes through `.data`."""
    while isinstance(chain, cst.Call | cst.Attribute):
        if isinstance(chain, cst.Attribute) and chain.attr.value == "data":
            return True
        chain = chain.func if isinstance(chain, cst.Call) else chain.value
    return False


def _receiver(node: cst.BaseExpression) -> cst.BaseExpression:
    called = node.func if isinstance(node, cst.Call) else node
    return cst.ensure_type(called, cst.Attribute).value


def _speaks_for_torch(node: cst.Call, context: FileContext) -> bool:
    """Whether ``.detach()`` or ``.cpu()`` stands before ``.numpy()``: TensorFlow's tensors have ``.numpy()`` alone."""
    if not context.works_with_torch:
        return False
    mixed = context.uses_other_frameworks
    match cst.ensure_type(node.func, cst.Attribute).value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=word))):
            return word == "detach" or (word == "cpu" and not mixed)
    return False


RULE = Rule(
    "TNS107",
    "numpy-roundtrip-to-scalar",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "error-not-expected"),
    visit={cst.Call: check},
)
