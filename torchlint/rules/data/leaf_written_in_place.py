"""A leaf that requires grad is written in place while grad mode is on.

## What it does
Reports an in-place method, an augmented assignment or an assignment to elements of a tensor that is certainly a leaf
that requires grad, or a view of one: a parameter, or a tensor created with `requires_grad=True`. Reported only if grad
mode is certainly on: no code in the project runs this under `torch.no_grad()`.

## Why is this bad?
Autograd refuses to overwrite a leaf that requires grad: "a leaf Variable that requires grad is being used in an
in-place operation", or "a view of a leaf Variable ...". The line never works. It is what you get if you only remove
`.data`.

## Example
```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3))
        self.weight.uniform_(-1, 1)


w = torch.ones(3, requires_grad=True)
w.sum().backward()
w -= 0.1 * w.grad
```

Use instead:

```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3))
        nn.init.uniform_(self.weight, -1, 1)


w = torch.ones(3, requires_grad=True)
w.sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
```

## Severity
An error: the line raises whenever it runs.

```python
import torch

w = torch.ones(3, requires_grad=True)
w.mul_(2)  # error
```

## Fix safety
Safe: the old line raises. `normal_`, `uniform_`, `zero_` and `fill_` of a parameter become functions of `nn.init`,
which write under `no_grad`; other statements go into a `torch.no_grad()` block, which neighbouring statements share.
Unsafe if an error may be expected: inside `try` with a handler that catches it, or in `pytest.raises` and similar
blocks.

## References
- [Autograd mechanics: in-place operations](https://docs.pytorch.org/docs/stable/notes/autograd.html)
- [torch.nn.init](https://docs.pytorch.org/docs/stable/nn.init.html)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers, remembered
from torchlint.rules.data.initial_values import by_init
from torchlint.rules.data.no_grad_block import neighbours, no_grad_edits, statement_of
from torchlint.rules.data.tensor_uses import ALIKE
from torchlint.rules.obligations import error_not_expected
from torchlint.rules.wording import in_the_imperative, tensor_step

_REFUSED = ALIKE - frozenset("logical_and_ logical_not_ logical_or_ logical_xor_".split())
"""In-place methods that torch refuses on a leaf that requires grad; the others it lets pass (torch 2.13)."""


def check(node: cst.Call | cst.AugAssign | cst.AssignTarget, context: FileContext) -> Iterator[Draft]:
    """Report a write into a leaf that requires grad."""
    written = _written(node, context)
    if written is None:
        return
    word, tensor = written
    fix = _repair(node, context)
    remedy = in_the_imperative(fix) or "write under `torch.no_grad()`"
    message = f"torch rejects a write into a leaf that requires grad: {remedy}"
    steps = (tensor_step(tensor, context), "Grad mode is on here.")
    fix = None if fix is None else fix.assuming(error_not_expected(node, context))
    yield Draft(word, message, Confidence.CERTAIN, steps, fix)


RULE = Rule(
    "TNS206",
    "leaf-written-in-place",
    Triggers(methods=(*sorted(_REFUSED), "requires_grad_"), attributes=("grad",), names=("Parameter", "requires_grad")),
    assumes=("error-not-expected",),
    severity=Severity.ERROR,
    visit={cst.Call: check, cst.AugAssign: check, cst.AssignTarget: check},
)


def _written(node: cst.CSTNode, context: FileContext) -> tuple[cst.CSTNode, cst.BaseExpression] | None:
    """Return the word that writes and what is written, where that is refused; None for all else."""
    match node:
        case cst.Call(func=cst.Attribute(value=tensor, attr=cst.Name(value=word) as method)) if word in _REFUSED:
            if context.value(tensor).is_tensor and context.is_refused(node):
                return method, tensor
        case cst.AugAssign(target=target) | cst.AssignTarget(target=cst.Subscript() as target):
            if context.is_refused(target):
                return target, target.value if isinstance(target, cst.Subscript) else target
    return None


def _repair(node: cst.CSTNode, context: FileContext) -> Fix | None:
    """Write the first values of a parameter by ``nn.init``, and all else in a block that neighbours share."""
    if (initial := _initial(node, context)) is not None:
        return initial
    statement = statement_of(node, context)
    if statement is None:
        return None
    edits = no_grad_edits(neighbours(statement, lambda other: _goes_into_block(other, context), context), context)
    return None if edits is None else Fix("Write under `torch.no_grad()`", edits)


@remembered
def _initial(node: cst.CSTNode, context: FileContext) -> Fix | None:
    match node:
        case cst.Call(func=cst.Attribute(value=tensor)):
            found = by_init(tensor, node, context)
            if found is not None and "torch.nn.Parameter" in context.value(tensor).instance:
                return Fix(f"Use `{found[0]}`", found[1])
    return None


@remembered
def _goes_into_block(line: cst.SimpleStatementLine, context: FileContext) -> bool:
    """Whether a statement is a refused write that a block repairs."""
    match line.body[0]:
        case cst.Expr(value=node) | cst.Assign(targets=[node]) | (cst.AugAssign() as node):
            return _written(node, context) is not None and _initial(node, context) is None
    return False
