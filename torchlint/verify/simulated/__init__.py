"""A simulated accelerator: while it is entered, this process behaves like one with a single CUDA device.

Device checks, dispatch, views, autograd and version counters are torch's own: tensors on the device belong to a backend
that torch lets Python fill in (``PrivateUse1``), and only kernels run on the host, over the same memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

from torchlint.verify import accelerators

NAME = "simulated"
"""What worlds and the ledger call this device."""


@cache
def missing() -> str | None:
    """Say why there can be no simulated accelerator with the torch at hand; None where there can be one.

    None stands beside a real one: torch knows a single accelerator in a process, and autograd would wait for this one.
    """
    if real := accelerators.present():
        return f"a real accelerator is here: {', '.join(real)}"
    backends = getattr(torch.utils, "backend_registration", None)
    if not hasattr(backends, "_setup_privateuseone_for_python_backend") or not hasattr(torch._C, "_acc"):  # noqa: SLF001
        return f"torch {torch.__version__} has no backend that can be written in Python, as 2.13 has"
    from torchlint.verify.simulated.kernels import register

    try:
        register()
    except (ImportError, RuntimeError, AttributeError, OSError) as error:
        return f"torch {torch.__version__} refused the simulated backend: {error}"
    return None


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """Yield this process its simulated device, spelled ``cuda``, for the length of a ``with`` block.

    No tensor of the device may be used afterwards: its memory is given back when the outermost block is left. Not for
    several threads at once, and so torch goes back through a graph in the thread that asks for it.

    Raises RuntimeError where :func:`missing` gives a reason.
    """
    if reason := missing():
        raise RuntimeError(reason)
    from torchlint.verify.simulated.cuda_names import spelled
    from torchlint.verify.simulated.memory import holding

    with holding(), spelled(), _same_dispatch(), torch.autograd.set_multithreading_enabled(False):
        yield


@contextlib.contextmanager
def afresh() -> Iterator[None]:
    """Do as :func:`simulated`; within such a block, give back at the end what memory was taken within this one."""
    if missing():
        raise RuntimeError(missing())
    from torchlint.verify.simulated.memory import giving_back, held

    with giving_back() if held() else simulated(), _same_dispatch():
        yield


def beneath(tensor: Any) -> Any:
    """Return the host tensor over the memory of a tensor of the device; any other as it is."""
    if missing():
        return tensor
    from torchlint.verify.simulated.memory import lower, on_device

    return lower(tensor) if on_device(tensor) else tensor


def _same_dispatch() -> contextlib.AbstractContextManager[None]:
    """Put torch's own notes of this thread back at the end: an error within a kernel can leave some behind."""
    include = torch._C._dispatch_tls_local_include_set()  # noqa: SLF001 - torch has no public name for these
    exclude = torch._C._dispatch_tls_local_exclude_set()  # noqa: SLF001
    guard: contextlib.AbstractContextManager[None] = torch._C._ForceDispatchKeyGuard(include, exclude)  # noqa: SLF001
    return guard
