"""What ``torch.cuda`` offers while the device is simulated: its questions, its tensor types, its streams."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from torchlint.proof.simulated.kernels import Generator
from torchlint.proof.simulated.memory import BACKEND, on_device

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
        """Give the milliseconds between two marks: none."""
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
