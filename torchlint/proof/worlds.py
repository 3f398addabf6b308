"""The ordinary worlds in which a fix has to hold, and the values that a piece of code finds in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from torchlint.proof import simulated

STATES = ("leaf", "result", "view of a leaf", "parameter", "detached", "frozen parameter")
"""How a tensor stands to autograd. A "detached" one shares its memory with a tensor that has a graph."""
MODES = ("grad", "no_grad", "inference_mode")
DTYPES = ("float32", "float64", "float16", "complex64", "int64", "bool")
LAYOUTS = ("scalar", "one element", "empty", "vector", "matrix", "transposed", "expanded")

_WHOLE = frozenset({"int64", "bool"})
"""Dtypes that never require grad: a tensor of one is plain, or a parameter that does not."""


@dataclass(frozen=True, order=True, slots=True)
class World:
    """One ordinary world: the tensor that the code is given, and the grad mode in which it runs."""

    device: str
    state: str
    mode: str
    dtype: str
    layout: str

    def __str__(self) -> str:
        return f"{self.device}, {self.state}, {self.mode}, {self.dtype}, {self.layout}"


def devices() -> tuple[str, ...]:
    """Give the devices of this machine on which worlds can be made: the host, the simulated one, and each real one."""
    simulation = () if simulated.missing() else (simulated.NAME,)
    real = {"cuda": torch.cuda, "mps": torch.mps, "xpu": getattr(torch, "xpu", None)}
    present = (name for name, module in real.items() if module is not None and _available(name, module))
    return ("cpu", *simulation, *present)


def _available(name: str, module: Any) -> bool:
    return bool((torch.backends.mps if name == "mps" else module).is_available())


def device_name(device: str) -> str:
    """Give the name under which a ledger speaks of a device: ``"cpu"``, ``"simulated"``, ``"NVIDIA A100"``."""
    named = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None)}.get(device)
    return str(named.get_device_name()) if named is not None else device


def torch_device(device: str) -> str:
    """Give the name by which code reaches a device: the simulated one is spelled ``cuda``."""
    return "cuda" if device == simulated.NAME else device


def on(device: str) -> AbstractContextManager[Any]:
    """Give the context in which a device is there: values of a world are made, used and observed within it."""
    return simulated.simulated() if device == simulated.NAME else nullcontext()


def ordinary(device: str) -> tuple[World, ...]:
    """Give the worlds of one device.

    For float32 every state meets every mode and every layout. For the other dtypes, which take the same paths through
    torch, all states and modes meet on a matrix, and all layouts in grad mode.
    """
    found = [World(device, state, mode, "float32", layout) for state in STATES for mode in MODES for layout in LAYOUTS]
    for dtype in DTYPES[1:]:
        states = ("detached", "frozen parameter") if dtype in _WHOLE else STATES
        found += [World(device, state, mode, dtype, "matrix") for state in states for mode in MODES]
        found += [World(device, state, "grad", dtype, layout) for state in states[:2] for layout in LAYOUTS]
        found += [World(device, "detached", "grad", dtype, layout) for layout in LAYOUTS]
    return tuple(dict.fromkeys(found))


def telling(device: str, given: Iterable[str]) -> tuple[World, ...]:
    """Give the worlds of a device that differ for a piece of code which is given only these names."""
    wanted = set(given)
    found = ordinary(device)
    if "t" not in wanted:
        found = tuple(replace(each, state="detached") for each in found)
    if not wanted & {"t", "array"}:
        found = tuple(replace(each, dtype="float32", layout="matrix") for each in found)
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------------- what the code is given
@dataclass(frozen=True)
class Inputs:
    """Fresh values for one run, by the names under which code asks for them."""

    names: dict[str, Any]
    roots: dict[str, Any] = field(default_factory=dict)
    """Tensors that stand behind those of ``names``: what these were computed from."""

    @property
    def tensors(self) -> dict[str, Any]:
        """Every tensor that was there before the run, the parameters of modules included."""
        found = dict(self.roots)
        for name, value in self.names.items():
            if isinstance(value, torch.Tensor):
                found[name] = value
            elif isinstance(value, nn.Module):
                found |= {f"{name}.{each}": tensor for each, tensor in value.named_parameters()}
        return found


def make_inputs(world: World, given: Iterable[str]) -> Inputs:
    """Make the values of a world: ``t`` (its tensor), ``array``, ``model``, ``n``, ``numbers``."""
    names: dict[str, Any] = {}
    roots: dict[str, Any] = {}
    for name in given:
        if name == "t":
            names["t"], roots = _tensor(world)
        else:
            names[name] = _OTHERS[name](world)
    return Inputs(names, roots)


def _tensor(world: World) -> tuple[Any, dict[str, Any]]:
    lay, values = _LAYOUTS[world.layout], _values(world)
    if world.state == "leaf":
        return lay(values).requires_grad_(), {}
    if world.state == "parameter":
        return nn.Parameter(lay(values)), {}
    if world.state == "frozen parameter":
        return nn.Parameter(lay(values), requires_grad=False), {}
    if world.dtype in _WHOLE:
        return lay(values), {}
    if world.state == "view of a leaf":
        root = torch.stack([values, values + 1]).requires_grad_()
        return lay(root[1]), {"root": root}
    root = values.requires_grad_()
    whole = root * 1
    tensor = lay(whole)
    if world.state == "result":
        return tensor, {"root": root}
    return tensor.detach(), {"root": root, "whole": whole}


def _values(world: World) -> Any:
    shape = _SHAPES[world.layout]
    count = int(np.prod(shape))
    plain = torch.arange(count, dtype=torch.float64).reshape(shape)
    dtype = getattr(torch, world.dtype)
    if world.dtype in _WHOLE:
        return (plain - 1).to(dtype).to(torch_device(world.device))
    plain = plain / 4 - 0.5  # sums of these are exact in any order
    return (torch.complex(plain, plain / 2) if dtype.is_complex else plain).to(dtype).to(torch_device(world.device))


_SHAPES: dict[str, tuple[int, ...]] = {
    "scalar": (),
    "one element": (1,),
    "empty": (0, 3),
    "vector": (3,),
    "matrix": (2, 3),
    "transposed": (3, 2),
    "expanded": (1, 3),
}
_LAYOUTS: dict[str, Callable[[Any], Any]] = dict.fromkeys(_SHAPES, lambda values: values) | {
    "transposed": lambda values: values.t(),
    "expanded": lambda values: values.expand(2, 3),
}


def _array(world: World) -> Any:
    host = replace(world, device="cpu")
    return _LAYOUTS[world.layout](_values(host)).numpy()  # torchlint: ignore[TNS103] a host world has no grad


def _model(world: World) -> Any:
    return nn.Sequential(nn.Linear(3, 2), nn.Tanh()).to(torch_device(world.device))


_OTHERS: dict[str, Callable[[World], Any]] = {
    "array": _array,
    "model": _model,
    "n": lambda _: 3,
    "numbers": lambda _: [1, 2, 3],
}


def entering(world: World) -> AbstractContextManager[Any]:
    """Give the context in which the code of a world runs."""
    if world.mode == "grad":
        return nullcontext()
    context: AbstractContextManager[Any] = getattr(torch, world.mode)()
    return context
