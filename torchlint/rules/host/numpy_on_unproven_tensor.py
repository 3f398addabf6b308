"""`.numpy()` is called on a tensor that nothing shows to be detached and on the host.

## What it does
Finds `.numpy()` on a value that the code does not prove convertible: a function's argument, an attribute that is set
elsewhere, the result of an unknown call. The message names the half, or the halves, that cannot be excluded.
Conversions that are proven safe (after `.detach()` and `.cpu()`, on integer results, on batches of a `DataLoader`, on
fresh host tensors, under `no_grad`) are silent. So is what a test shows neither to require grad nor to leave the host:
it has run, and would fail each time.

## Why is this bad?
Most real crashes of this kind stand in small helpers such as `def to_numpy(x): return x.numpy()`, which work until
somebody hands them a live tensor or one on a GPU. A helper that says what it needs works for every caller, and costs
nothing for a tensor that is detached and on the host already: both calls hand it back as it is.

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

A warning: it raises for those callers alone whose tensor requires grad or is on an accelerator. Legacy, and `unproven`,
so that only `--min-confidence unproven` shows it, where it works as the code stands: where the copy to the host is
there and nothing in sight requires grad, since a tensor that requires grad fails on every machine and would have been
noticed; and where all calls in the project hand over what converts, so that only other callers would meet the error.

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
Safe where the receiver is a torch tensor (a construction, an operation of torch, an annotation): wherever the old call
worked the new one gives the same array over the same memory. Unsafe where the receiver's kind is not known: a
TensorFlow tensor has no `.detach()`. Unsafe where a class of the project has a `numpy` of its own and the receiver is
not made in sight: nothing holds a caller to an annotation.

Unsafe where `.cpu()` is missing and the code writes into the array, itself or by a function of another file: on an
accelerator the array is a copy, and the write would get lost without a word.

Unsafe where an error may be expected: inside `try` with a handler that takes it, `pytest.raises` and the like, in a
function that this file calls there, and in a test that is marked as failing.

## References
- [`torch.Tensor.numpy`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Severity
from torchlint.rules.api import FileContext, Rule, Triggers
from torchlint.rules.host.host_conversions import Conversion, missing_calls, not_excluded
from torchlint.rules.host.numpy_calls import drafts


def _message(found: Conversion, context: FileContext) -> str:
    return f"`.numpy()` on a tensor that {not_excluded(found)}: {missing_calls(found)}"


RULE = Rule(
    "TNS103",
    "numpy-on-unproven-tensor",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected"),
    severity=Severity.WARNING,
    visit={cst.Call: drafts("TNS103", _message)},
)
