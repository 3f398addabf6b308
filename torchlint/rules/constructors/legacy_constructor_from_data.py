"""`torch.Tensor(...)` is called with data: a list, a tuple, an array or a tensor.

## What it does
Reports calls of `torch.Tensor`, under any import name, with a sequence, a NumPy array or a tensor. Annotations,
`isinstance(x, torch.Tensor)` and subclasses are fine and never reported.

## Why is this bad?
One name does four things, depending on its argument (measured on torch 2.13):

| `a` | `torch.Tensor(a)` gives |
|---|---|
| list, tuple, range, nested sequence | a copy in the default dtype, integers and bools included |
| float32 array | an alias: writing to the tensor writes to the array |
| array of another dtype | a float32 copy |
| tensor | an alias with the tensor's own dtype and graph: nothing is converted |
| float, bool, None, string | `TypeError` |

`torch.tensor` always copies, `torch.as_tensor` shares memory if it can, and both state the dtype.

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
Legacy: the code works.

```python
import torch

x = torch.Tensor([1, 2])  # legacy
```

## Fix safety
Safe for sequences, and for arrays that the call itself gives dimensions, as in `torch.Tensor(np.zeros(3))`: same
values, dtype, device and memory sharing. Unsafe for any other array, because the constructor takes a 0-d integer array
as a size. Unsafe if only an annotation says that the argument is a sequence, or only a test for `tuple`: a
`torch.Size` is also a tuple, and is taken as a size. Function arguments become `torch.as_tensor`, which does the same
for a list and still shares memory with an array. For a tensor, the choices are only shown, and also for
`(x.shape[0], 1, 1)`, which the constructor takes as data but is usually meant as a shape.

If a file in the project may set a default dtype, the fix writes `dtype=torch.get_default_dtype()`; if one may set a
default device, it adds `device="cpu"`, because legacy constructors stay on the CPU. A default tensor type affects both
calls in the same way. Unsafe if one file may set a default tensor type and another a default device. The title of the
fix names the file.

A trace stores the result of either call as a constant and warns about both (measured on torch 2.13).

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
