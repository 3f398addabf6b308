"""Whether code changes torch's default dtype or device, which legacy and modern constructors follow differently."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from torchlint.inference.default_setters import DEVICE, DTYPE, TENSOR_TYPE, defaults_set
from torchlint.inference.project_texts import SETS_DEFAULT_DEVICE, SETS_DEFAULT_DTYPE, SETS_TENSOR_TYPE
from torchlint.rule import FileContext
from torchlint.source import Source
from torchlint.syntax.outline import Outline, outline


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
    known = defaults(context.source)
    if known.device or known.tensor_type:
        return "this file may set the default device"
    if dtype and known.dtype:
        return "this file may set the default dtype"
    kinds = (SETS_DEFAULT_DTYPE,) if dtype else ()
    return context.other_texts.sets(*kinds, SETS_DEFAULT_DEVICE, SETS_TENSOR_TYPE)


@lru_cache(maxsize=8)
def defaults(source: Source) -> Defaults:
    """Look for the calls and blocks that change a default."""
    text = source.utf8
    found = defaults_set(text, lambda: _outline(source))
    return Defaults(
        dtype=bool(found & {DTYPE, TENSOR_TYPE}),
        device=DEVICE in found,
        tensor_type=TENSOR_TYPE in found and b"cuda" in text,
    )


def _outline(source: Source) -> Outline | None:
    try:
        return outline(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # newer than this Python
        return None
