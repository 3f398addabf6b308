"""`.data` is read as a detached value.

## What it does

Flags `.data` of a tensor where its value is used, and nothing is written into it at once. Of the reading in
`w.data = w.data * 2` [TNS203](TNS203.md) speaks.

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

## Severity

Legacy: it works, and hides later writes. An error where `.data[0]` is asked of what has no dimensions.

```python
import torch

x = torch.ones(3, requires_grad=True)
y = x.data * 2  # legacy
first = (x * 2).sum().data[0].sqrt()  # error
```

## Fix safety

Safe where the value is only read: it goes into operations that keep no graph, into a number, a list, an array or a
text, or is copied. What is written through a NumPy array of the value is hidden in both spellings.

Unsafe where something may be written through the value later, or where a graph may save it: when the value is
returned, stored, given to another function or object, or multiplied with a tensor that may require grad. Then a write
that passed silently may raise, and a gradient that was silently wrong becomes an error. A `no_grad` block around a
generator or a coroutine does not tell that no graph saves the value.

Unsafe as well where the code does not show that the object is a tensor: where only an annotation, a name or a method of
an unknown object says so. A packed sequence has `.data` too, and so may a class of your own.

`.data` is only dropped where the chain detaches anyway, where an in-place method is given the value while grad mode is
off (`w.copy_(v.data)`), in the block that the repair of a write makes as well, and where what is only read carries no
gradient (`pred.argmax(1).data.cpu().numpy()`). `x.data[0]` of what may have no dimensions raises in both spellings, and
wants `.item()` ([TNS204](data-as-scalar.md)): its fix is unsafe and says so.

Unsafe in a project that speaks of `torch.jit.trace`, `torch.onnx.export` and the like: a trace keeps what `.data` gives
as a constant, and follows `.detach()`. Rare worlds: `.detach()` raises on the uninitialized parameters of lazy modules,
where `.data` is an empty tensor; under `torch.vmap` it is the other way round.

## References

- [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
- [PyTorch 0.4 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/): "What about `.data`?"
- Measured on torch 2.13: values, dtype, device, strides and memory are the same, and so is the effect of each
  in-place method; only the version counter is shared by `.detach()` and not by `.data`
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NOT_WRITTEN_LATER
from torchlint.diagnostics.model import Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.bare_operands import carries_no_gradient, needs_no_detach
from torchlint.rules.data.data_evidence import Evidence, is_tensor_by, used_tensor
from torchlint.rules.data.data_use import (
    Use,
    detach_edit,
    detached_owner,
    drop_edit,
    is_detached_behind,
    is_detaching,
)
from torchlint.rules.obligations import not_traced
from torchlint.rules.wording import brief, in_the_imperative


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report `.data` where its value is read."""
    found = used_tensor(node, Use.READ, context)
    if found is None:
        return
    _, evidence = found
    fix = _fix(node, evidence, context)
    if _is_number(node, context) and context.value(node.value).rank == 0:
        yield Draft(node.attr, _RAISES, evidence.confidence, (evidence.why,), None, Severity.ERROR)
        return
    message = f"`.data` hides later writes from autograd: {in_the_imperative(fix)}"
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), fix, repeats=_rebound(node, context))


_RAISES = "`.data[0]` raises where there are no dimensions: use `.item()`"


def _rebound(node: cst.Attribute, context: FileContext) -> cst.Name | None:
    """Return the `data` that a statement assigns where it reads the same: `w.data = w.data * 2` is one fault."""
    for above in context.ancestors(node):
        if isinstance(above, cst.Assign):
            for each in above.targets:
                if isinstance(each.target, cst.Attribute) and each.target.deep_equals(node):
                    return each.target.attr
        if isinstance(above, cst.BaseSmallStatement | cst.BaseCompoundStatement | cst.Lambda):
            return None
    return None


RULE = Rule(
    "TNS201",
    "data-read",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "only-read", "not-traced", "author-meant-this"),
    visit={cst.Attribute: check},
)


def _fix(node: cst.Attribute, evidence: Evidence, context: FileContext) -> Fix:
    """Write ``.detach()``, or nothing where the chain detaches already, or there is nothing to detach."""
    title, edits = _detaching(node, context)
    rests_on = detached_owner(node.value, context) or node.value
    fix = Fix(title, edits, (is_tensor_by(evidence, rests_on, context),))
    is_read = context.leaves_trace(node).is_no
    only_read = NOT_WRITTEN_LATER.decided(None if is_read else "", brief(node, context))
    fix = fix.assuming(only_read, not_traced(context))
    if not _is_number(node, context):
        return fix
    doubt = f"`.item()` is, if `{brief(node.value, context)}` has no dimensions"
    return fix.assuming(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))


def _detaching(node: cst.Attribute, context: FileContext) -> tuple[str, tuple[Edit, ...]]:
    """Return what is done about a ``.data``, and the edits."""
    if is_detached_behind(node, context):
        return "Drop `.data` before `.detach()`", (drop_edit(node, context),)
    if is_detaching(node.value, context):
        return "Drop `.data` behind `.detach()`", (drop_edit(node, context),)
    if needs_no_detach(node, context):
        return "Drop `.data` where grad mode is off", (drop_edit(node, context),)
    if carries_no_gradient(node, context):
        return "Drop `.data` of what carries no gradient", (drop_edit(node, context),)
    return "Replace `.data` with `.detach()`", (detach_edit(node, context),)


def _is_number(node: cst.Attribute, context: FileContext) -> bool:
    """Whether ``x.data[0]`` is asked of what may have no dimensions: ``.detach()[0]`` raises on it as well."""
    known = context.value(node.value)
    match context.parent(node):
        case cst.Subscript(value=indexed, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            return indexed is node and not known.rank and not known.has_dimensions
    return False
