"""What of torch's state a fix rests on: its default dtype and device, and whether code may be traced."""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.diagnostics.model import Applicability, Fix
from torchlint.rules.api import (
    DEVICE,
    DTYPE,
    SETS_DEFAULT_DEVICE,
    SETS_DEFAULT_DTYPE,
    SETS_TENSOR_TYPE,
    TENSOR_TYPE,
    FileContext,
    traces_or_scripts,
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


_DOUBT = "a trace keeps what `.data` gives as a constant"


def unless_traced(fix: Fix, context: FileContext) -> Fix:
    """Return the fix as it is, or, where it is safe but its code may be traced, as an unsafe one."""
    return fix.doubted(_traced(context)) if fix.applicability is Applicability.SAFE else fix


def unless_traced_here(fix: Fix, context: FileContext) -> Fix:
    """Return the fix as :func:`unless_traced` does, asking this file alone: for code that builds a module.

    A function that is traced hardly ever builds one, and then in the file that traces it.
    """
    if fix.applicability is Applicability.SAFE and traces_or_scripts(context.source.utf8):
        return fix.doubted("this file traces or scripts code, and a trace misses writes through `.data`")
    return fix


def _traced(context: FileContext) -> str | None:
    """Return why code of the file may be traced or scripted, as a clause; None where nothing speaks for it.

    The texts of the project are asked, this file's own among them; who is handed to a tracer is not followed.
    """
    if traces_or_scripts(context.source.utf8):
        return f"this file traces or scripts code, and {_DOUBT}"
    elsewhere = context.other_texts.traces
    return f"{elsewhere}, and {_DOUBT}" if elsewhere else None
