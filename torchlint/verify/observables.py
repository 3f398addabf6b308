"""Values as plain facts: what can be observed of tensors, arrays, modules and numbers in each version of torch."""

from __future__ import annotations

import contextlib
import ctypes
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from torch import nn

from torchlint.verify.simulated import beneath
from torchlint.verify.snippet import RESULT
from torchlint.verify.worlds import Inputs

_PERTURB, _BYTE = -6, 0x5A
"""glibc's own number of the setting, and what new memory is filled with (each bit turned round)."""


def storage(tensor: Any) -> Any:
    """Return a tensor's storage as bytes: what has ``data_ptr()`` and ``nbytes()``."""
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def default_device() -> str:
    """Return the device of new tensors.

    Raises RuntimeError or AssertionError where the device that was asked for is not there.
    """
    with contextlib.suppress(
        AttributeError
    ):  # 1.13 has no such question, and 2.6 fails in it once the device was reset
        return str(torch.get_default_device())
    return str(torch.empty(0).device)


def reset_default_device() -> None:
    """Let new tensors be on the host again, whichever way they were sent elsewhere."""
    if torch._C._get_default_device() != "cpu":  # noqa: SLF001
        dtype = torch.get_default_dtype()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default tensor type says both, and going back takes the same call
            torch.set_default_tensor_type(torch.FloatTensor)  # torchlint: ignore[TNS310] which may be set
        torch.set_default_dtype(dtype)
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


_DEPTH = 4


def spelled(error: BaseException) -> str:
    """Return an exception's class and text."""
    return f"{type(error).__name__}: {error}"


@dataclass
class Writer:
    """Writes down results, and remembers the tensors among them."""

    inputs: Inputs
    tensors: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    _memory: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where the memory of each known tensor begins and ends; nothing moves while it is written down."""

    @cached_property
    def given(self) -> dict[str, Any]:
        """The tensors that were there before the run; asked for only after it."""
        return self.inputs.tensors

    def write(self, results: Mapping[str, Any]) -> dict[str, object]:
        """Write down what the code made and what became of its inputs."""
        for name, value in results.items():
            self._value(name, value, _DEPTH)
            if name == RESULT:
                self.facts[f"{name} is an input"] = self._same(value)
        for name, tensor in self.given.items():
            self._tensor(f"input {name}", tensor)
            self._ask(f"input {name}", "gradient so far", _gradient, tensor)
            self._ask(f"input {name}", "writes counted", lambda each: each._version, tensor)  # noqa: SLF001
        for name, value in self.inputs.names.items():
            if isinstance(value, np.ndarray):
                self._array(f"input {name}", value)
        return self.facts

    def _same(self, value: Any) -> tuple[object, ...]:
        parts = value if isinstance(value, tuple | list) else [value]
        known = [*self.given.items(), *self.inputs.names.items()]
        return tuple(next((name for name, each in known if each is part), "") for part in parts)

    def _value(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            self._tensor(name, value)
            self.tensors[name] = value
        elif isinstance(value, np.ndarray):
            self._array(name, value)
        elif isinstance(value, nn.Module):
            self.facts[f"{name}: class"] = type(value).__name__
            self._members(name, {**dict(value.named_parameters()), **dict(value.named_buffers())}, depth)
        elif isinstance(value, torch.Size) or not isinstance(value, list | tuple | dict):
            self.facts[f"{name}: value"] = _plain(value)
        else:
            members = value if isinstance(value, dict) else dict(enumerate(value))
            self.facts[f"{name}: class"] = (type(value).__name__, len(value))
            self._members(name, members, depth)

    def _members(self, name: str, members: Mapping[Any, Any], depth: int) -> None:
        for key, each in members.items() if depth else ():
            self._value(f"{name}[{key}]", each, depth - 1)

    def _tensor(self, name: str, tensor: Any) -> None:
        try:  # at once, because hardly any tensor refuses
            found = [*(ask(tensor) for ask in _TENSOR_FACTS.values()), self._sharing(storage(tensor).data_ptr(), 1)]
            self.facts |= zip(_keys(name), found, strict=True)
        except _REFUSALS:
            for what, ask in (
                *_TENSOR_FACTS.items(),
                (_SHARES, lambda each: self._sharing(storage(each).data_ptr(), 1)),
            ):
                self._ask(name, what, ask, tensor)

    def _ask(self, name: str, what: str, ask: Callable[[Any], object], tensor: Any) -> None:
        try:
            self.facts[f"{name}: {what}"] = ask(tensor)
        except _REFUSALS as error:
            self.facts[f"{name}: {what}"] = spelled(error)

    def _array(self, name: str, array: Any) -> None:
        self.facts |= {
            f"{name}: class": type(array).__name__,
            f"{name}: dtype": str(array.dtype),
            f"{name}: shape": array.shape,
            f"{name}: stride": array.strides,
            f"{name}: writeable": array.flags.writeable,
            f"{name}: elements": (str(array.dtype), array.shape, array.tobytes()),
            f"{name}: {_SHARES}": self._sharing(array.ctypes.data if array.size else 0, array.itemsize),
        }

    def _sharing(self, at: int, length: int) -> tuple[str, ...]:
        """Return the inputs, and the results written down before, in whose memory an address lies."""
        if not at:
            return ()
        found = []
        for name, each in (self.given | self.tensors).items():
            if each.layout != torch.strided:
                continue
            if name not in self._memory:
                memory = storage(each)
                self._memory[name] = memory.data_ptr(), memory.data_ptr() + memory.nbytes()
            low, high = self._memory[name]
            if low <= at < high:
                found.append(name)
        for name, each in self.inputs.names.items():
            if isinstance(each, np.ndarray) and each.size:
                low, reach = each.ctypes.data, sum(map(operator.mul, each.strides, (n - 1 for n in each.shape)))
                found += [name] if low < at + length and at < low + reach + each.itemsize else []
        return tuple(found)


def elements(tensor: Any) -> object:
    """Return a tensor's dtype, shape and elements, bit for bit."""
    return str(tensor.dtype), _sizes(tensor.shape), _bytes(tensor)


def _bytes(tensor: Any) -> bytes:
    """Return the elements, row by row: of an ordinary tensor the quick way, of others in one that knows them all."""
    if tensor.dtype in _OF_NUMPY and type(tensor) in _PLAIN and not tensor._is_zerotensor():  # noqa: SLF001
        with contextlib.suppress(*_REFUSALS):
            return bytes(beneath(tensor.detach()).numpy().tobytes())  # noqa: TNS103  # what lies beneath is on the host
    host = _dense(tensor.detach()).cpu().resolve_conj().resolve_neg().contiguous()
    return bytes(host.reshape(-1).view(torch.uint8).numpy().tobytes())


_OF_NUMPY = {torch.float32, torch.float64, torch.float16, torch.complex64, torch.int64, torch.bool, torch.uint8}
_PLAIN = torch.Tensor, nn.Parameter


def _sizes(sizes: Iterable[object]) -> tuple[object, ...]:
    """Return sizes as plain numbers: a ragged one is a symbol with a new name for each tensor."""
    found = tuple(sizes)
    return found if set(map(type, found)) <= _INT else tuple(n if type(n) is int else "ragged" for n in found)


_INT = {int}


def _dense(tensor: Any) -> Any:
    """Return the elements of a rare tensor as an ordinary one."""
    if tensor.is_quantized:
        return tensor.int_repr()
    if tensor.is_nested:
        return torch.cat([_dense(each).reshape(-1) for each in tensor.unbind()])
    if type(tensor) is not torch.Tensor and hasattr(tensor, "to_local"):  # a part of what several processes hold
        return tensor.to_local()
    if type(tensor) is not torch.Tensor and hasattr(tensor, "a"):  # torch's own example of a wrapper
        return torch.stack([tensor.a, tensor.b])
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


_TENSOR_FACTS: dict[str, Callable[[Any], object]] = {
    "class": lambda tensor: type(tensor).__name__,
    "dtype": lambda tensor: str(tensor.dtype),
    "shape": lambda tensor: _sizes(tensor.shape),
    "stride": lambda tensor: _sizes(tensor.stride()),
    "offset": lambda tensor: tensor.storage_offset(),
    "device": lambda tensor: str(tensor.device),
    "requires_grad": lambda tensor: tensor.requires_grad,
    "is_leaf": lambda tensor: tensor.is_leaf,
    "grad_fn": lambda tensor: tensor.grad_fn is not None,
    "is_inference": lambda tensor: tensor.is_inference(),
    "elements": elements,
    "layout": lambda tensor: str(tensor.layout),
    "conjugated, negated": lambda tensor: (tensor.is_conj(), tensor.is_neg()),
}
_SHARES = "shares memory with"
_REFUSALS = RuntimeError, TypeError, ValueError
"""A view whose base was written, and a sparse tensor, refuse to say some things."""


@cache
def _keys(name: str) -> tuple[str, ...]:
    return tuple(f"{name}: {what}" for what in (*_TENSOR_FACTS, _SHARES))


def _gradient(tensor: Any) -> object:
    held = tensor.grad if tensor.is_leaf else None
    return None if held is None else elements(held)


def _plain(value: Any) -> tuple[str, str]:
    plain = value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | torch.Size)
    plain = plain or isinstance(value, torch.dtype | torch.device | torch.layout)
    return type(value).__name__, repr(value) if plain else ""
