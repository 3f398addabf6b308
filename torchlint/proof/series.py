"""What the versions of torch on which the harness runs, 1.13 and later, spell in different ways or lack."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache
from typing import Any

import torch

_PERTURB, _BYTE = -6, 0x5A
"""glibc's own number of the setting, and what new memory is filled with (each bit turned round)."""


def storage(tensor: Any) -> Any:
    """Give a tensor's storage as bytes: what has ``data_ptr()`` and ``nbytes()``."""
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def default_device() -> str:
    """Give the device of new tensors.

    Raises RuntimeError or AssertionError where the device that was asked for is not there.
    """
    with contextlib.suppress(
        AttributeError
    ):  # 1.13 has no such question, and 2.6 fails in it once the device was reset
        return str(torch.get_default_device())
    return str(torch.empty(0).device)


def reset_default_device() -> None:
    """Let new tensors be on the host again."""
    if hasattr(torch, "set_default_device"):
        torch.set_default_device(None)


@cache
def fills_memory() -> bool:
    """Whether torch fills memory that nobody wrote, as it does since 2.2 where it is told to be deterministic.

    Elsewhere the C library is told to, if it is glibc. It misses some pieces: a difference has to show again and again.
    """
    if hasattr(torch.utils, "deterministic"):
        return True
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_PERTURB, _BYTE)
    return False
