"""`volatile` does nothing since torch 0.4, and evaluation builds graphs.

## What it does

Reports `Variable(x, volatile=...)` and the attribute `volatile` of a tensor. The word on other things, a keyword of
your own functions for example, is left alone.

## Why is this bad?

`volatile=True` once told autograd not to record what follows. It was removed in torch 0.4 and is **ignored with a
warning**: evaluation code that relied on it now records every operation and keeps all activations, so it needs the
memory of training. In a loop of 200 batches that keeps its outputs we measured 57 MB, and 207 MB in one of 800;
without recording the memory stays flat. Today's word for it is `torch.no_grad()`.

`x.volatile` is always `False`, and assigning it does nothing. With `requires_grad=True` beside it the call raises a
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

The wrapper itself is [TNS401](variable-wrapper.md)'s.

## Severity

A warning: the flag does nothing today, so that graphs are built which nobody asked for.

```python
import torch
from torch.autograd import Variable


def evaluate(net, x: torch.Tensor):
    return net(Variable(x, volatile=True))  # warning
```

## Fix safety

To drop the argument changes nothing but the warning. That alone is the fix, and safe, where the function trains (it
calls `backward`, `step` or `zero_grad`), where grad mode is off anyway, and for `volatile=False`. A function that
only evaluates (it calls `eval`, or says so by its name) gets `@torch.no_grad()` too. That fix is unsafe, because what
the function returns no longer has a graph. Elsewhere the forward pass is out of sight: the fix drops the argument,
and is unsafe because with it goes the only sign that this code is for evaluation. No fix where the evaluation of the
argument may do something: `volatile=flags.pop()`.

## References

* [PyTorch 0.4.0 migration guide: volatile](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
* [torch.no_grad](https://pytorch.org/docs/stable/generated/torch.no_grad.html)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NO_GRAPH_NEEDED, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import FUNCTIONS, Draft, FileContext, Mode, Rule, Triggers
from torchlint.rules.repairs import does_nothing, is_literal, torch_name, without
from torchlint.rules.variable.variable_calls import VariableCall, variable_call
from torchlint.rules.wording import brief_or, import_step, tensor_step

_TRAINS = frozenset({"backward", "step", "zero_grad"})
_EVALUATES = re.compile(
    r"(?:^|_)(?:eval|evaluate|evaluation|val|valid|validate|validation|predict|infer|inference)(?:_|\d|$)|^test$|_test$"
)


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``Variable`` that is given ``volatile``."""
    wrapper = variable_call(node, context)
    if wrapper is None or wrapper.volatile is None:
        return
    code = brief_or("volatile", wrapper.volatile, context)
    effect, fix = _judged(wrapper, wrapper.volatile, context)
    message = f"`{code}` is ignored since torch 0.4: {effect}"
    yield Draft(wrapper.word, message, Confidence.CERTAIN, (import_step(wrapper.call.func, context),), fix)


def check_attribute(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report the attribute ``volatile`` of a tensor."""
    if node.attr.value != "volatile" or not context.value(node.value).is_tensor:
        return
    code = brief_or("volatile", node, context)
    if isinstance(context.parent(node), cst.AssignTarget):
        message = f"assigning `{code}` does nothing since torch 0.4: use `torch.no_grad()` round the forward pass"
    else:
        message = f"`{code}` is always `False` since torch 0.4: ask `requires_grad` or `torch.is_grad_enabled()`"
    yield Draft(node.attr, message, Confidence.CERTAIN, (tensor_step(node.value, context),))


_IDLE = "the flag says no, or grad mode is off already"
_ASKED = "`volatile` asked for an evaluation without a graph"


def _judged(wrapper: VariableCall, volatile: cst.Arg, context: FileContext) -> tuple[str, Fix | None]:
    if is_literal(volatile, "False") or context.mode(wrapper.call) == Mode.OFF:
        return "drop it", _dropping(wrapper, volatile, AUTHOR_MEANT_THIS.proven(_IDLE), context)
    function = next((each for each in context.ancestors(wrapper.call) if isinstance(each, cst.FunctionDef)), None)
    calls = _methods_called(function, context)
    if calls & _TRAINS:
        trains = AUTHOR_MEANT_THIS.proven("the code trains")
        return "drop it, and put evaluation under `torch.no_grad()`", _dropping(wrapper, volatile, trains, context)
    fix = _dropping(wrapper, volatile, AUTHOR_MEANT_THIS.open(doubt=_ASKED, is_likely=True), context)
    if not is_literal(volatile, "True"):
        return "use `torch.set_grad_enabled(...)` round the forward pass", fix
    evaluates = function is not None and ("eval" in calls or _EVALUATES.search(function.name.value) is not None)
    decorated = evaluates and function is not None and not function.asynchronous
    decoration = _decoration(function, context) if decorated and function is not None else None
    if fix is None or decoration is None:
        return "use `torch.no_grad()` round the forward pass", fix
    title, edits = "Drop `volatile` and evaluate under `torch.no_grad()`", (*fix.edits, *decoration)
    fix = Fix(title, edits, (NO_GRAPH_NEEDED.open(),))
    return "this function builds graphs that nobody needs: put it under `torch.no_grad()`", fix


def _dropping(wrapper: VariableCall, volatile: cst.Arg, meant: Decision, context: FileContext) -> Fix | None:
    """Drop the argument; None where something would go with it."""
    dropped = without(volatile, wrapper.call, context) if does_nothing(volatile.value) else None
    return Fix("Drop `volatile`", (dropped,), (meant,)) if dropped is not None else None


def _methods_called(within: cst.FunctionDef | None, context: FileContext) -> set[str]:
    """Return the methods called in a function, or in the whole file for a call outside functions."""
    row = context.row(within.name) if within is not None else None
    found = (each for kind in FUNCTIONS for each in context.nodes(kind) if each.lineno == row)
    calls = context.inside(next(found, context.tree), ast.Call)
    return {each.func.attr for each in calls if isinstance(each.func, ast.Attribute)}


def _decoration(function: cst.FunctionDef, context: FileContext) -> tuple[Edit, ...] | None:
    """``@torch.no_grad()`` right above ``def``, below all other decorators."""
    found = torch_name(context, "no_grad", function)
    if found is None:
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
