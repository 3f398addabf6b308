"""`.numpy()` is called on a tensor that is not proven to be detached and on the host.

## What it does
Finds `.numpy()` on a value that is not proven convertible: a function argument, an attribute set elsewhere, the result
of an unknown call. The message names the calls that may be missing. Conversions that are proven to work are not
reported: after `.detach()` and `.cpu()`, on integer results, on batches of a `DataLoader`, on new host tensors, under
`no_grad`. In test files, a value is reported only if the file shows that it requires grad or leaves the host: a test
that always failed would have been noticed.

## Why is this bad?
Most real crashes of this kind are in small helpers such as `def to_numpy(x): return x.numpy()`, which work until
somebody passes a tensor that requires grad or is on a GPU. With `.detach()` and `.cpu()` the helper works for every
caller. Both calls are free for a tensor that is already detached and on the host.

## Example
```python
import torch


def to_list(scores: torch.Tensor):
    return list(scores.numpy())
```

Use instead:
```python
import torch


def to_list(scores: torch.Tensor):
    return list(scores.detach().cpu().numpy())
```

## Severity
A warning: the call raises only if a caller passes a tensor that requires grad or is on an accelerator.

Legacy and `unproven`, shown only with `--min-confidence unproven`, in two cases: the copy to the host is there and
nothing in sight requires grad, because a tensor that requires grad fails on every machine and would have been noticed;
or all calls in the project pass values that convert, so only other callers can see the error.

```python
import torch


def to_list(t: torch.Tensor):
    return t.numpy().tolist()  # warning


def to_list_on_the_host(t: torch.Tensor):
    return t.cpu().numpy().tolist()  # legacy


def array_of(t: torch.Tensor):
    return t.numpy()  # legacy


ONES = array_of(torch.ones(3))
```

## Fix safety
Safe if the receiver is a torch tensor (a constructor, a torch operation, an annotation): wherever the old call worked,
the new one gives the same array over the same memory. Unsafe if the receiver's type is unknown: a TensorFlow tensor
has no `.detach()`. Unsafe if a class in the project has its own `numpy` and the receiver is not created in sight,
because callers need not follow an annotation.

Unsafe if `.cpu()` is missing and the code writes into the array, directly or in a function of another file: on an
accelerator the array is a copy, so the write would be lost silently.

Unsafe if an error may be expected: inside `try` with a handler that catches it, in `pytest.raises` and similar blocks,
in a function that this file calls there, and in a test marked as expected to fail.

## References
- [`torch.Tensor.numpy`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Severity
from torchlint.rules.api import FileContext, Rule, Triggers
from torchlint.rules.host.host_conversions import Conversion, not_excluded
from torchlint.rules.host.numpy_calls import drafts


def _message(found: Conversion, context: FileContext) -> str:
    return f"`.numpy()` on a tensor that {not_excluded(found)}: add `{found.missing}`"


RULE = Rule(
    "TNS103",
    "numpy-on-unproven-tensor",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected"),
    severity=Severity.WARNING,
    visit={cst.Call: drafts("TNS103", _message)},
)
