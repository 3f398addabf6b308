"""`.numpy()` is called on a tensor that requires grad.

## What it does
Finds `.numpy()` on a tensor that is a parameter, was created with `requires_grad=True`, or was computed from such a
tensor with grad mode on, without `.detach()`. Under `torch.no_grad()` and `torch.inference_mode()` a tensor on the
host converts even if it requires grad, so nothing is reported there. Integer and bool results never require grad and
are not reported. In test files, only problems visible in that file are reported.

## Why is this bad?
The call raises `RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.`
NumPy cannot track gradients, so PyTorch makes you detach explicitly. On an accelerator, the copy to the host is
missing too: if you add only one call, the other error appears later. The finding names both.

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
An error if the function itself shows that the call fails; otherwise a warning, because something named `model` may not
be a model or may run without grad.

```python
import torch

weight = torch.ones(2, requires_grad=True)
array = weight.numpy()  # error


def scores(model, x):
    return model(x).numpy()  # warning
```

## Fix safety
Safe if the receiver is certainly a torch tensor: `.detach()` shares the tensor's memory, and `.cpu()` returns a host
tensor unchanged, so wherever the old call worked, the new one gives the same array over the same memory.

Unsafe in a `forward` and where a loss is computed: the error may be the only sign that a gradient gets lost. Decide
whether you need the gradient.

Unsafe if `.cpu()` is missing and the code writes into the array, directly or in a function of another file: on an
accelerator the array is a copy, so the write would be lost silently.

Unsafe if an error may be expected: inside `try` with a handler that catches it, in `pytest.raises` and similar blocks,
in a function that this file calls there, and in a test marked as expected to fail.

## References
- [`torch.Tensor.numpy`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
- [`torch.Tensor.detach`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Severity
from torchlint.rules.api import FileContext, Rule, Triggers
from torchlint.rules.host.host_conversions import Conversion, computes_loss
from torchlint.rules.host.numpy_calls import drafts


def _message(found: Conversion, context: FileContext) -> str:
    if computes_loss(found.at, context):
        return f"`.numpy()` cuts the gradient here: stay in torch, or add `{found.missing}`"
    return f"`.numpy()` on a tensor that requires grad: add `{found.missing}`"


RULE = Rule(
    "TNS101",
    "numpy-on-grad-tensor",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected"),
    severity=Severity.WARNING,
    visit={cst.Call: drafts("TNS101", _message)},
)
