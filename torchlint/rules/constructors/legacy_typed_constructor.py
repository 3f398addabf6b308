"""A typed legacy constructor is called: `torch.FloatTensor(...)`, `torch.cuda.LongTensor(...)`, or an alias of one.

## What it does

Flags calls of `torch.FloatTensor`, `torch.LongTensor`, `torch.ByteTensor` and the others, their `torch.cuda` spellings,
`torch.sparse.FloatTensor` and its like, and names that stand for them: `from torch import FloatTensor as FT`,
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
the CPU. Where a name stands for several types (`torch.cuda.FloatTensor if use_cuda else torch.FloatTensor`) the fix
writes `device="cuda" if use_cuda else "cpu"`, if the module binds that flag once, to a truth value; else the device is
for the author to say: the fix is only shown. It is so, too, where an argument may be a size or data. `torch.cuda.*`
inside `try` is unsafe: without an accelerator torch raises another error for `device="cuda"`, which the handler may not
take. Unsafe in a function where a file of the project traces: a trace warns of `torch.tensor`, and of a typed
constructor it does not.

A sparse type, `torch.sparse.FloatTensor(indices, values, size)`, does what `torch.sparse_coo_tensor` does with the same
arguments, the dtype of the values included; unsafe, because torch then warns once for each process that it does not
check the indices. What is given a storage shares its memory and is not reported.

## References

- [torch.Tensor, data types](https://docs.pytorch.org/docs/stable/tensors.html#data-types)
- [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
- [Device-agnostic code](https://docs.pytorch.org/docs/stable/notes/cuda.html#device-agnostic-code)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import WARNING_IS_WELCOME
from torchlint.diagnostics.model import Confidence, Fix
from torchlint.rules.api import Draft, FileContext, Kind, Rule
from torchlint.rules.constructors.legacy_calls import TRIGGERS, TYPED
from torchlint.rules.constructors.legacy_types import DTYPES, is_type_word, name_node, spelled_like
from torchlint.rules.constructors.modern_constructors import drafts
from torchlint.rules.obligations import stays_on_the_cpu
from torchlint.rules.repairs import in_fstring
from torchlint.rules.wording import import_step

_SPARSE = re.compile(rf"torch\.(?P<cuda>cuda\.)?sparse\.(?:{'|'.join(DTYPES)})Tensor")
_dense = drafts(TYPED)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call of a typed legacy constructor."""
    at = name_node(node.func)
    if at is None or not is_type_word(at.value, context):
        return
    names = context.names(node.func)
    sparse = _SPARSE.fullmatch(next(iter(names))) if len(names) == 1 else None
    if sparse is None:
        yield from _dense(node, context)
        return
    message = f"`{sparse[0]}` is a legacy constructor of sparse tensors: use `torch.sparse_coo_tensor`"
    is_on_cpu = sparse["cuda"] is None
    fix = _sparse_fix(node, is_on_cpu, context)
    yield Draft(at, message, Confidence.CERTAIN, (import_step(node.func, context),), fix)


def _sparse_fix(node: cst.Call, is_on_cpu: bool, context: FileContext) -> Fix | None:
    """Use ``torch.sparse_coo_tensor``, which does the same with indices and values.

    Measured on torch 2.13 for values, dtype (that of the values, whatever the name says), sharing of memory, gradient
    and coalescing.
    """
    arguments = [each.value for each in node.args]
    kinds = [context.value(each) for each in arguments]
    if any(each.star or each.keyword for each in node.args) or in_fstring(node, context):
        return None
    if not 2 <= len(arguments) <= 3 or any(each.must(Kind.INTEGER | Kind.NONE) for each in kinds):
        return None
    spelled = spelled_like(node.func, "sparse_coo_tensor", context)
    if spelled is None:
        return None
    callee, imports = spelled
    is_told, decided = stays_on_the_cpu(context, plain=False)
    device = ', device="cpu"' if is_told and is_on_cpu else ""
    edits = (context.replace(node.func, callee), *imports)
    if device:
        edits = (*edits, context.insert_after(arguments[-1], device))
    # measured on torch 2.13: one warning for each process, in the place of that on the legacy constructor
    return Fix(f"Use `{callee}(...{device})`", edits, (WARNING_IS_WELCOME.open(), decided))


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
    visit={cst.Call: check},
)
