"""Values as tests compare them with what is known of an expression."""

from __future__ import annotations

from typing import Any

from torchlint.facts.value import ANY_DEVICE, ANY_DTYPE, ANY_GRAD, Device, Dtype, Grad, Kind, Value


def of_kind(kind: Kind, **facts: Any) -> Value:
    """Make a value that is no tensor."""
    return Value(**{"kind": kind, "grad": Grad(0), "device": Device(0), "dtype": Dtype(0), **facts})


def tensor(grad: Grad = ANY_GRAD, device: Device = ANY_DEVICE, dtype: Dtype = ANY_DTYPE, **facts: Any) -> Value:
    """Make a value that is a tensor beyond doubt."""
    return Value(Kind.TENSOR, grad, device, dtype, **facts)
