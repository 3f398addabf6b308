"""`volatile` has been ignored since torch 0.4, so evaluation builds graphs.

## What it does
Reports `Variable(x, volatile=...)` and the attribute `volatile` of a tensor. Other uses of the name, such as a keyword
of your own functions, are not reported.

## Why is this bad?
`volatile=True` told autograd not to record the operations that follow. It was removed in torch 0.4 and is **ignored
with a warning**: evaluation code that relied on it now records every operation and keeps all activations, so it needs
as much memory as training. In a loop of 200 batches that keeps its outputs we measured 57 MB, and with 800 batches 207
MB; without recording, memory stays constant. The replacement is `torch.no_grad()`.

`x.volatile` is always `False`, and assigning it does nothing. Together with `requires_grad=True`, the call raises a
`ValueError`.

## Example
```python
import torch
from torch.autograd import Variable


def evaluate(model, batch):
    model.eval()
    inputs = Variable(batch, volatile=True)
    return model(inputs)


evaluate(torch.nn.Linear(2, 1), torch.ones(3, 2))
```

Use instead:

```python
import torch
from torch.autograd import Variable


@torch.no_grad()
def evaluate(model, batch):
    model.eval()
    inputs = Variable(batch)
    return model(inputs)


evaluate(torch.nn.Linear(2, 1), torch.ones(3, 2))
```

[TNS401](variable-wrapper.md) covers the wrapper itself.

## Severity
A warning: the flag is ignored, so graphs are built that nobody needs.

```python
import torch
from torch.autograd import Variable


def evaluate(net, x: torch.Tensor):
    return net(Variable(x, volatile=True))  # warning
```

## Fix safety
Dropping the argument removes only the warning. The fix does just that, and is safe, if the function trains (it calls
`backward`, `step` or `zero_grad`), if grad mode is off anyway, and for `volatile=False`.

If the function calls `eval`, or passes the tensor directly to a call, and does not train, the fix also adds
`@torch.no_grad()`. That is unsafe, because the function's result no longer has a graph.

Otherwise the forward pass is not in sight: the fix drops the argument, and is unsafe because the argument was the only
sign that the code is for evaluation. No fix if evaluating the argument may have an effect: `volatile=flags.pop()`.

## References
* [PyTorch 0.4.0 migration guide: volatile](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
* [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NO_GRAPH_NEEDED
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Mode, Rule, Triggers
from torchlint.rules.repairs import does_nothing, is_literal, torch_name, without
from torchlint.rules.variable.variable_calls import variable_call
from torchlint.rules.wording import brief_or, import_step, tensor_step

_TRAINS = frozenset({"backward", "step", "zero_grad"})
_ADVICE = "drop it, and evaluate under `torch.no_grad()`"
_ASKED = "`volatile` asked for an evaluation without a graph"


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``Variable`` that is given ``volatile``."""
    wrapper = variable_call(node, context)
    if wrapper is None or (volatile := wrapper.volatile) is None:
        return
    calls, is_asked = _methods_called(node, context), is_literal(volatile, "True")
    if is_literal(volatile, "False") or context.mode(node) == Mode.OFF:
        meant, advice = AUTHOR_MEANT_THIS.proven("the flag says no, or grad mode is off already"), "drop it"
    else:
        meant, advice = AUTHOR_MEANT_THIS.open(doubt=_ASKED, is_likely=True), _ADVICE
    if calls & _TRAINS:
        meant = AUTHOR_MEANT_THIS.proven("the code trains")
    dropped = without(volatile, node, context) if does_nothing(volatile.value) else None
    fix = Fix("Drop `volatile`", (dropped,), (meant,)) if dropped is not None else None
    has_forward_pass = "eval" in calls or isinstance(context.parent(node), cst.Arg)
    decoration = _decoration(node, context) if is_asked and has_forward_pass and not meant.is_proven else None
    if dropped is not None and decoration is not None:
        title = "Drop `volatile` and evaluate under `torch.no_grad()`"
        fix = Fix(title, (dropped, *decoration), (NO_GRAPH_NEEDED.open(),))
    message = f"`{brief_or('volatile', volatile, context)}` is ignored since torch 0.4: {advice}"
    yield Draft(wrapper.word, message, Confidence.CERTAIN, (import_step(node.func, context),), fix)


def check_attribute(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report the attribute ``volatile`` of a tensor."""
    if node.attr.value == "volatile" and context.value(node.value).is_tensor:
        message = f"`{brief_or('volatile', node, context)}` means nothing since torch 0.4: use `torch.no_grad()`"
        yield Draft(node.attr, message, Confidence.CERTAIN, (tensor_step(node.value, context),))


def _methods_called(call: cst.Call, context: FileContext) -> set[str]:
    """Return the methods called in the function around a call, or in the whole file for one outside functions."""
    place = context.python(call)
    function = context.function_around(place) if place is not None else None
    calls = context.inside(function or context.tree, ast.Call)
    return {each.func.attr for each in calls if isinstance(each.func, ast.Attribute)}


def _decoration(call: cst.Call, context: FileContext) -> tuple[Edit, ...] | None:
    """``@torch.no_grad()`` right above ``def``, below all other decorators; a coroutine runs beside others."""
    function = next((each for each in context.ancestors(call) if isinstance(each, cst.FunctionDef)), None)
    if function is None or function.asynchronous or (found := torch_name(context, "no_grad", function)) is None:
        return None
    spelled, imports = found
    start = context.span(function)[0]
    row = context.source.position(start)[0]
    indent = context.source.slice(context.source.line_starts[row - 1], start)
    return (Edit(start, start, f"@{spelled}()\n{indent}"), *imports)


RULE = Rule(
    "TNS402",
    "variable-volatile",
    Triggers(names=("volatile", "Variable")),
    assumes=("no-gradient-wanted", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check_call, cst.Attribute: check_attribute},
)
