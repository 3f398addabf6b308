"""`torch.Tensor(...)` is called with a size: its memory is uninitialised.

## What it does

Flags calls of `torch.Tensor` with integers, `*sizes`, `x.size()`, a tensor's shape, or nothing. Where only the use
speaks for a size (`torch.Tensor(n).normal_()`) the finding is `likely`.

## Why is this bad?

`torch.Tensor(3)` looks like a tensor that holds 3. It is three elements of whatever the memory held before, and turns
into something else as soon as a list is passed instead of an int. A parameter that is made this way and never
initialised trains from garbage, sometimes from `nan`. `torch.empty` says what is meant.

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

Legacy: it works, if all is written before it is read.

```python
import torch

x = torch.Tensor(2, 3)  # legacy
```

## Fix safety

Safe where the arguments are proven to be a size: `torch.empty` makes the same uninitialised tensor and follows the
default dtype as `torch.Tensor` does; with `.zero_()` right behind it, `torch.zeros` makes the same values at once.
Where a file of the project may set a default device, `device="cpu"` is added, because legacy constructors stay on the
CPU. A default tensor type moves both calls alike; unsafe where a file may set one and another may set a default device.
The fix's title names the file.

Unsafe where an annotation or the use alone speaks for a size (a list may be given for `n: int`), where only an
annotation says that the `x` of `x.shape` is a tensor (an array's shape is a tuple, and a tuple was data), and for
`torch.Tensor(*sizes)`: without elements it gives an empty tensor, and `torch.empty()` raises `TypeError` (measured on
torch 2.13). Unsafe, too, in functions of a project that records traces, unless the sizes are constants: a trace keeps
the size that `torch.Tensor` was given, and follows that of `torch.empty`.

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
