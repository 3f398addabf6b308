"""`torch.Tensor(...)` is called with data: a list, a tuple, an array or a tensor.

## What it does

Flags calls of `torch.Tensor`, under any import name, whose argument is a sequence, a NumPy array or a tensor.
Annotations, `isinstance(x, torch.Tensor)` and subclasses are right and never flagged.

## Why is this bad?

One name does four things, depending on what it is given (measured on torch 2.13):

| `a` | `torch.Tensor(a)` gives |
|---|---|
| list, tuple, range, nested sequence | a copy in the default dtype, integers and bools included |
| float32 array | an alias: writing to the tensor writes to the array |
| array of another dtype | a float32 copy |
| tensor | an alias with the tensor's own dtype and graph: nothing is converted |
| float, bool, None, string | `TypeError` |

`torch.tensor` always copies, `torch.as_tensor` shares memory where it can, and both say the dtype.

## Example

```python
import numpy as np
import torch

counts = torch.Tensor([1, 2, 3])
ratios = torch.Tensor([0.5, 1.5])
pixels = torch.Tensor(np.zeros((2, 2)))
```

Use instead:

```python
import numpy as np
import torch

counts = torch.tensor([1, 2, 3], dtype=torch.float32)
ratios = torch.tensor([0.5, 1.5], dtype=torch.float32)
pixels = torch.as_tensor(np.zeros((2, 2)), dtype=torch.float32)
```

## Severity

Legacy: it works.

```python
import torch

x = torch.Tensor([1, 2])  # legacy
```

## Fix safety

Safe for sequences, and for arrays that the call beside it gives a dimension, `torch.Tensor(np.zeros(3))`: same values,
dtype, device and memory sharing. A 0-d integer array was taken as a size, so any other array makes the fix unsafe. So
does what only an annotation calls a sequence, and what only passed a test for a tuple: a `torch.Size` is a tuple, too,
and was a size. What a function is handed becomes `torch.as_tensor`, which does the same for a list and keeps sharing
memory if an array comes. For a tensor the choices are only shown, and for `(x.shape[0], 1, 1)`, which is data to the
constructor and most often meant as a shape.

Where a file of the project may set a default dtype, the fix writes `dtype=torch.get_default_dtype()`; where one may set
a default device, it adds `device="cpu"`, because legacy constructors stay on the CPU. A default tensor type moves both
calls alike; unsafe where a file may set one and another may set a default device. The fix's title names the file.

A trace keeps what either call gives as a constant, and warns of both alike (measured on torch 2.13).

## References

- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
- [torch.as_tensor](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html)
- [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html): "to create a tensor with pre-existing data, use
  `torch.tensor()`"
"""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import Rule
from torchlint.rules.constructors.legacy_calls import FROM_DATA, TRIGGERS
from torchlint.rules.constructors.modern_constructors import drafts

RULE = Rule(
    FROM_DATA,
    "legacy-constructor-from-data",
    TRIGGERS,
    assumes=(
        "argument-is-data",
        "default-dtype-unchanged",
        "default-device-unchanged",
        "author-meant-this",
    ),
    visit={cst.Call: drafts(FROM_DATA)},
)
