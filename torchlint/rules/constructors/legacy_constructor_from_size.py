"""`torch.Tensor(...)` is called with a size: its memory is uninitialised.

## What it does
Reports calls of `torch.Tensor` with integers, `*sizes`, `x.size()`, a tensor's shape, or no argument. If only the use
suggests a size (`torch.Tensor(n).normal_()`), the finding is `likely`.

## Why is this bad?
`torch.Tensor(3)` looks like a tensor that holds 3. It has three elements of uninitialised memory, and means something
else as soon as somebody passes a list instead of an int. A parameter that is created this way and never initialised
trains from garbage, sometimes from `nan`. `torch.empty` says what it does.

## Example
```python
import torch
from torch import nn

weight = nn.Parameter(torch.Tensor(4, 3))
nn.init.zeros_(weight)
nothing = torch.Tensor()
```

Use instead:

```python
import torch
from torch import nn

weight = nn.Parameter(torch.empty(4, 3))
nn.init.zeros_(weight)
nothing = torch.empty(0)
```

## Severity
Legacy: the code works if every element is written before it is read.

```python
import torch

x = torch.Tensor(2, 3)  # legacy
```

## Fix safety
Safe if the arguments are proven to be a size: `torch.empty` makes the same uninitialised tensor and follows the
default dtype as `torch.Tensor` does. If `.zero_()` follows directly, `torch.zeros` makes the same values at once. If a
file in the project may set a default device, the fix adds `device="cpu"`, because legacy constructors stay on the CPU.
A default tensor type affects both calls in the same way. Unsafe if one file may set a default tensor type and another
a default device. The title of the fix names the file.

Unsafe if only an annotation or the use suggests a size (a caller may pass a list for `n: int`), if only an annotation
says that the `x` of `x.shape` is a tensor (the shape of an array is a tuple, and a tuple is data), and for
`torch.Tensor(*sizes)`: with no sizes it gives an empty tensor, while `torch.empty()` raises `TypeError` (measured on
torch 2.13). Unsafe in functions of a project that records traces, unless the sizes are constants: a trace stores the
size given to `torch.Tensor`, but follows the size given to `torch.empty`.

## References
- [torch.empty](https://docs.pytorch.org/docs/stable/generated/torch.empty.html)
- [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html): "to create a tensor with specific size, use
  `torch.*` tensor creation ops"
"""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import Rule
from torchlint.rules.constructors.legacy_calls import FROM_SIZE, TRIGGERS
from torchlint.rules.constructors.modern_constructors import drafts

RULE = Rule(
    FROM_SIZE,
    "legacy-constructor-from-size",
    TRIGGERS,
    assumes=(
        "argument-is-data",
        "default-dtype-unchanged",
        "default-device-unchanged",
        "not-traced",
    ),
    visit={cst.Call: drafts(FROM_SIZE)},
)
