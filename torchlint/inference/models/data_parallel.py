"""Modules that only run another one: ``DataParallel`` and ``DistributedDataParallel``.

Both keep the module as ``module`` and call it with what they are given, after moving tensors, and containers of them,
to where the module is. ``DataParallel`` moves them to whatever devices are there also if the module has no parameters;
what it gathers is joined along the first dimension, and numbers get one. Source: ``data_parallel.py``,
``distributed.py`` and ``_functions.py`` in ``torch/nn/parallel`` of torch 2.13.0.
"""

from __future__ import annotations

from dataclasses import replace

from torchlint.facts.value import ANY_DEVICE, Device, Dtype, Grad, Kind, Reason, Value
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.operations import leaf
from torchlint.inference.models.tables import Call

_DATA_PARALLEL = "torch.nn.DataParallel"
WRAPPING = frozenset({_DATA_PARALLEL, "torch.nn.parallel.DistributedDataParallel"})
"""The classes of all of them."""


def wrapper(call: Call) -> Value:
    """Return what runs another module: where that is, and with a graph where that has one."""
    inner = call.given.find(0, "module")
    kind = frozenset(each for each in WRAPPING if leaf(each) == call.word)
    if inner is None or not inner.must(Kind.MODULE):
        return Value(Kind.MODULE, Grad.ATTACHED, ANY_DEVICE, Dtype(0), instance=kind)
    return inner.having(instance=kind, items=(inner,), member=None, keys=(), names=frozenset(), self_value=None)


def wrapped(module: Value) -> Value | None:
    """Return the module that another one runs, where that one is; None for other modules."""
    if not module.instance or not module.instance <= WRAPPING or not module.items:
        return None
    return module.items[0].having(device=module.device, why_device=module.why_device)


def handed_on(module: Value, given: Arguments) -> Arguments:
    """Return the arguments as the module inside gets them."""
    place, why = module.device & (Device.ACCELERATOR | Device.UNKNOWN), module.why_device
    if not place and _DATA_PARALLEL in module.instance:
        place, why = Device.UNKNOWN, Reason("{code} may spread what it is given over devices", given.node)
    if not place:
        return given

    def moved(value: Value) -> Value:
        if value.has_parts:
            return value.with_parts(moved)
        if not value.may(Kind.TENSOR):
            return value
        return value.having(device=value.device | place, why_device=value.why_device or why)

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
