"""`.numpy()` is called on a tensor that requires grad.

## What it does
Finds `.numpy()` on a tensor that is a parameter, was made with `requires_grad=True`, or was computed from one while
grad mode is on, with no `.detach()` on the way. Silent under `torch.no_grad()` and `torch.inference_mode()`, where a
host tensor converts even if it requires grad, and for integer and bool results, which never require grad. In a file of
tests only what its own text shows is reported.

## Why is this bad?
The call raises `RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.`
NumPy knows nothing of the graph, so torch asks that leaving it be written down. On an accelerator the copy to the host
is missing too, and fixing one half brings up the other error next: the finding names both.

## Example
```python
import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
array = weight.numpy()
```

Use instead:
```python
import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
array = weight.detach().numpy()
```

## Severity

An error where the function's own text shows that the call raises, else a warning: what goes by the name of a model may
be none, or run without grad mode.

```python
import torch

weight = torch.ones(2, requires_grad=True)
array = weight.numpy()  # error


def scores(model, x):
    return model(x).numpy()  # warning
```

## Fix safety
Safe where the receiver is a torch tensor beyond doubt: `.detach()` shares the tensor's memory, and `.cpu()` hands a
host tensor back as it is, so wherever the old call worked the new one gives the same array over the same memory.
Unsafe in a `forward` and where a loss is computed: there the error may be the only sign that a gradient gets lost.
The fix names what to add; whether a gradient was wanted is yours to say.

Unsafe where `.cpu()` is missing and the code writes into the array, itself or by a function of another file: on an
accelerator the array is a copy, and the write would get lost without a word.

Unsafe where an error may be expected: inside `try` with a handler that takes it, `pytest.raises` and the like, in a
function that this file calls there, and in a test that is marked as failing.

## References
- [`torch.Tensor.numpy`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
- [`torch.Tensor.detach`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Severity
from torchlint.rules.api import FileContext, Rule, Triggers
from torchlint.rules.host.host_conversions import Conversion, computes_loss, missing_calls
from torchlint.rules.host.numpy_calls import drafts


def _message(found: Conversion, context: FileContext) -> str:
    of = "`.numpy()` on a tensor that requires grad"
    if computes_loss(found.at, context):
        return f"{of} cuts its gradient: stay in torch, or insert `{found.missing}`"
    return f"{of}: {missing_calls(found)}"


RULE = Rule(
    "TNS101",
    "numpy-on-grad-tensor",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected"),
    severity=Severity.WARNING,
    visit={cst.Call: drafts("TNS101", _message)},
)
