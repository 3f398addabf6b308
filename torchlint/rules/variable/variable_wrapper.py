"""`Variable(x)` is a detached alias of `x` today, not a wrapper.

## What it does
Reports calls of `torch.autograd.Variable`, under every import and alias, and replaces them with their meaning in
current torch. `tf.Variable`, `sympy.Variable` and your own classes are not reported. [TNS402](variable-volatile.md)
covers calls with `volatile`.

## Why is this bad?
Before torch 0.4, a tensor had to be wrapped for autograd. Tensors no longer need it, and `Variable(x)` is left with one
effect that few expect: it returns a **new tensor that shares `x`'s memory and is detached from its graph**. If `x` is
a network's output or a parameter, no gradient passes, without any error.

| code | what it does (measured on torch 2.13) |
|---|---|
| `Variable(x)`, `Variable(x, requires_grad=False)` | `x.detach()`, also for a parameter |
| `Variable(x, requires_grad=True)` | `x.detach().requires_grad_(True)`: the gradient does not reach `x` |
| `Variable([1.0])`, `Variable(array)` | `TypeError: Variable data has to be a tensor` |

## Example
```python
import torch
from torch.autograd import Variable

noise = Variable(torch.randn(4, 8))
weight = Variable(torch.zeros(8, 2), requires_grad=True)


def score(features):
    return (Variable(torch.relu(features)) @ weight).sum()


score(noise).backward()
```

Use instead:

```python
import torch

noise = torch.randn(4, 8)
weight = torch.zeros(8, 2).requires_grad_(True)


def score(features):
    return (torch.relu(features).detach() @ weight).sum()


score(noise).backward()
```

If the gradient is meant to pass through `features`, remove the `.detach()` too. That changes what is learned, so no
fix does it for you.

## Severity
Legacy: the call only detaches. An error if the argument is something that `Variable` rejects, such as a number.

```python
import torch
from torch.autograd import Variable

x = Variable(torch.ones(3))  # legacy


def scaled(y: torch.Tensor):
    return Variable(2.0) * y  # error
```

## Fix safety
Safe: `.detach()` is what `Variable` does. The fix writes the bare `x` only if `x` is proven not to require grad and
nobody can tell the two objects apart: it was created in the same expression, from sizes and data only. A tensor in a
name, container or attribute may have been changed to require grad in the meantime: `Variable(torch.cat(ts))` becomes
`torch.cat(ts).detach()`.

Nothing is detached twice: `Variable(x).detach()` becomes `x.detach()`, and `Variable(x.data)` becomes `x.data`. The
latter is unsafe if the code does not show that `x` is a tensor, because the `.data` of a packed sequence has a graph.

Unsafe if the flag may not be a `bool`: `requires_grad=1` works, but `requires_grad_(1)` is a `TypeError`. Unsafe if
the argument may be `None`: `Variable(None)` is an empty tensor, and `None` has no `detach`. A function's argument is
known only from the calls in sight; an annotation alone is not enough. Unsafe inside `try`, if the value may not be a
tensor.

Unsafe in functions of a project that records traces, if the fix writes `.detach()`: a trace lets gradients pass
`Variable(x)`.

No fix if there is a comment inside the parentheses of the call, or for `name=`.

`Variable` makes a plain tensor from an object of a subclass; `.detach()` keeps the class. If a file in the project
defines a subclass of `Tensor`, calls `as_subclass`, or imports a library that returns such objects (MONAI, fastai 2,
torchvision's `tv_tensors` and `transforms.v2`, geoopt and others), the fix is safe only for tensors that torch creates
in the same expression.

## References
* [torch.autograd: Variable (deprecated)](https://pytorch.org/docs/stable/autograd.html#variable-deprecated)
* [PyTorch 0.4.0 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import FLAG_IS_BOOL, NO_GRADIENT_CARRIED
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.constructors.legacy_types import kept_below
from torchlint.rules.data.detached import is_detached, is_detached_behind, is_detaching, is_new
from torchlint.rules.obligations import (
    detach_not_traced,
    error_not_expected,
    is_tensor_if_taken,
    of_no_subclass,
)
from torchlint.rules.repairs import is_literal
from torchlint.rules.variable.variable_calls import VariableCall, unwrap, variable_call
from torchlint.rules.wording import brief, brief_or, import_step

_REFUSED = Kind.ARRAY | Kind.SEQUENCE | Kind.SIZE | Kind.INTEGER | Kind.SCALAR | Kind.STRING
_NEVER = {Kind.ARRAY: "a NumPy array", Kind.SEQUENCE: "a sequence", Kind.INTEGER: "a number", Kind.SCALAR: "a number"}


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``Variable``."""
    wrapper = variable_call(node, context)
    if wrapper is None or wrapper.volatile is not None:
        return
    code, severity, fix = brief_or("Variable(...)", node, context), Severity.LEGACY, None
    if wrapper.data is None or not wrapper.plain:
        message = f"`{code}` is a detached alias since torch 0.4: use tensors directly"
    elif (value := context.value(wrapper.data.value)).must(_REFUSED):
        what = next((word for kind, word in _NEVER.items() if value.may(kind)), "something else")
        message = f"`{code}` raises `TypeError`: `Variable` takes a tensor, and this is {what}"
        severity = Severity.ERROR
    else:
        message, fix = _unwrapped(wrapper, wrapper.data, code, context)
    yield Draft(wrapper.word, message, Confidence.CERTAIN, (import_step(node.func, context),), fix, severity)


def _unwrapped(wrapper: VariableCall, data: cst.Arg, code: str, context: FileContext) -> tuple[str, Fix | None]:
    """Say what a call means today, and write that; nothing is detached twice."""
    flag = None if is_literal(wrapper.requires_grad, "False") else wrapper.requires_grad
    title, behind = "Use the tensor without `Variable`", ""
    if is_detached_behind(wrapper.call, context, with_data=True):
        message = f"`{code}` is detached right after: use the tensor itself"
        if flag is not None and not is_literal(flag, "True"):
            return message, None
        flag, assumed = None, []
    elif is_detaching(data.value, context) or is_new(data.value, context) or _is_wrapped(data.value, context):
        message = f"`{code}` does nothing since torch 0.4: use the tensor itself"
        assumed = [
            NO_GRADIENT_CARRIED.decided(None if is_detached(data.value, context) else "", brief(data.value, context))
        ]
    else:
        message = f"`{code}` is just `.detach()` since torch 0.4: write that, or keep the graph"
        title, behind = "Replace `Variable(x)` by `x.detach()`", ".detach()"
        assumed = [detach_not_traced(wrapper.call, context)]
    if flag is not None:
        written = context.code_with_parentheses(flag.value)
        behind += f".requires_grad_({written})"
        shown = behind if len(behind) < 50 and "\n" not in behind else ".requires_grad_(...)"
        message = f"`{code}` makes a new leaf, cut off from its tensor: write `{shown}`"
        title = f"Replace `Variable` by `{shown}`"
        assumed.append(FLAG_IS_BOOL.decided(None if _is_bool(flag, context) else "", written))
    edits = unwrap(wrapper.call, data, behind, context)
    if edits is None:
        return message, None
    if not context.value(data.value).is_tensor:
        assumed.append(error_not_expected(data, context))
    assumed += is_tensor_if_taken(data.value, context), of_no_subclass(data.value, context)
    return message, Fix(title, edits, (*assumed, *kept_below(wrapper.call.func, context)))


def _is_wrapped(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an argument is a call of ``Variable`` itself, which is detached in its turn."""
    return isinstance(node, cst.Call) and variable_call(node, context) is not None


def _is_bool(flag: cst.Arg, context: FileContext) -> bool:
    if isinstance(flag.value, cst.UnaryOperation) and isinstance(flag.value.operator, cst.Not):
        return True
    known = context.value(flag.value)
    return isinstance(known.const, bool) and not known.claimed


RULE = Rule(
    "TNS401",
    "variable-wrapper",
    Triggers(names=("Variable",)),
    assumes=("is-torch-tensor", "carries-no-gradient", "not-traced", "error-not-expected", "author-meant-this"),
    visit={cst.Call: check},
)
