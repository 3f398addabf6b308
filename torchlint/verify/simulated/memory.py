"""The device's memory: which host storage stands behind which, and which operations refuse tensors of two devices."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
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
    """Yield back at the end of a block what was taken within it."""
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
    """Return the device that torch itself knows, ``gpu:0`` for the simulated one."""
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
    """Return the host tensor over the memory of a tensor of the device."""
    shape, stride = tuple(tensor.shape), tuple(tensor.stride())
    owner = _owners.get(tensor.untyped_storage().data_ptr())
    if owner is None:  # nothing is in it
        return torch.empty_strided(shape, stride, dtype=tensor.dtype, device="cpu")
    empty = torch.empty(0, dtype=tensor.dtype, device="cpu")
    host = _set(empty, owner, tensor.storage_offset(), shape, stride)
    host = torch._conj(host) if tensor.is_conj() else host  # noqa: SLF001 - sets the bit, copies nothing
    return torch._neg_view(host) if tensor.is_neg() else host  # noqa: SLF001


_TABLE = "packaged/ATen/native/native_functions.yaml"
_TAKES_BOTH = frozenset(
    "copy_ copy _copy_from _copy_from_and_resize set_ index index_put index_put_ _index_put_impl_ _unsafe_index "
    "_unsafe_index_put _pack_padded_sequence".split()
)
"""Operations that take indices or sources from the host."""


@cache
def _unchecked() -> frozenset[str]:
    """Return the operations whose wrapper checks no device: views, and what checks by itself while it iterates."""
    spec = find_spec("torchgen")
    if spec is None or spec.origin is None:
        raise ImportError("torchgen, which comes with torch, is not there")
    text = (Path(spec.origin).parent / _TABLE).read_text(encoding="utf-8")
    entries = re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]
    return frozenset(entry.partition("(")[0] for entry in entries if "device_check: NoCheck" in entry)


@dataclass(frozen=True)
class Form:
    """What is asked again and again of one operation."""

    name: str
    arguments: tuple[str, ...]
    outs: frozenset[str]
    asks_tensor: frozenset[int]
    """Positions of arguments that are tensors: a number given there becomes one."""
    seeded: bool
    """Whether it takes random numbers."""
    changes: bool
    """Whether it changes something that it is given, perhaps where that lies."""
    takes_both: bool
    iterates: bool
    """Whether it checks devices element by element, and so takes host tensors without dimensions as numbers."""


@cache
def form_of(operation: Any) -> Form:
    """Read an operation's schema once."""
    schema = operation._schema  # noqa: SLF001 - torch has no public name for it
    name = schema.name.partition("::")[2]
    kinds = [str(each.type) for each in schema.arguments]
    return Form(
        name,
        tuple(each.name for each in schema.arguments),
        frozenset(each.name for each in schema.arguments if each.is_out),
        frozenset(at for at, kind in enumerate(kinds) if kind.startswith(("Tensor", "Optional[Tensor"))),
        torch.Tag.nondeterministic_seeded in operation.tags,
        schema.is_mutable,
        name in _TAKES_BOTH,
        bool({name, f"{name}.{schema.overload_name}"} & _unchecked()),
    )


def require_one_device(form: Form, values: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise the RuntimeError with which an operation of a CUDA device refuses tensors of the host."""
    if form.takes_both or (_all_on_device(values) and _all_on_device(keywords.values())):
        return
    tensors = [
        (name, each)
        for name, given in (*zip(form.arguments, values, strict=False), *keywords.items())
        for each in (given if isinstance(given, list | tuple) else (given,))
        if isinstance(each, torch.Tensor)
    ]
    places = [on_device(tensor) for _, tensor in tensors]
    if all(places) or not any(places):
        return
    if form.iterates:
        _iterating(tensors)
    else:
        _wrapping(form.name, tensors, places[0])


def _all_on_device(values: Iterable[Any]) -> bool:
    """Whether there is no tensor of the host among values, nor a list that could hold one: most calls by far."""
    return not any(
        isinstance(each, list | tuple) or (isinstance(each, torch.Tensor) and not on_device(each)) for each in values
    )


def _iterating(tensors: list[tuple[str, Any]]) -> None:
    """Refuse host tensors, but take those without dimensions as numbers."""
    if any(tensor.dim() and not on_device(tensor) for _, tensor in tensors):
        found = f"{BACKEND}:0 and cpu"
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {found}!")


def _wrapping(name: str, tensors: list[tuple[str, Any]], first: bool) -> None:
    argument, other = next((name, tensor) for name, tensor in tensors if on_device(tensor) != first)
    spell = {True: f"{BACKEND}:0", False: "cpu"}
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but got {argument} is on {spell[on_device(other)]}, different "
        f"from other tensors on {spell[first]} (when checking argument in method wrapper_CUDA_{name})"
    )
