"""`x.new(...)` creates a tensor the legacy way: from data or from a size, depending on the argument.

## What it does
Reports `x.new(...)` if `x` is a tensor or the call can mean nothing else: `x.new(n, m).zero_()`, `x.new(y.size())`.
Other methods named `new` (`hashlib.new`, `Image.new`, `cls.new`) are never reported, and neither is `x.new(storage)`:
the result shares the storage's memory, which no other method does.

## Why is this bad?
`x.new(...)` is `torch.Tensor(...)` with the dtype and device of `x`, and has the same double meaning: an integer is a
size and leaves the memory uninitialised; a list is data; an array of the same dtype is shared; a tensor of the same
dtype becomes an alias, and one of another dtype is rejected. It is undocumented. `x.new_empty` and `x.new_tensor` say
which one is meant.

## Example
```python
import torch

x = torch.ones(2, 3)
mask = x.new(2, 3).zero_()
scale = x.new([0.5, 2])
```

Use instead:

```python
import torch

x = torch.ones(2, 3)
mask = x.new_zeros(2, 3)
scale = x.new_tensor([0.5, 2])
```

## Severity
Legacy: the code works. An error for arguments that `new` rejects.

```python
import torch

x = torch.ones(3)
y = x.new(2)  # legacy
z = x.new(1.5)  # error
```

## Fix safety
Safe if `x` is certainly a tensor and the argument is proven to be a size or a sequence: same values, dtype and device,
and neither result requires grad (measured on torch 2.13, also for parameters). A size directly followed by `.zero_()`
becomes `new_zeros`.

Unsafe if only an annotation says that `x` is a tensor or what the argument is, because callers need not follow it; if
the evidence is only how the result is used; for arrays, because `new_tensor` always copies; for `x.new(*sizes)`, which
gives an empty tensor if there are no sizes, while `new_empty()` raises; and, as for TNS302, in functions of a project
that records traces.

## References
- [Tensor.new_tensor](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_tensor.html)
- [Tensor.new_empty](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_empty.html)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from torchlint.diagnostics.assumptions import MEMORY_NOT_SHARED, SIZE_IS_GIVEN, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.constructors.constructor_argument import (
    ArgumentKind,
    Given,
    given,
    is_overwritten,
    measures,
    zeroing,
)
from torchlint.rules.constructors.legacy_types import kept_below
from torchlint.rules.constructors.modern_constructors import kind_decided
from torchlint.rules.obligations import is_tensor, size_not_traced
from torchlint.rules.repairs import in_fstring
from torchlint.rules.wording import brief, tensor_step

_SAID = {
    ArgumentKind.EMPTY: "without arguments makes an empty tensor: use `new_empty(0)`",
    ArgumentKind.SIZE: "with a size is uninitialised memory: use `new_empty`",
    ArgumentKind.DATA: "takes {what} as data: use `new_tensor`",
    ArgumentKind.SHAPE: "takes {what} as data, not as a shape: use `new_empty` or `new_tensor`",
    ArgumentKind.ARRAY: "may share memory with {what}: use `new_tensor`",
    ArgumentKind.TENSOR: "aliases {what} or rejects its dtype: use the tensor itself",
    ArgumentKind.INVALID: "always raises `TypeError` for {what}: use `new_tensor`",
    ArgumentKind.UNKNOWN: "takes {what} as a size or as data: use `new_empty` or `new_tensor`",
}


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report `x.new(...)` on a tensor."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "new":
        return
    if any(each.keyword or each.star == "**" for each in node.args):
        return
    receiver = node.func.value
    shown, proven = brief(receiver, context), context.value(receiver).is_tensor
    if not proven and not _reads_as_tensor(node, receiver, context):
        return
    found = given(node, node.args, context)
    if found.kind is ArgumentKind.STORAGE or (found.kind is ArgumentKind.UNKNOWN and not proven):
        return
    confidence = Confidence.CERTAIN if proven else Confidence.LIKELY
    if found.kind is ArgumentKind.UNKNOWN:
        confidence = Confidence.POSSIBLE
    zeroed = zeroing(node, context) if found.kind is ArgumentKind.SIZE else None
    severity = Severity.ERROR if found.kind is ArgumentKind.INVALID else Severity.LEGACY
    step = tensor_step(receiver, context) if proven else f"`{shown}` is asked for `new` as only a tensor is"
    said = _SAID[found.kind] if zeroed is None else "is filled with zeros at once: use `new_zeros`"
    fix = _fix(node, found, zeroed, context)
    yield Draft(node.func.attr, f"`{shown}.new` {said.format(what=found.named)}", confidence, (step,), fix, severity)


def _reads_as_tensor(node: cst.Call, receiver: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an unknown object's `new` is treated as only a tensor's is: given a tensor's size, or filled at once."""
    is_own = isinstance(receiver, cst.Name) and receiver.value in ("self", "cls")
    if is_own or not context.works_with_torch or not context.value(receiver).may(Kind.TENSOR):
        return False
    return is_overwritten(node, context) or any(measures(each.value) for each in node.args)


def _fix(node: cst.Call, found: Given, zeroed: cst.Call | None, context: FileContext) -> Fix | None:
    """Spell the method out; of an argument that may be a size or data both are shown."""
    if found.kind in (ArgumentKind.TENSOR, ArgumentKind.INVALID) or in_fstring(node, context):
        return None
    if zeroed is not None:
        fix = _renamed(node, "new_zeros", found, context)
        return replace(fix, edits=(*fix.edits, Edit(context.outer_span(node)[1], context.span(zeroed)[1], "")))
    fix = _renamed(node, "new_empty" if found.is_size else "new_tensor", found, context)
    if not found.may_be_either:
        return fix
    action = f"{fix.action} if {found.what} holds values, else `new_empty`"
    return replace(fix, action=action, otherwise=_renamed(node, "new_empty", found, context))


def _renamed(node: cst.Call, method: str, found: Given, context: FileContext) -> Fix:
    func = cst.ensure_type(node.func, cst.Attribute)
    edits: tuple[Edit, ...] = (context.replace(func.attr, method),)
    if found.kind is ArgumentKind.EMPTY:
        end = context.span(node)[1] - 1
        edits = (*edits, Edit(end, end, "0"))
    return Fix(f"Use `{method}`", edits, tuple(_assumed(node, func.value, method, found, context)))


def _assumed(
    node: cst.Call, receiver: cst.BaseExpression, method: str, found: Given, context: FileContext
) -> Iterator[Decision]:
    yield is_tensor(receiver, context)
    if len(node.args) == 1:
        yield from kept_below(node.args[0].value, context)
    yield kind_decided(found, method != "new_tensor")
    if method != "new_tensor":
        yield from size_not_traced(node, node.args, context)
    if found.kind is ArgumentKind.ARRAY:
        yield MEMORY_NOT_SHARED.open(found.what)
    if found.may_be_empty:
        yield SIZE_IS_GIVEN.open(found.what)


RULE = Rule(
    "TNS306",
    "tensor-new",
    Triggers(methods=("new",)),
    assumes=("is-torch-tensor", "only-read", "argument-is-data", "not-traced", "author-meant-this"),
    visit={cst.Call: check},
)
