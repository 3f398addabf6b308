"""A legacy constructor is called with a keyword that it rejects: `dtype=`, `requires_grad=`, or another `device=`.

## What it does
Reports calls of `torch.Tensor`, `torch.FloatTensor` and other legacy constructors with `dtype=`, `requires_grad=`,
`pin_memory=` or `layout=`, or with a `device=` that is not, or may not be, the constructor's own device.

## Why is this bad?
These keywords belong to `torch.tensor` and `torch.empty`. For `dtype=`, a legacy constructor raises `TypeError: new()
received an invalid combination of arguments`; for `device="cuda"`, it raises `RuntimeError: legacy constructor expects
device type: cpu but device type: cuda was passed` (torch 2.13). With `device=x.device`, the code runs on the CPU and
fails on the first GPU.

## Example
```python
import torch

device = torch.device("cpu")
ids = torch.LongTensor([1, 2, 3], device=device)
```

Use instead:

```python
import torch

device = torch.device("cpu")
ids = torch.tensor([1, 2, 3], dtype=torch.int64, device=device)
```

## Severity
An error: the keyword is rejected every time.

```python
import torch

x = torch.Tensor([1, 2], dtype=torch.float64)  # error
```

## Fix safety
Safe if the arguments are proven to be a size or data: with `dtype=`, the old call never worked; with `device=`, the
new call gives the same tensor wherever the old one worked. Only shown if an argument may be a size or data. Unsafe if
the error may be expected: inside `try` with a handler that catches it, in `pytest.raises` and similar blocks, or in a
function that this file calls there.

## References
- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
- [torch.empty](https://docs.pytorch.org/docs/stable/generated/torch.empty.html)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Confidence, Severity
from torchlint.rules.api import Draft, FileContext, Rule
from torchlint.rules.constructors.legacy_calls import (
    KEYWORD,
    MODERN_KEYWORDS,
    TRIGGERS,
    Construction,
    construction,
    reasons,
)
from torchlint.rules.constructors.modern_constructors import function_for, modern


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a keyword that a legacy constructor refuses."""
    call = construction(node, context, KEYWORD)
    if call is not None:
        message, confidence = _judged(call)
        yield Draft(call.at, message, confidence, reasons(call, context), modern(call, context))


def _judged(call: Construction) -> tuple[str, Confidence]:
    """Say what the keyword does; that does not depend on what the other arguments are."""
    remedy = f"use `torch.{function_for(call)}`"
    refused = [word for word, _ in call.keywords if word in MODERN_KEYWORDS]
    if refused:
        return f"{call.type.shown} always raises `TypeError` for `{refused[0]}=`: {remedy}", Confidence.CERTAIN
    device = next(each.value for word, each in call.keywords if word == "device")
    if isinstance(device, cst.SimpleString):
        return f"{call.type.shown} always raises for `device={device.value}`: {remedy}", Confidence.CERTAIN
    own = "CUDA" if call.type.device == "cuda" else "the CPU"
    return f"{call.type.shown} raises for every `device=` but {own}: {remedy}", Confidence.LIKELY


RULE = Rule(
    KEYWORD,
    "legacy-constructor-keyword",
    TRIGGERS,
    assumes=(
        "argument-is-data",
        "default-dtype-unchanged",
        "default-device-unchanged",
        "not-traced",
        "error-not-expected",
        "author-meant-this",
    ),
    severity=Severity.ERROR,
    visit={cst.Call: check},
)
