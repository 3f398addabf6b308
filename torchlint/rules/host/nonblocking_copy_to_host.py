"""A copy to the host with `non_blocking=True` may be read before it is complete.

## What it does
Reports `non_blocking=True` on copies that certainly go to the host: `.to("cpu", ...)` and
`.to(torch.device("cpu"), ...)`. Copies to an accelerator are correct and not reported, and neither are functions that
wait for the copy: they call `synchronize`, or wait for a stream or an event. If a blocking copy (`y.cpu()`) follows in
the function, or the file creates streams or events, the finding is `unproven`, because the order may be right.

## Why is this bad?
Copies to the accelerator are safe: whatever reads the copy there is queued in the same stream. In the other direction
the reader is Python, which does not wait. The call returns at once with memory that is not filled yet, and `.numpy()`,
`print` or `torch.save` see **zeros or stale values**, now and then and without an error. On the CPU the argument has
no effect, so tests on a machine without an accelerator pass.

`.cpu(non_blocking=True)` raises a `TypeError`: that method has no such argument.

## Example
```python
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = torch.ones(1000).to(device)
values = scores.to("cpu", non_blocking=True).numpy()
```

Use instead:

```python
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
scores = torch.ones(1000).to(device)
values = scores.to("cpu").numpy()
```

If the copy is meant to overlap with other work, keep the argument and call `torch.cuda.synchronize()`, or wait for an
event, before you first read it.

## Severity
A warning: whether the copy is complete when it is read depends on how fast the GPU is.

```python
import torch


def read(x: torch.Tensor):
    return x.cuda().to("cpu", non_blocking=True).sum()  # warning
```

## Fix safety
Unsafe. The copy has the correct values and is complete when the call returns, but work that was meant to overlap with
it now waits. A class of your own may have a `to` or `cpu` that uses the argument differently. With the argument, the
result of `.to("cpu")` is in pinned memory; without it, in ordinary memory.

## References
* [A guide on good usage of `non_blocking` and `pin_memory()`](https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
* [torch.Tensor.to](https://pytorch.org/docs/stable/generated/torch.Tensor.to.html)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import MAY_WAIT, NO_OWN_METHOD, Decision
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    Device,
    Draft,
    FileContext,
    FlowSpecification,
    Kind,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.host.host_conversions import is_host
from torchlint.rules.repairs import is_literal, without
from torchlint.rules.wording import brief, tensor_step

_READS: Final = frozenset({"numpy", "item", "tolist", "__array__"})
_READ: Final = FlowSpecification(sinks=(NodePattern(methods=_READS, at=RECEIVES),))
_WAITS: Final = re.compile(r"\.(synchronize|wait|wait_stream|wait_event)\(")
_WAITING_COPY: Final = re.compile(r"\.(cpu|item|tolist)\(\)|\.to\((?![^()]*non_blocking=True)[^()]*cpu[^()]*\)")
_ORDERING: Final = re.compile(rb"\.(Event|Stream|record_event|synchronize|wait_stream|wait_event)\(")
_STREAMS: Final = re.compile(rb"\.(stream|record|current_stream)\(")


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call with ``non_blocking=True`` that copies to the host."""
    flag = next((each for each in node.args if each.keyword and each.keyword.value == "non_blocking"), None)
    if flag is None or not is_literal(flag, "True") or not isinstance(node.func, cst.Attribute):
        return
    if not context.is_parsed or not _copies_to_the_host(node, node.func, context):
        return
    copied = node.func.value
    value = context.value(copied)
    is_known = value.must(Kind.TENSOR | Kind.MODULE)
    is_on_host = value.device == Device.HOST and value.may(Kind.TENSOR)
    if is_on_host or not value.may(Kind.TENSOR | Kind.MODULE | Kind.OTHER):
        return
    around = next((each for each in context.ancestors(node) if isinstance(each, cst.FunctionDef)), context.module)
    if not (is_known or context.works_with_torch) or _WAITS.search(context.code(around)):
        return
    receiver, edit = brief(copied, context), without(flag, node, context)
    message = "the host may read this copy before it has ended and see zeros: drop `non_blocking=True`, or synchronize"
    decided: tuple[Decision, ...] = (
        MAY_WAIT.open(),
        NO_OWN_METHOD.decided(None if value.is_tensor else "", receiver),
    )
    why = context.why(value.why_device) or (f"nothing shows that `{receiver}` is on the host",)
    sure = _confidence(node, around, context)
    if node.func.attr.value == "cpu":
        message = "`.cpu()` has no argument `non_blocking` and raises `TypeError`: drop it"
        decided = (NO_OWN_METHOD.open(receiver, "a class of your own may have a `cpu` that takes the argument"),)
        why = (tensor_step(copied, context),)
        sure = Confidence.CERTAIN if is_known else Confidence.POSSIBLE
    fix = Fix("Drop `non_blocking=True`", (edit,), decided) if edit else None
    yield Draft(flag.keyword or flag, message, sure, why, fix)


def _copies_to_the_host(node: cst.Call, method: cst.Attribute, context: FileContext) -> bool:
    """Whether a call copies to the host beyond doubt; ``_to`` is what holders of tensors build their own on."""
    named = [each for each in node.args if each.keyword is not None and each.keyword.value == "device"]
    places = named or [each for each in node.args[:1] if each.keyword is None and not each.star]
    is_told = method.attr.value in ("to", "_to") and any(is_host(each, context) for each in places)
    return is_told or method.attr.value == "cpu"


def _confidence(node: cst.Call, around: cst.CSTNode, context: FileContext) -> Confidence:
    """Judge by who reads the copy: the chain it stands in, this function, or nobody in sight."""
    above, source = context.parent(node), cst.ensure_type(node.func, cst.Attribute).value
    used = above.attr.value if isinstance(above, cst.Attribute) else ""
    if used in _READS and context.value(source).device & Device.ACCELERATOR:
        return Confidence.CERTAIN
    if context.matches(_ORDERING):  # whoever makes streams or events has an order in mind
        return Confidence.UNPROVEN
    end = context.span(around)[1] if isinstance(around, cst.FunctionDef) else len(context.source.utf8)
    behind = context.source.slice(context.span(node)[1], end)
    if not used and _WAITING_COPY.search(behind):  # copies of one stream end in their order
        return Confidence.UNPROVEN
    if context.matches(_STREAMS):
        return Confidence.POSSIBLE
    return Confidence.LIKELY if used or context.paths_from(_READ, node) else Confidence.POSSIBLE


RULE = Rule(
    "TNS108",
    "nonblocking-copy-to-host",
    Triggers(names=("non_blocking",)),
    assumes=("no-own-method", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
