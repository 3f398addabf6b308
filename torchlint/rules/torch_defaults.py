"""Whether code changes torch's default dtype or device, which legacy and modern constructors follow differently."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.rule import (
    DEVICE,
    DTYPE,
    SETS_DEFAULT_DEVICE,
    SETS_DEFAULT_DTYPE,
    SETS_TENSOR_TYPE,
    TENSOR_TYPE,
    FileContext,
)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a file does to torch's defaults, by its own words."""

    dtype: bool
    """It may change the default dtype: ``torch.Tensor`` follows it, ``torch.FloatTensor`` does not."""
    device: bool
    """It may change the default device: legacy constructors stay on the CPU, modern ones follow it."""
    tensor_type: bool
    """It may set a CUDA default tensor type: then ``torch.Tensor`` and the modern constructors follow it alike."""


def default_set(context: FileContext, dtype: bool) -> str | None:
    """Return which file of the project may set a default that matters; None where none does.

    The default device matters to every constructor; ``dtype`` says whether the default dtype does, too.
    """
    known = defaults(context)
    if known.device or known.tensor_type:
        return "this file may set the default device"
    if dtype and known.dtype:
        return "this file may set the default dtype"
    kinds = (SETS_DEFAULT_DTYPE,) if dtype else ()
    return context.other_texts.sets(*kinds, SETS_DEFAULT_DEVICE, SETS_TENSOR_TYPE)


def defaults(context: FileContext) -> Defaults:
    """Return what a file does to torch's defaults."""
    found = context.defaults_set
    return Defaults(
        dtype=bool(found & {DTYPE, TENSOR_TYPE}),
        device=DEVICE in found,
        tensor_type=TENSOR_TYPE in found and b"cuda" in context.source.utf8,
    )
