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

Legacy: it works, and hides later writes.

```python
import torch

x = torch.ones(3, requires_grad=True)
y = x.data * 2  # legacy
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

`.data` is only dropped where the chain detaches anyway, where what is only read carries no gradient
(`pred.argmax(1).data.cpu().numpy()`), and where it is written into another tensor with grad mode off.

`x.data[0]` of what may have no dimensions raises in both spellings, and wants `.item()`
([TNS204](data-as-scalar.md)): its fix is unsafe and says so.

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

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NOT_WRITTEN_LATER, Decision
from torchlint.diagnostics.model import Fix
from torchlint.rules.api import TENSOR_METHODS, Draft, FileContext, Mode, Rule, Triggers
from torchlint.rules.data.data_evidence import Evidence, is_tensor_by, used_tensor
from torchlint.rules.data.data_use import Use, drop_edit
from torchlint.rules.data.detached import carries_no_gradient, is_detached_behind, is_detaching
from torchlint.rules.data.no_grad_block import statement_of
from torchlint.rules.obligations import not_traced
from torchlint.rules.wording import brief


def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report `.data` where its value is read."""
    found = used_tensor(node, Use.READ, context)
    if found is None:
        return
    _, evidence = found
    is_detached = is_detached_behind(node, context) or is_detaching(node.value, context)
    if is_detached or _needs_no_detach(node, context):
        fix = Fix("Drop `.data`", (drop_edit(node, context),))
        message = "`.data` is only read here: drop it"
    else:
        fix = Fix("Replace `.data` with `.detach()`", (context.replace(node.attr, "detach()"),))
        message = "`.data` is only read here: `.detach()` gives the same value, and autograd notices later writes"
    fix = fix.assuming(*_assumed(node, evidence, context))
    yield Draft(node.attr, message, evidence.confidence, (evidence.why,), fix, repeats=_rebound(node, context))


def _rebound(node: cst.Attribute, context: FileContext) -> cst.Name | None:
    """Return the `data` that a statement assigns where it reads the same: `w.data = w.data * 2` is one fault."""
    statement = statement_of(node, context)
    match statement.body[0] if statement is not None else None:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)]) if target.deep_equals(node):
            return target.attr
    return None


RULE = Rule(
    "TNS201",
    "data-read",
    Triggers(attributes=("data",)),
    assumes=("is-torch-tensor", "only-read", "not-traced", "author-meant-this"),
    visit={cst.Attribute: check},
)


def _assumed(node: cst.Attribute, evidence: Evidence, context: FileContext) -> Iterator[Decision]:
    yield is_tensor_by(evidence, node.value, context)
    yield NOT_WRITTEN_LATER.decided(None if context.leaves_trace(node).is_no else "", brief(node, context))
    yield not_traced(context)
    if _may_be_number(node, context):
        doubt = f"`.item()` is, if `{brief(node.value, context)}` has no dimensions"
        yield AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True)


def _needs_no_detach(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the tensor of a ``.data`` may stand there itself: it is only read, and no gradient goes from there.

    A gradient may carry one, where it was computed with ``create_graph``.
    """
    if isinstance(node.value, cst.Attribute) and node.value.attr.value == "grad":
        return False
    is_recorded = not _is_given_to_a_write(node, context) or context.mode(node) != Mode.OFF
    return (carries_no_gradient(node.value, context) or not is_recorded) and context.leaves_trace(node).is_no


def _is_given_to_a_write(node: cst.Attribute, context: FileContext) -> bool:
    """Whether a value is written into another tensor, as it is or times something: ``p.add_(g.data * 2)``."""
    above = context.parent(node)
    while isinstance(above, cst.BinaryOperation):
        above = context.parent(above)
    call = context.parent(above) if isinstance(above, cst.Arg) else None
    called = call.func if isinstance(call, cst.Call) else None
    return isinstance(called, cst.Attribute) and called.attr.value.endswith("_") and called.attr.value in TENSOR_METHODS


def _may_be_number(node: cst.Attribute, context: FileContext) -> bool:
    """Whether ``x.data[0]`` is asked of what may have no dimensions: ``.detach()[0]`` raises on it as well."""
    known = context.value(node.value)
    match context.parent(node):
        case cst.Subscript(value=indexed, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            return indexed is node and not known.rank and not known.has_dimensions
    return False
