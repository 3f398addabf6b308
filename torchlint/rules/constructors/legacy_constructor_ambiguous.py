"""`torch.Tensor(x)` is called with a value that may be a size or data.

## What it does
Reports calls of `torch.Tensor` with one argument that the code does not identify: an unannotated parameter, the result
of an unknown call, `*args`.

## Why is this bad?
The meaning changes with the value. `torch.Tensor(5)` is five uninitialised elements, `torch.Tensor([5])` is one
element that holds 5, `torch.Tensor(np.array(5))` is five uninitialised elements again, and a tensor comes back as an
alias in its own dtype. You cannot tell from the code which one happens, and a caller who passes a list instead of an
int gets no error.

## Example
```python
import torch


def as_row(values):
    return torch.Tensor(values).unsqueeze(0)


row = as_row([1, 2, 3])
```

Use instead, if `values` holds data:

```python
import torch


def as_row(values):
    return torch.as_tensor(values, dtype=torch.float32).unsqueeze(0)


row = as_row([1, 2, 3])
```

and `torch.empty(values)` if it is a size. Both are offered; for a name such as `width`, the size comes first.

## Severity
Legacy: the code works for one of its meanings.

```python
import torch


def make(value):
    return torch.Tensor(value)  # legacy
```

## Fix safety
The fix is only shown, because the two readings exclude each other. An annotation (`values: list[float]`, `size: int`)
turns the finding into TNS301 or TNS302, which have a fix; it is unsafe if the annotation is the only evidence.

## References
- [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html)
- [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import Rule
from torchlint.rules.constructors.legacy_calls import AMBIGUOUS, TRIGGERS
from torchlint.rules.constructors.modern_constructors import drafts

RULE = Rule(
    AMBIGUOUS,
    "legacy-constructor-ambiguous",
    TRIGGERS,
    assumes=(
        "argument-is-data",
        "default-dtype-unchanged",
        "default-device-unchanged",
        "not-traced",
        "author-meant-this",
    ),
    visit={cst.Call: drafts(AMBIGUOUS)},
)
