"""The device's memory: which host storage stands behind which storage of the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

BACKEND = "gpu"
"""The name that torch itself knows the device by: it refuses ``cuda`` for a backend from outside."""
HOST_KERNELS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)  # noqa: SLF001 - torch's only name for it

_KEY = torch._C.DispatchKey.PrivateUse1  # noqa: SLF001
_keys = torch._C._dispatch_keys  # noqa: SLF001
_device_of = torch._C.TensorBase.device.__get__  # noqa: SLF001

_owners: dict[int, Any] = {}
"""The host storage of each address in use: torch holds no more than the bare address."""
_set = torch.ops.aten.set_.source_Storage_storage_offset
_depth = 0


@contextlib.contextmanager
def holding() -> Iterator[None]:
    """Keep the device's memory for the length of a block, and give it back at the end of the outermost one."""
    global _depth  # noqa: PLW0603 - blocks within blocks share one memory
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _owners.clear()


def held() -> bool:
    """Whether there is a block around that keeps the device's memory."""
    return bool(_depth)


@contextlib.contextmanager
def giving_back() -> Iterator[None]:
    """Give back at the end of a block what was taken within it."""
    kept = dict(_owners)
    try:
        yield
    finally:
        _owners.clear()
        _owners.update(kept)


def on_device(value: object) -> bool:
    """Whether a value is a tensor of the simulated device."""
    return isinstance(value, torch.Tensor) and bool(_keys(value).has(_KEY))


def true_device(tensor: Any) -> torch.device:
    """Give the device that torch itself knows, ``gpu:0`` for the simulated one."""
    with torch._C.DisableTorchFunction():  # noqa: SLF001
        device: torch.device = _device_of(tensor)
        return device


def lift(host: Any) -> Any:
    """Make a tensor of the device over the memory of a host tensor."""
    if host.layout != torch.strided:
        raise NotImplementedError(f"the simulated device has strided tensors only, no {host.layout}")
    if host.is_conj() or host.is_neg():
        host = host.resolve_conj().resolve_neg()
    return point(torch._C._acc.create_empty_tensor((0,), host.dtype), host)  # noqa: SLF001


def point(tensor: Any, host: Any) -> Any:
    """Make a tensor of the device describe what a host tensor does: the same memory, shape and strides."""
    storage = host.untyped_storage()
    address = storage.data_ptr()
    if address:
        _owners[address] = storage
    whole = torch._C._construct_storage_from_data_pointer(address, _device(), storage.nbytes())  # noqa: SLF001
    place = host.storage_offset(), tuple(host.shape), tuple(host.stride())
    return _set.redispatch(HOST_KERNELS, tensor, whole, *place)


@cache
def _device() -> torch.device:
    return torch.device(BACKEND, 0)


def lower(tensor: Any) -> Any:
    """Give the host tensor over the memory of a tensor of the device."""
    shape, stride = tuple(tensor.shape), tuple(tensor.stride())
    owner = _owners.get(tensor.untyped_storage().data_ptr())
    if owner is None:  # nothing is in it
        return torch.empty_strided(shape, stride, dtype=tensor.dtype, device="cpu")
    empty = torch.empty(0, dtype=tensor.dtype, device="cpu")
    host = _set(empty, owner, tensor.storage_offset(), shape, stride)
    host = torch._conj(host) if tensor.is_conj() else host  # noqa: SLF001 - sets the bit, copies nothing
    return torch._neg_view(host) if tensor.is_neg() else host  # noqa: SLF001
