"""The real accelerators of this machine: which there are, what they are called, and waking them in a process."""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch


def present() -> tuple[str, ...]:
    """Return the names of the real accelerators at hand: ``"cuda"``, ``"mps"``, ``"xpu"``.

    Asking starts none of them: a process that forks must not have woken one, for its children could not use it.
    """
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # otherwise torch starts CUDA to look
    known = {"cuda": torch.cuda, "mps": getattr(torch.backends, "mps", None), "xpu": getattr(torch, "xpu", None)}
    return tuple(name for name, module in known.items() if module is not None and module.is_available())


def wake(devices: Iterable[str]) -> None:
    """Have those of some devices that are real load in this process what their drivers need.

    :raises RuntimeError: where the process was forked from one that had started CUDA, because NVML, which tells whether
        it is there, did not answer: proofs on the host alone must not pass for proofs on the GPU.
    """
    for device in set(devices).intersection(present()):
        try:
            torch.zeros(1, device=device)
        except RuntimeError as error:  # where it cannot be, no world of it can either, which is then said
            if "forked" in str(error):
                raise RuntimeError(
                    f"{device} cannot be used here: NVML does not answer; run on `--device cpu`"
                ) from error


def device_name(device: str) -> str:
    """Return the name under which a ledger speaks of a device: ``"cpu"``, ``"simulated"``, ``"NVIDIA A100"``."""
    named = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None)}.get(device)
    return str(named.get_device_name()) if named is not None else device
