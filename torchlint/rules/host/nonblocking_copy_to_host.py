"""A copy to the host with `non_blocking=True` may be read before it has ended.

## What it does

Reports `non_blocking=True` on copies whose destination is the host beyond doubt: `.to("cpu", ...)`,
`.to(torch.device("cpu"), ...)`, and `copy_` into a tensor on the host. Copies to an accelerator are right and left
alone, and so is a function that waits for the copy: one that calls `synchronize`, or waits for a stream or an event.
Where a copy that waits follows in the same block, `y.cpu()`, and nothing reads this one before, the finding is
`unproven`: that one begins when this one has ended.

## Why is this bad?

To the accelerator the argument is safe: whatever reads the copy there waits its turn in the same stream. In the other
direction the reader is Python, which waits for nothing: the call returns at once with memory that is not yet filled,
and `.numpy()`, `print` or `torch.save` see **zeros or stale values**, now and then and without an error. On the CPU
the argument does nothing, so tests on a machine without accelerator pass.

`.cpu(non_blocking=True)` is a `TypeError`: that method has no such argument.

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

Where the copy is meant to overlap with work, keep the argument and call `torch.cuda.synchronize()`, or wait for an
event, before the first read.

## Severity

A warning: whether the copy is done when it is read depends on how fast the GPU is.

```python
import torch


def read(x: torch.Tensor):
    return x.cuda().to("cpu", non_blocking=True).sum()  # warning
```

## Fix safety

Unsafe. The copy gives what it should have given, and it has ended when the call returns: where the copy was meant to
overlap with work, that work now waits for it. A class of your own may have a `to` or a `cpu` that makes another use of
the argument. With the argument the result of `.to("cpu")` lies in pinned memory, without it in ordinary memory.

## References

* [A guide on good usage of `non_blocking` and `pin_memory()`](https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html)
* [torch.Tensor.to](https://pytorch.org/docs/stable/generated/torch.Tensor.to.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import MAY_WAIT, NO_OWN_METHOD, Decision
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import FUNCTIONS, Device, Draft, FileContext, Kind, Rule, Triggers, Value, block_with
from torchlint.rules.host.host_conversions import is_host
from torchlint.rules.repairs import is_literal, without
from torchlint.rules.wording import brief, tensor_step

_WAITS = frozenset({"synchronize", "wait", "wait_stream", "wait_event"})
_STREAMS = frozenset({"stream", "record", "current_stream"})
_ORDERING = frozenset({"Event", "Stream", "record_event", "synchronize", "wait_stream", "wait_event"})
_READS = frozenset({"numpy", "item", "tolist", "__array__"})


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call with ``non_blocking=True`` that copies to the host."""
    flag = next((each for each in node.args if each.keyword and each.keyword.value == "non_blocking"), None)
    if flag is None or not is_literal(flag, "True") or not isinstance(node.func, cst.Attribute):
        return
    source = _copied(node, node.func, context)
    if source is None:
        return
    value = context.value(source)
    if (value.device == Device.HOST and value.may(Kind.TENSOR)) or not value.may(
        Kind.TENSOR | Kind.MODULE | Kind.OTHER
    ):
        return
    if not value.must(Kind.TENSOR | Kind.MODULE) and not context.works_with_torch:
        return
    if _calls(node, _WAITS, context, whole_file=False):
        return
    yield Draft(flag.keyword or flag, *_judged(node, node.func, flag, source, context))


def _copied(node: cst.Call, method: cst.Attribute, context: FileContext) -> cst.BaseExpression | None:
    """Return what a call copies to the host; None where it copies elsewhere or where that is not known."""
    match method.attr.value:
        case "to" | "_to":  # the second is what holders of tensors build their own `to` and `cpu` on
            return method.value if any(is_host(each, context) for each in _destination(node)) else None
        case "cpu":
            return method.value
        case "copy_":
            target = context.value(method.value)
            if target.is_tensor and target.device == Device.HOST and node.args and not node.args[0].keyword:
                return node.args[0].value
    return None


def _destination(node: cst.Call) -> Iterator[cst.Arg]:
    for at, argument in enumerate(node.args):
        if not argument.star and (argument.keyword.value == "device" if argument.keyword else at == 0):
            yield argument


def _judged(
    node: cst.Call, method: cst.Attribute, flag: cst.Arg, source: cst.BaseExpression, context: FileContext
) -> tuple[str, Confidence, tuple[str, ...], Fix | None]:
    value = context.value(source)
    receiver = value if method.attr.value != "copy_" else context.value(method.value)
    known = receiver.must(Kind.TENSOR | Kind.MODULE)
    edit = without(flag, node, context)
    fix = Fix("Drop `non_blocking=True`", (edit,), _assumed(method, context)) if edit else None
    if method.attr.value == "cpu":
        sure = Confidence.CERTAIN if known else Confidence.POSSIBLE
        step = tensor_step(method.value, context)
        return "`.cpu()` has no argument `non_blocking` and raises `TypeError`: drop it", sure, (step,), fix
    message = "the host may read this copy before it has ended and see zeros: drop `non_blocking=True`, or synchronize"
    placed = context.why(value.why_device)
    why = placed or (f"nothing shows that `{brief(source, context)}` is on the host",)
    return message, _confidence(node, value, context), why, fix


def _assumed(method: cst.Attribute, context: FileContext) -> tuple[Decision, ...]:
    """Return what the fix rests on: neither is ever proven."""
    receiver = brief(method.value, context)
    if method.attr.value == "cpu":
        return (NO_OWN_METHOD.open(receiver, "a class of your own may have a `cpu` that takes the argument"),)
    return (MAY_WAIT.open(), NO_OWN_METHOD.decided(None if context.value(method.value).is_tensor else "", receiver))


def _confidence(node: cst.Call, value: Value, context: FileContext) -> Confidence:
    """Judge by who reads the copy: the chain it stands in, this function, or nobody in sight."""
    above = context.parent(node)
    if isinstance(above, cst.Attribute) and above.attr.value in _READS and value.device & Device.ACCELERATOR:
        return Confidence.CERTAIN
    if _calls(node, _ORDERING, context, whole_file=True):  # whoever makes streams or events has an order in mind
        return Confidence.UNPROVEN
    if _is_waited_for(node, context):
        return Confidence.UNPROVEN
    if _calls(node, _STREAMS, context, whole_file=True):
        return Confidence.POSSIBLE
    if isinstance(above, cst.Attribute):
        return Confidence.LIKELY
    return Confidence.LIKELY if _read_by_name(node, context) else Confidence.POSSIBLE


def _is_waited_for(node: cst.Call, context: FileContext) -> bool:
    """Whether a copy gets a name and one that does wait follows in the same block before anything reads the name.

    Copies of one stream end in their order: the second one returns when both have ended.
    """
    found = context.python(node)
    above = context.parent(found) if found is not None else None
    while isinstance(above, ast.IfExp):
        above = context.parent(above)
    match above:
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
        case _:
            return False
    for statement in _behind(above, context):
        inside = context.inside(statement, ast.Name)
        names = [each for each in inside if each.id == name and isinstance(each.ctx, ast.Load)]
        reads = [each for each in names if not isinstance(context.parent(each), ast.Call | ast.Tuple | ast.List)]
        calls = (each for each in context.inside(statement, ast.Call) if _waits(each, context))
        if (waiting := next(calls, None)) is not None:  # what is only handed over beside it is read behind it
            return all(context.span(each) > context.span(waiting) for each in reads)
        if names:
            return False
    return False


def _behind(statement: ast.stmt, context: FileContext) -> list[ast.stmt]:
    """Return the statements that follow one in its block; what they define runs at another time."""
    block = block_with(statement, context.parent(statement))
    later = block[block.index(statement) + 1 :] if block else []
    return [each for each in later if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _waits(call: ast.Call, context: FileContext) -> bool:
    """Whether a call copies something to the host, and returns once it is there."""
    match call:
        case ast.Call(func=ast.Attribute(value=source, attr="cpu"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=source, attr="to"), args=[place, *_], keywords=keywords):
            blocks = all(not isinstance(each.value, ast.Constant) or not each.value.value for each in keywords)
            if not blocks or context.value(place).device != Device.HOST:
                return False
        case ast.Call(func=ast.Attribute(value=source, attr="item" | "tolist"), args=[]):
            return context.value(source).is_tensor and context.value(source).device != Device.HOST
        case _:
            return False
    return context.value(source).may(Kind.TENSOR) and context.value(source).device != Device.HOST


def _read_by_name(node: cst.Call, context: FileContext) -> bool:
    """Whether the copy gets a name in its function and the host reads it there: ``y.numpy()``, ``y.item()``."""
    found = context.python(node)
    assignment = context.parent(found) if found else None
    match assignment:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(_reads(each, name) for each in ast.walk(_around(node, context)))
    return False


def _reads(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=found), attr=word):
            return found == name and word in _READS
    return False


def _around(node: cst.Call, context: FileContext) -> ast.AST:
    """Return the function that a call stands in, or else the file."""
    found = context.python(node)
    above = context.ancestors(found) if found else iter(())
    functions = (each for each in above if isinstance(each, FUNCTIONS))
    return next(functions, context.tree)


def _calls(node: cst.Call, words: frozenset[str], context: FileContext, whole_file: bool) -> bool:
    """Whether methods of these names are called in the function around a call, or anywhere in the file."""
    if not context.is_parsed:
        return True
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in words
        for each in ast.walk(context.tree if whole_file else _around(node, context))
    )


RULE = Rule(
    "TNS108",
    "nonblocking-copy-to-host",
    Triggers(names=("non_blocking",)),
    assumes=("no-own-method", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
