"""What the device computes: every operation that torch hands to it runs on the host, over the same memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import torch

from torchlint.verify.simulated.memory import (
    BACKEND,
    HOST_KERNELS,
    Form,
    form_of,
    lift,
    lower,
    on_device,
    point,
    require_one_device,
)


def _hosts(*tensors: Any) -> list[Any]:
    return [None if each is None else lower(each) for each in tensors]


def _plus(gates: Any, bias: Any) -> Any:
    return gates if bias is None else gates + bias


def lstm(inputs: Any, hidden: Any, cell: Any, input_bias: Any = None, hidden_bias: Any = None) -> tuple[Any, ...]:
    """Return the new hidden state, the new cell state and the four gates, which the way back needs."""
    inputs, hidden, cell, input_bias, hidden_bias = _hosts(inputs, hidden, cell, input_bias, hidden_bias)
    parts = (_plus(inputs, input_bias) + _plus(hidden, hidden_bias)).chunk(4, 1)
    take, forget, out = parts[0].sigmoid(), parts[1].sigmoid(), parts[3].sigmoid()
    new = parts[2].tanh()
    state = forget * cell + take * new
    return lift(out * state.tanh()), lift(state), lift(torch.cat([take, forget, new, out], 1))


def lstm_back(hidden: Any, state: Any, old: Any, cell: Any, gates: Any, has_bias: bool) -> tuple[Any, ...]:
    """Return the gradients of the gates, of the old cell state and of the bias."""
    hidden, state, old, cell, gates = _hosts(hidden, state, old, cell, gates)
    take, forget, new, out = gates.chunk(4, 1)
    bent = cell.tanh()
    hidden = torch.zeros_like(cell) if hidden is None else hidden
    inner = hidden * out * (1 - bent * bent) + (0 if state is None else state)
    by_gate = [
        inner * new * take * (1 - take),
        inner * old * forget * (1 - forget),
        inner * take * (1 - new * new),
        hidden * bent * out * (1 - out),
    ]
    whole = torch.cat(by_gate, 1)
    return lift(whole), lift(inner * forget), lift(whole.sum(0)) if has_bias else None


def gru(inputs: Any, hidden: Any, state: Any, input_bias: Any = None, hidden_bias: Any = None) -> tuple[Any, Any]:
    """Return the new hidden state and what the way back needs."""
    inputs, hidden, state, input_bias, hidden_bias = _hosts(inputs, hidden, state, input_bias, hidden_bias)
    own, past = _plus(inputs, input_bias).chunk(3, 1), _plus(hidden, hidden_bias).chunk(3, 1)
    reset, keep = (own[0] + past[0]).sigmoid(), (own[1] + past[1]).sigmoid()
    new = (own[2] + reset * past[2]).tanh()
    return lift(new + keep * (state - new)), lift(torch.cat([reset, keep, new, state, past[2]], 1))


def gru_back(hidden: Any, kept: Any, has_bias: bool) -> tuple[Any, ...]:
    """Return the gradients of both sides' gates, of the old state and of both biases."""
    hidden, kept = _hosts(hidden, kept)
    reset, keep, new, state, past = kept.chunk(5, 1)
    by_keep = hidden * (state - new) * keep * (1 - keep)
    by_new = hidden * (1 - keep) * (1 - new * new)
    by_reset = by_new * past * reset * (1 - reset)
    own, other = torch.cat([by_reset, by_keep, by_new], 1), torch.cat([by_reset, by_keep, by_new * reset], 1)
    biases = (lift(own.sum(0)), lift(other.sum(0))) if has_bias else (None, None)
    return lift(own), lift(other), lift(hidden * keep), *biases


CELLS: dict[str, Any] = {
    "_thnn_fused_lstm_cell": lstm,
    "_thnn_fused_lstm_cell_backward_impl": lstm_back,
    "_thnn_fused_gru_cell": gru,
    "_thnn_fused_gru_cell_backward": gru_back,
}


_aten = torch.ops.aten
_libraries: list[Any] = []
"""What torch forgets when nobody holds it."""
_NUMBERS = (bool, int, float, complex)


class Generator:
    """The device's random numbers: a stream apart from the host's."""

    state: Any = None

    @classmethod
    def seed(cls, number: int) -> None:
        """Begin the stream anew."""
        cls.state = torch.Generator().manual_seed(number).get_state()


@cache
def register() -> None:
    """Make the backend known to torch, once for the life of the process; it cannot be taken back."""
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

    _setup_privateuseone_for_python_backend(BACKEND)
    Generator.seed(0)
    everything = torch.library.Library("_", "IMPL", "PrivateUse1")
    everything.fallback(compute)
    aten = torch.library.Library("aten", "IMPL", "PrivateUse1")
    _libraries.extend((everything, aten))
    for name, kernel in {**_KERNELS, **CELLS}.items():
        aten.impl(name, kernel)
    for operation in _AT_ONCE:
        aten.impl(operation, partial(compute, operation))
    for name in ("view", "as_strided", "_reshape_alias", "unfold", "view_as_real", "view_as_complex"):
        aten.impl(name, _viewing(getattr(_aten, name).default))
    for bit in ("Conjugate", "Negative"):  # a copy reads the bit itself; resolving it before would copy again
        library = torch.library.Library("aten", "IMPL", bit)
        library.impl("_copy_from", torch.library.fallthrough_kernel)
        _libraries.append(library)


def _viewing(operation: Any) -> Any:
    return lambda *values, **keywords: operation.redispatch(HOST_KERNELS, *values, **keywords)


def compute(operation: Any, *values: Any, **keywords: Any) -> Any:
    """Run an operation on the host and give its results to the device."""
    form = form_of(operation)
    require_one_device(form, values, keywords)
    twins: dict[int, tuple[Any, Any]] = {}
    written: list[tuple[Any, Any]] = []

    def down(value: Any) -> Any:
        if on_device(value):
            host = lower(value)
            twins[id(host)] = value, host
            return host
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == BACKEND else value

    def down_out(value: Any) -> Any:
        if not on_device(value):
            return down(value)
        fresh = torch.empty_strided(tuple(value.shape), tuple(value.stride()), dtype=value.dtype, device="cpu")
        written.append((value, fresh))
        return fresh

    def up(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        same = next((device for device, host in written if host is value), None)
        return same if same is not None else twins[id(value)][0] if id(value) in twins else lift(value)

    hosts = [_mapped(down, value) for value in _as_tensors(form, values)]
    host_keywords = {name: _mapped(down_out if name in form.outs else down, value) for name, value in keywords.items()}
    places = [_place(host) for _, host in twins.values()] if form.changes else []
    with _own_numbers() if form.seeded else nullcontext():
        made = operation(*hosts, **host_keywords)
    for device, host in written:
        _write(device, host)
    for place, (device, host) in zip(places, twins.values(), strict=False):
        if place != _place(host):  # set_, transpose_ and their like
            point(device, host)
    return _mapped(up, made)


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Change a value, or each of those in a list or tuple."""
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)([_mapped(change, each) for each in value])
    return change(value)


def _write(device: Any, host: Any) -> None:
    """Put a result into the tensor that was given for it, which takes the result's shape."""
    if tuple(device.shape) == tuple(host.shape):
        lower(device).copy_(host)
    else:
        point(device, host)


def _place(tensor: Any) -> tuple[Any, ...]:
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.untyped_storage().data_ptr()


def _as_tensors(form: Form, values: tuple[Any, ...]) -> list[Any]:
    """Make tensors of numbers where the operation asks for tensors: torch does so on its way to a kernel."""
    return [
        torch.tensor(value, device="cpu") if at in form.asks_tensor and isinstance(value, _NUMBERS) else value
        for at, value in enumerate(values)
    ]


@contextmanager
def _own_numbers() -> Iterator[None]:
    """Let the host draw from the device's own random numbers."""
    host = torch.default_generator.get_state()
    torch.default_generator.set_state(Generator.state)
    try:
        yield
    finally:
        Generator.state = torch.default_generator.get_state()
        torch.default_generator.set_state(host)


# ---------------------------------------------------------------------- what torch asks of every backend
def _empty(
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Any:
    _no_other(layout, device, pin_memory)
    keywords = {} if memory_format in (None, torch.preserve_format) else {"memory_format": memory_format}
    return lift(torch.empty(tuple(size), dtype=dtype or torch.get_default_dtype(), device="cpu", **keywords))


def _empty_strided(
    size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> Any:
    _no_other(layout, device, pin_memory)
    dtype = dtype or torch.get_default_dtype()
    return lift(torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="cpu"))


def _no_other(layout: Any, device: Any, pin: Any) -> None:
    if layout not in (None, torch.strided):
        raise NotImplementedError(f"the simulated device has strided tensors only, no {layout}")
    if device is not None and device.index:
        raise torch.AcceleratorError("CUDA error: invalid device ordinal")
    if pin:
        raise RuntimeError("Only dense CPU tensors can be pinned")


def _copy(source: Any, target: Any, non_blocking: bool = False) -> Any:  # noqa: ARG001 - the host has one stream
    (lower(target) if on_device(target) else target).copy_(lower(source) if on_device(source) else source)
    return target


def _number(tensor: Any) -> Any:
    return lower(tensor).item()


def _resize(tensor: Any, size: Any, memory_format: Any = None) -> Any:
    """Resize a tensor; the old memory stays for the others that lie in it."""
    fresh = lower(tensor).clone(memory_format=torch.preserve_format)
    if fresh.untyped_storage().nbytes() < tensor.untyped_storage().nbytes():
        fresh = torch.empty(0, dtype=tensor.dtype).set_(lower(tensor).untyped_storage().clone())
    return point(tensor, fresh.resize_(tuple(size), **({"memory_format": memory_format} if memory_format else {})))


def _convolution(x: Any, w: Any, b: Any, *rest: Any) -> Any:
    return lift(_aten.convolution(lower(x), lower(w), None if b is None else lower(b), *rest))


def _convolution_backward(g: Any, x: Any, w: Any, *rest: Any) -> Any:
    transposed, groups = rest[3], rest[5]
    bias = [w.shape[1] * groups if transposed else w.shape[0]]
    made = _aten.convolution_backward(lower(g), lower(x), lower(w), bias, *rest)
    return tuple(None if each is None else lift(each) for each in made)


_AT_ONCE = _aten.mul.Tensor, _aten.add.Tensor, _aten.new_ones.default
"""What is computed most. Torch would ask the device for an empty tensor first and have the result written into it."""
_KERNELS: dict[str, Any] = {
    "empty.memory_format": _empty,
    "empty_strided": _empty_strided,
    "_copy_from": _copy,
    "_copy_from_and_resize": _copy,
    "_local_scalar_dense": _number,
    "resize_": _resize,
    "convolution_overrideable": _convolution,
    "convolution_backward_overrideable": _convolution_backward,
}
