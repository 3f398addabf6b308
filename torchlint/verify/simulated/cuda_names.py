"""How code finds the device: every spelling of ``cuda`` leads to it, and what torch says of it reads ``cuda``."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlint.verify.simulated.kernels import Generator
from torchlint.verify.simulated.memory import BACKEND, lift, lower, on_device, true_device

_deepcopy = torch.Tensor.__deepcopy__


def copied_deep(tensor: Any, memo: dict[int, Any]) -> Any:
    """Copy a tensor as ``copy.deepcopy`` does: tensors that share memory still do in the copy."""
    if not on_device(tensor):
        return _deepcopy(tensor, memo)
    if id(tensor) in memo:
        return memo[id(tensor)]
    if not tensor.is_leaf:
        return _deepcopy(tensor, memo)  # raises, in torch's own words
    with torch.no_grad():
        made = lift(copy.deepcopy(lower(tensor.detach()), memo))
        if isinstance(tensor, torch.nn.Parameter):
            made = torch.nn.Parameter(made, tensor.requires_grad)
        made.requires_grad_(tensor.requires_grad)
        made.grad = copy.deepcopy(tensor.grad, memo)
    made.__dict__ = copy.deepcopy(tensor.__dict__, memo)
    memo[id(tensor)] = made
    return made


def typed_names(kind: Any) -> Any:
    """Return the dtype of ``torch.cuda.FloatTensor``, class or name; None for a kind of another place."""
    name = kind if isinstance(kind, str) else f"{getattr(kind, '__module__', '')}.{getattr(kind, '__name__', '')}"
    home, _, word = name.rpartition(".")
    if not (word.endswith("Tensor") and (home == "torch.cuda" or type(kind).__name__ == "Typed")):
        return None
    return getattr(torch, word).dtype


_KINDS = "Float Double Half BFloat16 Long Int Short Char Byte Bool".split()


class Typed(type):
    """The class of ``torch.cuda.FloatTensor`` and its like: constructors, and types to ask for."""

    def __call__(cls, *values: Any, **keywords: Any) -> Any:
        """Make a tensor on the device as the legacy constructor does."""
        host = getattr(torch, cls.__name__)
        given = values[0] if values else keywords.get("data")
        if isinstance(given, torch.Tensor):
            if not (on_device(given) and given.dtype == host.dtype):
                raise TypeError(f"expected TensorOptions(dtype={host.dtype}, device=cuda:0) (got {given.type()})")
            return given.view_as(given)
        place = torch.device(keywords.pop("device", "cuda"))
        if place.type != "cuda":
            raise RuntimeError(f"legacy constructor expects device type: cuda but device type: {place.type} was passed")
        return host(*values, **keywords).to(torch.device(BACKEND, place.index or 0))

    def __instancecheck__(cls, value: object) -> bool:
        """Whether a value is a tensor of this element type on the device."""
        return on_device(value) and value.dtype == getattr(torch, cls.__name__).dtype  # type: ignore[attr-defined]


class Stream:
    """A queue of work that is always done."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = torch.device("cuda", 0)

    def query(self) -> bool:
        """Whether all is done."""
        return True

    def synchronize(self, *_: Any) -> None:
        """Wait for nothing."""

    wait_stream = wait_event = record_event = synchronize


class Event(Stream):
    """A mark in such a queue."""

    def record(self, *_: Any) -> None:
        """Mark nothing."""

    wait = record

    def elapsed_time(self, _: Any) -> float:
        """Return the milliseconds between two marks: none."""
        return 0.0


@contextlib.contextmanager
def _anywhere(*_: Any) -> Iterator[None]:
    yield


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _state(*_: Any) -> Any:
    return Generator.state.clone()


def _set_state(state: Any, *_: Any) -> None:
    Generator.state = state.clone()


_NOTHING = "synchronize empty_cache set_device init reset_peak_memory_stats ipc_collect set_stream _lazy_init".split()
_NONE = "memory_allocated max_memory_allocated memory_reserved max_memory_reserved current_device".split()
NAMESPACE: dict[str, Any] = {
    "is_available": _always(True),
    "is_initialized": _always(True),
    "device_count": _always(1),
    "get_device_name": _always("simulated"),
    "get_device_capability": _always((8, 0)),
    **{name: _always(None) for name in _NOTHING},
    **{name: _always(0) for name in _NONE},
    "manual_seed": Generator.seed,
    "manual_seed_all": Generator.seed,
    "get_rng_state": _state,
    "get_rng_state_all": lambda: [_state()],
    "set_rng_state": _set_state,
    "set_rng_state_all": lambda states: _set_state(states[0]),
    "device": _anywhere,
    "stream": _anywhere,
    "Stream": Stream,
    "Event": Event,
    "current_stream": Stream,
    "default_stream": Stream,
    **{f"{kind}Tensor": Typed(f"{kind}Tensor", (), {}) for kind in _KINDS},
}


CUDA = torch.device("cuda", 0)
_REFUSALS = (TypeError, RuntimeError, ValueError, NotImplementedError, AssertionError)
_BY_KEYWORD = ("device", "map_location")
_BY_PLACE = ("to", "cuda", "new_tensor")
_ABSENT: Any = object()


def translated(value: Any) -> Any:
    """Return the device that is meant where ``cuda`` is said; anything else as it is."""
    if isinstance(value, str):
        return value.replace("cuda", BACKEND, 1) if re.fullmatch(r"cuda(:\d+)?", value) else value
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device(BACKEND, value.index or 0)
    return value


def said(text: str) -> str:
    """Return a text of torch's with ``cuda`` in the place of the backend's own name."""
    text = re.sub(rf"torch\.{BACKEND}\.", "torch.cuda.", text)
    return re.sub(rf"(?<![\w.]){BACKEND}(?=:\d|['\"]|,|$| )", "cuda", text)


class SpelledCuda(TorchFunctionMode):  # type: ignore[misc]  # torch is not read
    """Reads ``cuda`` in calls of torch as the simulated device."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call what was called, with the device that was meant; see torch's own protocol."""
        name = getattr(func, "__name__", "")
        if name == "__get__":  # an attribute: most calls by far
            return func(*args)
        try:
            if not kwargs and name not in _READ:
                return func(*args)
            values, keywords = _reading(name, args, dict(kwargs or {}))
            if (own := _OWN.get(name)) is not None:
                return own(func, *values, **keywords)
            return func(*values, **keywords)
        except _REFUSALS as error:
            text = said(str(error))
            if text == str(error):
                raise
            raise type(error)(text) from None


def _reading(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    for each in _BY_KEYWORD:
        if each in keywords:
            keywords[each] = translated(keywords[each])
    values = [translated(value) if at and name in _BY_PLACE else value for at, value in enumerate(args)]
    if name in ("to", "copy_", "type", "cuda", "cpu"):
        keywords.pop("non_blocking", None)  # the host has one stream, and no pinned memory
    return values, keywords


def _type(func: Any, tensor: Any, kind: Any = None, *_: Any, **keywords: Any) -> Any:
    kind = keywords.get("dtype", kind)
    if kind is None:
        return said(func(tensor))
    if (dtype := typed_names(kind)) is not None:
        return tensor.to(BACKEND, dtype)
    return func(tensor, kind)


def _cuda(_: Any, tensor: Any, device: Any = None, **__: Any) -> Any:
    if isinstance(device, int):
        device = torch.device("cuda", device)
    return tensor.to(BACKEND if device is None else translated(device))


_OWN: dict[str, Callable[..., Any]] = {
    "type": _type,
    "cuda": _cuda,
    "pin_memory": lambda _, tensor, *__: tensor,
    "is_pinned": lambda *_, **__: False,
}
_READ = frozenset({*_BY_PLACE, *_OWN})
"""Calls that may name a device without a keyword."""


# ---------------------------------------------------------------------- what is not called through torch's protocol
def _set_default_device(device: Any) -> None:
    _set(translated(device))


def _default_device() -> torch.device:
    found = _get()
    return CUDA if found.type == BACKEND else found


_set, _get = torch.set_default_device, torch.get_default_device
_to, _legacy_default = torch.nn.Module.to, torch.set_default_tensor_type


def _module_to(module: Any, *values: Any, **keywords: Any) -> Any:
    keywords = {name: translated(value) for name, value in keywords.items() if name != "non_blocking"}
    return _to(module, *map(translated, values), **keywords)


def _module_cuda(module: Any, device: Any = None) -> Any:
    return module._apply(lambda tensor: tensor.cuda(device))  # noqa: SLF001 - as torch's own does


def _legacy_default_type(kind: Any) -> None:
    if typed_names(kind) is not None:
        raise NotImplementedError("the simulated device is no default tensor type")
    _legacy_default(kind)


_PATCHES: tuple[tuple[Any, str, Any], ...] = (
    (torch.Tensor, "device", property(lambda tensor: CUDA if on_device(tensor) else true_device(tensor))),
    (torch.Tensor, "is_cuda", property(on_device)),
    (torch.Tensor, "get_device", lambda tensor: 0 if on_device(tensor) else -1),
    (torch.Tensor, "__deepcopy__", copied_deep),
    (torch.nn.Module, "to", _module_to),
    (torch.nn.Module, "cuda", _module_cuda),
    (torch, "set_default_device", _set_default_device),
    (torch, "get_default_device", _default_device),
    (torch, "set_default_tensor_type", _legacy_default_type),
    *((torch.cuda, name, value) for name, value in NAMESPACE.items()),
)
_entered = False


@contextlib.contextmanager
def spelled() -> Iterator[None]:
    """Spell the device for the length of a block; within another such block nothing changes."""
    global _entered  # noqa: PLW0603 - there is one process to speak for
    if _entered:
        yield
        return
    before = [(owner, name, vars(owner).get(name, _ABSENT)) for owner, name, _ in _PATCHES]
    for owner, name, value in _PATCHES:
        setattr(owner, name, value)
    _entered = True
    try:
        with SpelledCuda():
            yield
    finally:
        _entered = False
        for owner, name, value in before:
            delattr(owner, name) if value is _ABSENT else setattr(owner, name, value)
