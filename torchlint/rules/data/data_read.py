"""`.data` is read to get a detached value.

## What it does
Reports `.data` of a tensor where the value is used and not written at once. [TNS203](data-rebinding.md) covers the
read in `w.data = w.data * 2`.

## Why is this bad?
`.data` gives the tensor's memory without its history, and hides later writes through it: autograd does not count such
a write, and a `backward` that needs the old value computes a wrong gradient without an error. `.detach()` gives the
same value and is tracked, so the same mistake raises.

Just removing `.data` is not a fix: it puts the value back into the graph, which then stays in memory, receives a
gradient, or makes `.numpy()` raise.

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
Legacy: the code works, but hides later writes.

```python
import torch

x = torch.ones(3, requires_grad=True)
y = x.data * 2  # legacy
```

## Fix safety
Safe if the value is only read: used in operations that keep no graph, converted to a number, list, array or text, or
copied. Writes through a NumPy array of the value are hidden with both `.data` and `.detach()`.

Unsafe if something may write through the value later, or a graph may save it: when the value is returned, stored,
passed to another function or object, or multiplied with a tensor that may require grad. A write that passed silently
may then raise, and a silently wrong gradient becomes an error. `no_grad` around a generator or a coroutine does not
prove that no graph saves the value.

Unsafe if the code does not show that the object is a tensor, but only an annotation, a name or a method of an unknown
object says so. A packed sequence has `.data` too, and so may a class of your own.

`.data` is simply removed if the chain detaches anyway, if the value is only read and carries no gradient
(`pred.argmax(1).data.cpu().numpy()`), and if it is written into another tensor with grad mode off.

If `x` may have no dimensions, `x.data[0]` raises with both spellings and needs `.item()`
([TNS204](data-as-scalar.md)); the fix is unsafe and says so.

Unsafe in a project that uses `torch.jit.trace`, `torch.onnx.export` or similar: a trace stores `.data` as a constant,
but follows `.detach()`. In rare cases the two differ: `.detach()` raises on the uninitialized parameters of lazy
modules, where `.data` is an empty tensor; under `torch.vmap`, `.data` raises instead.

## References
- [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
- [PyTorch 0.4 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/): "What about `.data`?"
- Measured on torch 2.13: values, dtype, device, strides, memory and the effect of every in-place method are the same;
  only `.detach()` shares the version counter
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NOT_WRITTEN_LATER, Decision
from torchlint.diagnostics.model import Fix
from torchlint.rules.api import TENSOR_METHODS, Draft, FileContext, Mode, Rule, Triggers
from torchlint.rules.data.data_evidence import Evidence, is_tensor_by, used_tensor
from torchlint.rules.data.data_use import Use, drop_edit
from torchlint.rules.data.detached import carries_no_gradient, is_detached_behind, is_detaching, is_handed_on
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
        message = "`.data` is not needed here: drop it"
    else:
        fix = Fix("Replace `.data` with `.detach()`", (context.replace(node.attr, "detach()"),))
        message = "`.data` is read as a detached value: use `.detach()`"
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
    is_free = carries_no_gradient(node.value, context) or not is_recorded
    return is_free and not is_handed_on(node, context) and context.leaves_trace(node).is_no


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
