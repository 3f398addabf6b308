"""Modules that only run another one, with its inputs where it is: ``DataParallel`` and ``DistributedDataParallel``.

Source: ``torch/nn/parallel/data_parallel.py`` and ``distributed.py`` of torch 2.13.0: both keep the module as
``module``, call it with what they are given, and move tensors and containers of them to its device before that. What
``DataParallel`` gathers from several devices is joined along the first dimension; numbers get one (``Gather``).
"""

from __future__ import annotations

from dataclasses import replace

from torchlint.inference.lattice import ANY_DEVICE, Device, Dtype, Grad, Kind, Value
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.tables import Call

WRAPPING = frozenset({"torch.nn.DataParallel"})
"""What stands for the class of all of them."""


def wrapper(call: Call) -> Value:
    """Return what runs another module: where that is, and with a graph where that has one."""
    inner = call.given.find(0, "module")
    if inner is None or not inner.must(Kind.MODULE):
        return Value(Kind.MODULE, Grad.ATTACHED, ANY_DEVICE, Dtype(0), instance=WRAPPING)
    return inner.having(instance=WRAPPING, items=(inner,), member=None, keys=(), names=frozenset(), self_value=None)


def wrapped(module: Value) -> Value | None:
    """Return the module that another one runs, where that one is; None for other modules."""
    if module.instance != WRAPPING or not module.items:
        return None
    return module.items[0].having(device=module.device, why_device=module.why_device)


def handed_on(module: Value, given: Arguments) -> Arguments:
    """Return the arguments as the module inside gets them: where it is, if that may be an accelerator."""
    if not module.device & Device.ACCELERATOR:
        return given

    def moved(value: Value) -> Value:
        if value.has_parts:
            return value.with_parts(moved)
        if not value.may(Kind.TENSOR):
            return value
        return value.having(device=value.device | Device.ACCELERATOR, why_device=value.why_device or module.why_device)

    keywords = {word: moved(value) for word, value in given.keywords.items()}
    return replace(
        given,
        positional=tuple(map(moved, given.positional)),
        keywords=keywords,
        spread=tuple(map(moved, given.spread)),
    )


def gathered(result: Value) -> Value:
    """Return what comes out, from several devices perhaps: numbers of each are put in a row."""
    return result.with_parts(gathered, rank=None) if result.has_parts else result.having(rank=None)
