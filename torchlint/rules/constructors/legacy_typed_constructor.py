"""A typed legacy constructor is called: `torch.FloatTensor(...)`, `torch.cuda.LongTensor(...)`, or an alias of one.

## What it does
Reports calls of `torch.FloatTensor`, `torch.LongTensor`, `torch.ByteTensor` and similar, their `torch.cuda` variants,
and names for them: `from torch import FloatTensor as FT`, `Tensor = torch.cuda.FloatTensor if use_cuda else
torch.FloatTensor`, `self.Tensor = torch.FloatTensor`.

## Why is this bad?
As for `torch.Tensor`, an integer is a size, a list is data, and an array is shared or copied depending on its dtype.
In addition, the name hides dtype and device, which you cannot pass on as you can `dtype=` and `device=`, and a tensor
of another dtype raises an obscure `TypeError: expected TensorOptions(...)`. torch itself warns that "the
torch.cuda.*DtypeTensor constructors are no longer recommended".

## Example
```python
import torch

labels = torch.LongTensor([0, 2, 1])
buffer = torch.FloatTensor(4, 3).zero_()
```

Use instead:

```python
import torch

labels = torch.tensor([0, 2, 1], dtype=torch.int64)
buffer = torch.zeros(4, 3, dtype=torch.float32)
```

## Severity
Legacy: the code works where the type's device exists.

```python
import torch

x = torch.LongTensor([1, 2])  # legacy
```

## Fix safety
As for TNS301 and TNS302, also for calls that are filled at once, such as `torch.LongTensor(2).zero_()`: safe if the
arguments are proven to be a size or data. The default dtype does not matter. `torch.cuda.*` becomes `device="cuda"`.
For the others, the fix adds `device="cpu"` if a file in the project may set a default device or a default tensor type,
because these constructors stay on the CPU.

Only shown if a name stands for several types (`torch.cuda.FloatTensor if use_cuda else torch.FloatTensor`), because
you must choose the device, and if an argument may be a size or data.

Unsafe for `torch.cuda.*` inside `try`: without an accelerator, `device="cuda"` raises another error, which the handler
may not catch. Unsafe in a function that a file in the project traces: tracing warns about `torch.tensor`, but not
about a typed constructor. A constructor called with a storage shares its memory and is not reported.

## References
- [torch.Tensor, data types](https://docs.pytorch.org/docs/stable/tensors.html#data-types)
- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
"""

from __future__ import annotations

import libcst as cst

from torchlint.rules.api import Rule
from torchlint.rules.constructors.legacy_calls import TRIGGERS, TYPED
from torchlint.rules.constructors.modern_constructors import drafts

RULE = Rule(
    TYPED,
    "legacy-typed-constructor",
    TRIGGERS,
    assumes=(
        "argument-is-data",
        "default-device-unchanged",
        "not-traced",
        "error-not-expected",
        "author-meant-this",
    ),
    visit={cst.Call: drafts(TYPED)},
)
