"""A typed legacy constructor is called: `torch.FloatTensor(...)`, `torch.cuda.LongTensor(...)`, or an alias of one.

## What it does

Flags calls of `torch.FloatTensor`, `torch.LongTensor`, `torch.ByteTensor` and the others, their `torch.cuda` spellings,
and names that stand for them: `from torch import FloatTensor as FT`,
`Tensor = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor`, `self.Tensor = torch.FloatTensor`.

## Why is this bad?

The same reasons as for `torch.Tensor`: an integer is a size, a list is data, an array is shared or copied depending on
its dtype. On top of that dtype and device are hidden in a name, which cannot be passed on as `dtype=` and `device=`
can, and a tensor of another dtype is refused with an obscure `TypeError: expected TensorOptions(...)`. torch itself
warns that "the torch.cuda.*DtypeTensor constructors are no longer recommended".

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

Legacy: it works, where the type's device is there.

```python
import torch

x = torch.LongTensor([1, 2])  # legacy
```

## Fix safety

As for TNS301 and TNS302 (also for what is filled at once, `torch.LongTensor(2).zero_()`): safe where the kind of the
arguments is proven; the default dtype does not matter here. `torch.cuda.*` becomes `device="cuda"`. Where a file of the
project may set a default device or a default tensor type, `device="cpu"` is added to the others, because they stay on
the CPU. Where a name stands for several types (`torch.cuda.FloatTensor if use_cuda else torch.FloatTensor`) the device
is for the author to say: the fix is only shown. It is so, too, where an argument may be a size or data. `torch.cuda.*`
inside `try` is unsafe: without an accelerator torch raises another error for `device="cuda"`, which the handler may not
take. Unsafe in a function where a file of the project traces: a trace warns of `torch.tensor`, and of a typed
constructor it does not. What is given a storage shares its memory and is not reported.

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
