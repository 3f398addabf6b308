"""`Variable(x)` is a detached alias of `x` today, not a wrapper.

## What it does

Reports calls of `torch.autograd.Variable`, under every import and alias, and writes what they mean on today's torch.
`tf.Variable`, `sympy.Variable` and classes of your own are left alone. A call with `volatile` is
[TNS402](variable-volatile.md)'s.

## Why is this bad?

Until torch 0.4 a tensor had to be wrapped before autograd saw it. Since then tensors do all that themselves, and
`Variable(x)` has kept one effect that few expect: it returns a **new tensor that shares `x`'s memory and is cut off
from its graph**. Where `x` is a network's output or a parameter, no gradient passes, and nothing says so.

| written | what it does (measured on torch 2.13) |
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

Where the gradient was meant to pass through `features`, drop the `.detach()` as well: that changes what is learned,
so no fix does it for you.

## Severity

Legacy: it does nothing. An error where it is given what it refuses, such as a number.

```python
import torch
from torch.autograd import Variable

x = Variable(torch.ones(3))  # legacy


def scaled(y: torch.Tensor):
    return Variable(2.0) * y  # error
```

## Fix safety

Safe. `.detach()` is what `Variable` does. The bare `x` is written only where `x` is proven not to require grad and
nobody can tell the two objects apart: it was made on the spot, of sizes and data alone. What a name, a container or an
attribute holds may have been written with a live value meanwhile: `Variable(torch.cat(ts))` becomes
`torch.cat(ts).detach()`.

Nothing is detached twice: `Variable(x).detach()` becomes `x.detach()`, and `Variable(x.data)` becomes `x.data`. The
latter is unsafe where the code does not show that `x` is a tensor: the `.data` of a packed sequence has a graph.

A flag that may be no `bool` (`requires_grad=1` works, `requires_grad_(1)` is a `TypeError`) makes the fix unsafe, and
so does an argument that may be `None`: `Variable(None)` is an empty tensor, and `None` has no `detach`. Of an argument
of a function nothing is known but what all of its calls in sight hand over; an annotation alone shows nothing. A
`try` around what may be no tensor makes the fix unsafe, too.

In a function of a project that records traces the fix is unsafe where it writes `.detach()`: a trace lets gradients
pass `Variable(x)`.

No fix where a comment would be lost, and for `name=`.

`Variable` makes a plain tensor of an object of a subclass, and `.detach()` keeps the class. Where a file of the project
has a class below `Tensor`, calls `as_subclass`, or imports a library that hands out such objects (MONAI, fastai 2,
torchvision's `tv_tensors` and `transforms.v2`, geoopt and others), the fix is unsafe but for what torch makes right
there.

## References

* [torch.autograd: Variable (deprecated)](https://pytorch.org/docs/stable/autograd.html#variable-deprecated)
* [PyTorch 0.4.0 migration guide](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import FLAG_IS_BOOL, NO_GRADIENT_CARRIED, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import TENSOR_MAKERS, Draft, FileContext, Grad, Kind, Rule, Triggers, Value, any_element
from torchlint.rules.constructors.legacy_types import kept_below
from torchlint.rules.data.aliasing import held_alone
from torchlint.rules.data.data_use import is_detached_behind, is_detaching
from torchlint.rules.local_bindings import are_of_torch
from torchlint.rules.obligations import (
    detach_not_traced,
    error_not_expected,
    is_detached,
    is_proven,
    is_tensor_if_taken,
    of_no_subclass,
)
from torchlint.rules.repairs import does_nothing, is_literal
from torchlint.rules.variable.unwrapping import unwrap
from torchlint.rules.variable.variable_calls import VariableCall, variable_call
from torchlint.rules.wording import brief, brief_or, import_step

_NO_TENSOR = "`{code}` raises `TypeError`: `Variable` takes a tensor, and this is {what}"
_REFUSED = Kind.ARRAY | Kind.SEQUENCE | Kind.SIZE | Kind.INTEGER | Kind.SCALAR | Kind.STRING
_NEVER = {Kind.ARRAY: "a NumPy array", Kind.SEQUENCE: "a sequence", Kind.INTEGER: "a number", Kind.SCALAR: "a number"}


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of ``Variable``."""
    wrapper = variable_call(node, context)
    if wrapper is None or wrapper.volatile is not None:
        return
    message, fix = _judged(wrapper, context)
    if fix and wrapper.data is not None:
        fix = fix.assuming(of_no_subclass(wrapper.data.value, context))
    refused = wrapper.data is not None and wrapper.plain and context.value(wrapper.data.value).must(_REFUSED)
    fix = fix and fix.assuming(*kept_below(wrapper.call.func, context))
    severity = Severity.ERROR if refused else Severity.LEGACY
    yield Draft(wrapper.word, message, Confidence.CERTAIN, (import_step(wrapper.call.func, context),), fix, severity)


def _judged(wrapper: VariableCall, context: FileContext) -> tuple[str, Fix | None]:
    code = brief_or("Variable(...)", wrapper.call, context)
    if wrapper.data is None or not wrapper.plain:
        return f"`{code}` is a detached alias of its tensor since torch 0.4: use tensors directly", None
    value = context.value(wrapper.data.value)
    if value.must(_REFUSED):
        what = next((word for kind, word in _NEVER.items() if value.may(kind)), "something else")
        return _NO_TENSOR.format(code=code, what=what), None
    if wrapper.requires_grad is None or is_literal(wrapper.requires_grad, "False"):
        return _without_gradient(wrapper, wrapper.data, value, code, context)
    return _with_gradient(wrapper, wrapper.data, code, context)


def _without_gradient(
    wrapper: VariableCall, data: cst.Arg, value: Value, code: str, context: FileContext
) -> tuple[str, Fix | None]:
    inner = f"`{brief_or('x', data.value, context)}`"
    inner = "the tensor" if inner == "`x`" and context.code(data.value) != "x" else inner
    if _is_new_and_detached(data.value, context):
        carried = NO_GRADIENT_CARRIED.proven(of=brief(data.value, context))
        return (
            f"`{code}` adds nothing to a tensor since torch 0.4: use {inner} as it is",
            _fix("Use the tensor without `Variable`", unwrap(wrapper.call, data, "", context), carried),
        )
    fix_or_none = _detaching(wrapper, data, context)
    if value.grad & Grad.ATTACHED and value.may_require_grad:
        return (
            f"`{code}` cuts {inner} off from its graph: write `.detach()` if you mean it, else drop it",
            fix_or_none,
        )
    return f"`{code}` means `.detach()` since torch 0.4: say so, or use {inner} as it is", fix_or_none


def _with_gradient(wrapper: VariableCall, data: cst.Arg, code: str, context: FileContext) -> tuple[str, Fix | None]:
    flag = wrapper.requires_grad
    assert flag is not None
    written = context.code_with_parentheses(flag.value)
    if is_detached_behind(wrapper.call, context, with_data=True):
        message = f"`{code}` is detached right behind: use the tensor as it is"
        is_dropped = _is_bool(flag, context) and does_nothing(flag.value)
        return message, _detaching(wrapper, data, context) if is_dropped else None
    alone = _is_new_and_detached(data.value, context)
    cut = "" if alone or is_detaching(data.value, context) else ".detach()"
    behind = f"{cut}.requires_grad_({written})"
    is_flag = FLAG_IS_BOOL.decided(None if _is_bool(flag, context) else "", written)
    edits = unwrap(wrapper.call, data, behind, context) if "\n" not in written else None
    shown = behind if len(behind) < 50 and "\n" not in behind else ".requires_grad_(...)"
    message = f"`{code}` makes a leaf apart from the tensor it is given: write `{shown}`"
    not_traced = (detach_not_traced(wrapper.call, context),) if cut else ()
    fix = _fix(f"Replace `Variable` by `{shown}`", edits, is_flag, *not_traced)
    return message, _for_tensors(fix, data, context, needs_proof=not cut and not alone)


def _fix(title: str, edits: tuple[Edit, ...] | None, *assumed: Decision) -> Fix | None:
    return Fix(title, edits, assumed) if edits else None


def _detaching(wrapper: VariableCall, data: cst.Arg, context: FileContext) -> Fix | None:
    """Write ``.detach()`` once: not where the chain that it would stand in detaches already."""
    if is_detached_behind(wrapper.call, context, with_data=True):
        edits = unwrap(wrapper.call, data, "", context)
        fix = _fix("Use the tensor without `Variable`: it is detached right behind", edits)
        return _for_tensors(fix, data, context)
    if is_detaching(data.value, context):
        edits = unwrap(wrapper.call, data, "", context)
        fix = _fix("Use the tensor without `Variable`", edits)
        return _for_tensors(fix, data, context, needs_proof=True)
    edits = unwrap(wrapper.call, data, ".detach()", context)
    fix = _fix("Replace `Variable(x)` by `x.detach()`", edits, detach_not_traced(wrapper.call, context))
    return _for_tensors(fix, data, context)


def _for_tensors(fix: Fix | None, data: cst.Arg, context: FileContext, needs_proof: bool = False) -> Fix | None:
    """``Variable`` takes tensors and `None`, of which it makes an empty tensor, and raises for all else."""
    if fix is None:
        return None
    if not context.value(data.value).is_tensor:
        fix = fix.assuming(error_not_expected(data, context))
    if needs_proof:
        fix = fix.assuming(NO_GRADIENT_CARRIED.open(brief(data.value, context)))
    return fix.assuming(is_tensor_if_taken(data.value, context))


def _is_new_and_detached(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a tensor is made on the spot and does not require grad, of nothing that others may have written into."""
    found = context.python(node)
    if not isinstance(found, ast.expr) or not is_detached(found, context) or not held_alone(found, context):
        return False
    if isinstance(found, ast.Attribute):
        return is_detaching(node, context) and is_proven(found.value, context)  # its `.data` never requires grad
    calls = (each for each in context.inside(found, ast.Call) if context.value(each).may(Kind.TENSOR))
    if not all(_is_of_torch(each, context) for each in calls):
        return False  # its function may keep what it gives
    parts: list[ast.Name | ast.Attribute] = context.inside(found, ast.Name, ast.Attribute)
    return not any(_may_be_live(each, context) for each in parts)


def _is_of_torch(call: ast.Call, context: FileContext) -> bool:
    is_method = isinstance(call.func, ast.Attribute) and context.value(call.func.value).is_tensor
    return is_method or are_of_torch(context.names(call.func))


def _may_be_live(part: ast.Name | ast.Attribute, context: FileContext) -> bool:
    """Whether others may have written a live value into a tensor, or into what holds one: not into a new one's size."""
    known, above = context.value(part), context.parent(part)
    if not known.may(Kind.TENSOR):
        return known.may(Kind.SEQUENCE) and any_element(known).may(Kind.TENSOR)
    if isinstance(above, ast.Attribute):
        return above.attr not in ("data", "detach") and context.value(above).may(Kind.TENSOR)
    call = context.parent(above) if isinstance(above, ast.Tuple | ast.List | ast.Starred) else above
    return not isinstance(call, ast.Call) or (
        context.value(call).may(Kind.TENSOR) and not _makes_tensors(call, context)
    )


def _makes_tensors(call: ast.Call, context: FileContext) -> bool:
    names = context.value(call.func).names
    return bool(names) and all(each in TENSOR_MAKERS or each.endswith(("Tensor", "Variable")) for each in names)


def _is_bool(flag: cst.Arg, context: FileContext) -> bool:
    if isinstance(flag.value, cst.UnaryOperation) and isinstance(flag.value.operator, cst.Not):
        return True
    if is_literal(flag, "True"):
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
