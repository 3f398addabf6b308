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
text, or is copied. What is written through a NumPy array of the value is hidden in both spellings. A graph that ends
with its statement saves nothing: that of `w.data.copy_(rate * v.data)`, whatever `rate` is.

Unsafe where something may be written through the value later, or where a graph may save it: when the value is
returned, stored, given to another function, or multiplied with a tensor that may require grad. Then a write that
passed silently may raise, and a gradient that was silently wrong becomes an error. So it is where an object of the
project's own class may keep the value (`meter += h.data`, `h.data in seen`), or a list or a dict does; where the value
is an index of a store into what may require grad; and where a function of NumPy is not known to only read. A `no_grad`
block around a generator or a coroutine does not tell that no graph saves the value: who goes on with it may have turned
grad mode on.

Unsafe as well where the code does not show that the object is a tensor: where only an annotation, a name or a method of
an unknown object says so. A packed sequence has `.data` too, and so may a class of your own.

A copy that nobody else holds may be written: `x.clone().data` becomes `x.detach().clone()`, where `x` is shown to be a
tensor.

Where the chain detaches anyway, `.data` is only dropped, and so it is where grad mode is off and an in-place method is
given the value (`w.copy_(v.data)`), in the block that the repair of a write makes as well. So it is where the value is
compared (`pred == y.data`), which records no graph, and where what carries no gradient becomes an array or Python
numbers (`pred.argmax(1).data.cpu().numpy()`). `x.data[0]` of what may have no dimensions raises in both spellings, and
wants `.item()` ([TNS204](data-as-scalar.md)): its fix is unsafe and says so.

Unsafe in a project that speaks of `torch.jit.trace`, `torch.onnx.export` and the like: a trace keeps what `.data` gives
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

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NOT_WRITTEN_LATER, Decision
from torchlint.diagnostics.model import Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.data.bare_operands import needs_no_detach, records_nothing
from torchlint.rules.data.data_evidence import Evidence, is_tensor_by, tensor_evidence
from torchlint.rules.data.data_use import (
    Use,
    copy_source,
    data_use,
    detach_edit,
    detached_owner,
    drop_edit,
    is_detached_behind,
    is_detaching,
)
from torchlint.rules.obligations import has_no_dimension, is_tensor, not_traced
from torchlint.rules.wording import brief


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report `.data` where its value is read."""
    if node.attr.value != "data":
        return
    use = data_use(node, context)
    if use is None or use.use is not Use.READ:
        return
    evidence = tensor_evidence(node, context)
    if evidence is None:
        return
    fix = _fix(node, evidence, context)
    only_drops = fix is not None and not any(each.text for each in fix.edits)
    remedy = "drop it" if only_drops else "use `.detach()`"
    message = f"`.data` hides later writes from autograd, so gradients may be silently wrong: {remedy}"
    severity = _severity(node, context)
    repeats = _rebound(node, context) if severity is Severity.LEGACY else None
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), fix, severity, repeats)


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


def _severity(node: cst.Attribute, context: FileContext) -> Severity:
    """Return what happens: ``.data[0]`` raises without dimensions, what is only read is what ``.detach()`` gives."""
    return Severity.ERROR if _raises(node, context) else Severity.LEGACY


RULE = Rule(
    "TNS201",
    "data-read",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "only-read", "not-traced", "author-meant-this"),
    visit={cst.Attribute: check},
)


def _fix(node: cst.Attribute, evidence: Evidence, context: FileContext) -> Fix | None:
    """Write ``.detach()``, or nothing where the chain detaches already; none where the line can only raise."""
    number = _is_number(node, context)
    if _raises(node, context):
        return None
    title, edits = _detaching(node, context)
    rests_on = detached_owner(node.value, context) or node.value
    fix = Fix(title, edits, (is_tensor_by(evidence, rests_on, context),))
    fix = fix.assuming(_not_written_later(node, context), not_traced(context))
    if not number:
        return fix
    doubt = f"`.item()` is, if `{brief(node.value, context)}` has no dimensions"
    return fix.assuming(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))


def _detaching(node: cst.Attribute, context: FileContext) -> tuple[str, tuple[Edit, ...]]:
    """Return what is done about a ``.data``, and the edits: ``x.clone().data`` is detached before it is copied."""
    if is_detached_behind(node, context):
        return "Drop `.data` before `.detach()`", (drop_edit(node, context),)
    if is_detaching(node.value, context):
        return "Drop `.data` behind `.detach()`", (drop_edit(node, context),)
    if needs_no_detach(node, context):
        return "Drop `.data` where grad mode is off", (drop_edit(node, context),)
    if records_nothing(node, context):
        return "Drop `.data` where no graph is recorded", (drop_edit(node, context),)
    source = copy_source(node)
    if source is not None and is_tensor(source, context).is_proven:
        return "Detach before the copy", (context.insert_after(source, ".detach()"), drop_edit(node, context))
    return "Replace `.data` with `.detach()`", (detach_edit(node, context),)


def _not_written_later(node: cst.Attribute, context: FileContext) -> Decision:
    """Decide whether nothing that somebody else may see is written through the value later."""
    source = copy_source(node)
    if source is not None and is_tensor(source, context).is_proven:
        return NOT_WRITTEN_LATER.proven("it is a copy that nobody else holds")
    return NOT_WRITTEN_LATER.decided(None if context.leaves_trace(node).is_no else "", brief(node, context))


def _raises(node: cst.Attribute, context: FileContext) -> bool:
    """Whether ``x.data[0]`` is asked of what has no dimensions."""
    place = context.python(node)
    if not _is_number(node, context) or not isinstance(place, ast.Attribute):
        return False
    return context.value(node.value).rank == 0 or has_no_dimension(place.value, context)


def _is_number(node: cst.Attribute, context: FileContext) -> bool:
    """Whether ``x.data[0]`` is asked of what may have no dimensions: ``.detach()[0]`` raises on it as well."""
    match context.parent(node):
        case cst.Subscript(
            value=indexed, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]
        ) if indexed is node:
            place, rank = context.python(node.value), context.value(node.value).rank
            return not rank and not (isinstance(place, ast.expr) and context.value(place).has_dimensions)
    return False
