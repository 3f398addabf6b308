"""Whether a file changes torch's default dtype or device, which legacy and modern constructors follow differently."""

from __future__ import annotations

import re
from functools import lru_cache

from torchlint.records import record
from torchlint.source import Source

_DTYPE = re.compile(rb"set_default_(?:dtype|tensor_type)\b")
_DEVICE = re.compile(rb"set_default_device\b|\bwith\b[^\n#]*\bdevice\(|\b(?:init_empty_weights|init_on_device)\b")
_TENSOR_TYPE = re.compile(rb"set_default_tensor_type\b")


@record(frozen=True, slots=True)
class Defaults:
    """What a file does to torch's defaults, by its own words."""

    dtype: bool
    """It may change the default dtype: ``torch.Tensor`` follows it, ``torch.FloatTensor`` does not."""
    device: bool
    """It may change the default device: legacy constructors stay on the CPU, modern ones follow it."""
    tensor_type: bool
    """It may set a CUDA default tensor type: then ``torch.Tensor`` and the modern constructors follow it alike."""


@lru_cache(maxsize=8)
def defaults(source: Source) -> Defaults:
    """Look for the calls and blocks that change a default."""
    text = source.utf8
    return Defaults(
        dtype=bool(_DTYPE.search(text)),
        device=bool(_DEVICE.search(text)),
        tensor_type=bool(_TENSOR_TYPE.search(text)) and b"cuda" in text,
    )
