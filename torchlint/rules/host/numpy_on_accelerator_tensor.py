"""`.numpy()` is called on a tensor that is, or may be, on an accelerator, such as a CUDA GPU.

## What it does
Finds `.numpy()` on a tensor that was created on or moved to an accelerator (`.cuda()`, `device="cuda"`) or a device
that may be one (`.to(device)`, a module moved by `.to(device)`), without `.cpu()`.

By default nothing is reported if the code distinguishes host and accelerator and converts on the host side: in
`if not use_cuda:`, in `x.numpy() if on_host else x.cpu().numpy()`, after `if use_cuda: x = x.cpu()`, and after a
function in the file that does one of these. This is not proof, so such a call is `unproven`. If the copy depends on
`torch.cuda.is_available()`, nothing is reported at all, unless the file names another accelerator, such as `mps`.

## Why is this bad?
NumPy reads only host memory, so the call raises `TypeError: can't convert cuda:0 device type tensor to numpy. Use
Tensor.cpu() to copy the tensor to host memory first.` The same program works on a machine without a GPU, so it passes
every test there and fails on the first machine that has one.

## Example
```python
import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
counts = torch.tensor([1, 2, 3]).to(device)
array = counts.numpy()
```

Use instead:
```python
import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
counts = torch.tensor([1, 2, 3]).to(device)
array = counts.cpu().numpy()
```

## Severity
An error if the tensor is on an accelerator in every run; otherwise a warning.

```python
import torch


def read(x: torch.Tensor, device: torch.device):
    return x.detach().cuda().numpy(), x.detach().to(device).numpy()  # error, warning
```

## Fix safety
Safe if the receiver is certainly a torch tensor: `.cpu()` returns a host tensor unchanged, so wherever the old call
worked, the new one gives the same array over the same memory. On an accelerator, the array is a copy.

Unsafe if `.cpu()` is missing and the code writes into the array, directly or in a function of another file: on an
accelerator the array is a copy, so the write would be lost silently.

Unsafe if an error may be expected: inside `try` with a handler that catches it, in `pytest.raises` and similar blocks,
in a function that this file calls there, and in a test marked as expected to fail.

## References
- [`torch.Tensor.cpu`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cpu.html)
- [CUDA semantics](https://docs.pytorch.org/docs/stable/notes/cuda.html)
"""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Severity
from torchlint.rules.api import Device, FileContext, Rule, Triggers
from torchlint.rules.host.host_conversions import Conversion
from torchlint.rules.host.numpy_calls import drafts


def _message(found: Conversion, context: FileContext) -> str:
    verb = "is" if context.value(found.converted).device == Device.ACCELERATOR else "may be"
    return f"`.numpy()` on a tensor that {verb} on a GPU: add `{found.missing}`"


RULE = Rule(
    "TNS102",
    "numpy-on-accelerator-tensor",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected"),
    severity=Severity.WARNING,
    visit={cst.Call: drafts("TNS102", _message)},
)
