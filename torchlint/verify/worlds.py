"""The ordinary worlds in which a fix has to hold, and the values that a piece of code finds in each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cache, reduce
from heapq import heapify, heappop, heappush
from itertools import combinations
from operator import or_
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from torchlint.verify import accelerators, simulated

STATES = ("leaf", "result", "view of a leaf", "parameter", "detached", "frozen parameter")
"""How a tensor stands to autograd. A "detached" one shares its memory with a tensor that has a graph."""
MODES = ("grad", "no_grad", "inference_mode")
DTYPES = ("float32", "float64", "float16", "complex64", "int64", "bool")
LAYOUTS = ("scalar", "one element", "empty", "vector", "matrix", "transposed", "expanded", "sliced")
LIVE, ALONE = "live graph", "no live graph"
"""Whether a graph that was made before the code runs, of the same values, is taken back after it."""
ARRAYS = ("writeable", "read-only", "negative stride")

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
    graph: str = LIVE
    array: str = ARRAYS[0]
    """How the arrays lie that the code is given."""

    def __str__(self) -> str:
        traits = [self.device, self.state, self.mode, self.dtype, self.layout]
        traits += [self.graph] if self.graph != LIVE else []
        traits += [f"{self.array} arrays"] if self.array != ARRAYS[0] else []
        return ", ".join(traits)


class NoSuchWorldError(Exception):
    """Values that cannot be made, such as those of a dtype that a device does not have; the text says why."""


HOSTED = "cpu", simulated.NAME
"""Devices whose work the host does."""


def devices() -> tuple[str, ...]:
    """Return the devices of this machine on which worlds can be made: the host, and the real or the simulated ones."""
    return ("cpu", *(accelerators.present() or (() if simulated.missing() else (simulated.NAME,))))


def torch_device(device: str) -> str:
    """Return the name by which code reaches a device: the simulated one is spelled ``cuda``."""
    return "cuda" if device == simulated.NAME else device


def on(device: str) -> AbstractContextManager[Any]:
    """Return the context in which a device is there: values of a world are made, used and observed within it."""
    return simulated.afresh() if device == simulated.NAME else nullcontext()


def ordinary(device: str) -> tuple[World, ...]:
    """Return the worlds of one device.

    For float32 every state meets every mode and every layout. For the other dtypes, which take the same paths through
    torch, all states and modes meet on a matrix, and all layouts in grad mode. Without a live graph, and with arrays
    that lie otherwise, all states and modes meet on a matrix.
    """
    found = [World(device, state, mode, "float32", layout) for state in STATES for mode in MODES for layout in LAYOUTS]
    for dtype in DTYPES[1:]:
        states = ("detached", "frozen parameter") if dtype in _WHOLE else STATES
        found += [World(device, state, mode, dtype, "matrix") for state in states for mode in MODES]
        found += [World(device, state, "grad", dtype, layout) for state in states[:2] for layout in LAYOUTS]
        found += [World(device, "detached", "grad", dtype, layout) for layout in LAYOUTS]
    plain = [World(device, state, mode, "float32", "matrix") for state in STATES for mode in MODES]
    found += [replace(each, graph=ALONE) for each in plain]
    for array in ARRAYS[1:]:
        found += [World(device, "detached", mode, "float32", "matrix", array=array) for mode in MODES]
        found += [World(device, "detached", "grad", dtype, "matrix", array=array) for dtype in DTYPES[1:]]
        found += [World(device, "detached", "grad", "float32", layout, array=array) for layout in LAYOUTS]
    return tuple(dict.fromkeys(found))


def telling(device: str, given: Iterable[str]) -> tuple[World, ...]:
    """Return the worlds of a device that differ for code which is given only values of these kinds or names."""
    wanted = {NAMES.get(each, each) for each in given}
    found = ordinary(device)
    if not wanted & _ARRAYS:
        found = tuple(replace(each, array=ARRAYS[0]) for each in found)
    if not wanted & _TENSORS:
        found = tuple(replace(each, state="detached", graph=LIVE) for each in found)
    if not wanted & (_TENSORS | _ARRAYS):
        found = tuple(replace(each, dtype="float32", layout="matrix") for each in found)
    return tuple(dict.fromkeys(found))


class Pairs:
    """The pairs of traits of worlds that have met, and the choice of worlds in which those that have not yet meet."""

    def __init__(self) -> None:
        self._bits: dict[object, int] = {}
        self._met = 0
        self.unmet = False
        """Set by whoever runs code in a world that was chosen, where it did not run: other worlds are tried then."""

    def choice(self, worlds: Iterable[World], beside: Sequence[object] = ()) -> Iterator[World]:
        """Choose some worlds, greedily, so that each two traits that occur together in one of all still do.

        ``beside`` are traits that all of them have in common. The choice is always the same for the same worlds.
        """
        every = tuple(worlds)
        masks = [self._mask(world, beside) for world in every]
        missing = reduce(or_, masks, 0) & ~self._met
        best = [(-mask.bit_count(), at) for at, mask in enumerate(masks)]
        heapify(best)
        while best:
            count, at = heappop(best)
            now = -(masks[at] & missing).bit_count()
            if now != count:  # less than when it was put there
                heappush(best, (now, at))
            elif now:
                self.unmet = False
                yield every[at]
                if not self.unmet:
                    missing &= ~masks[at]
                    self._met |= masks[at]

    def _mask(self, world: World, beside: Sequence[object]) -> int:
        traits = (*((each.name, getattr(world, each.name)) for each in fields(world)), *enumerate(beside))
        return reduce(or_, (self._bits.setdefault(two, 1 << len(self._bits)) for two in combinations(traits, 2)), 0)


def covering(worlds: Iterable[World]) -> tuple[World, ...]:
    """Choose some worlds of many, so that each two traits that occur together in one world still do."""
    return tuple(Pairs().choice(worlds))


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


NAMES = {"t": "tensor", "array": "array", "model": "module", "n": "int", "numbers": "numbers"}
"""What kind of value a name takes for which no other is asked."""


def make_inputs(world: World, given: Iterable[str], kinds: Mapping[str, str] | None = None) -> Inputs:
    """Make a world's value for each name: of the kind that is asked for it, or that its name says.

    Raises KeyError for a name without a kind, and for a kind that is none of :data:`KINDS`.
    """
    wanted = {name: (kinds or {}).get(name) or NAMES[name] for name in given}
    made: dict[str, Any] = {}
    roots: dict[str, Any] = {}
    for name, kind in wanted.items():
        if kind == "tensor":
            made[name], behind = _tensor(world)
            roots |= {(each if name == "t" else f"{name}'s {each}"): root for each, root in behind.items()}
        else:
            made[name] = KINDS[kind](world)
    return Inputs(made, roots)


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
    fresh = _on_host(world.dtype, world.layout).clone()
    return fresh if world.device == "cpu" else fresh.to(torch_device(world.device))


@cache
def _on_host(name: str, layout: str) -> Any:
    shape, dtype = _SHAPES[layout], getattr(torch, name)
    plain = torch.arange(int(np.prod(shape)), dtype=torch.float64, device="cpu").reshape(shape)
    if name in _WHOLE:
        return (plain - 1).to(dtype)
    plain = plain / 4 - 0.5  # sums of these are exact in any order
    return (torch.complex(plain, plain / 2) if dtype.is_complex else plain).to(dtype)


_SHAPES: dict[str, tuple[int, ...]] = {
    "scalar": (),
    "one element": (1,),
    "empty": (0, 3),
    "vector": (3,),
    "matrix": (2, 3),
    "transposed": (3, 3),
    "expanded": (1, 3),
    "sliced": (3, 4),
}
_LAYOUTS: dict[str, Callable[[Any], Any]] = dict.fromkeys(_SHAPES, lambda values: values) | {
    "transposed": lambda values: values.t(),
    "expanded": lambda values: values.expand(2, 3),
    "sliced": lambda values: values[1:, ::2],
}


def _array(world: World) -> Any:
    host = replace(world, device="cpu")
    array = _LAYOUTS[world.layout](_values(host)).numpy()
    if world.array == "negative stride":
        return array[::-1] if array.ndim else array
    if world.array == "read-only":
        array.flags.writeable = False
    return array


def _module(world: World) -> Any:
    return nn.Sequential(nn.Linear(3, 2), nn.Tanh()).to(torch_device(world.device))


_WHOLE_WORLD: dict[str, Callable[[World], Any]] = {
    "tensor": lambda world: _tensor(world)[0],
    "tensors": lambda world: [_tensor(world)[0], _tensor(world)[0]],
    "named tensors": lambda world: {"a": _tensor(world)[0], "x": _tensor(world)[0]},
    "array": _array,
    "arrays": lambda world: [_array(world), _array(world)],
}
KINDS: dict[str, Callable[[World], Any]] = _WHOLE_WORLD | {
    "module": _module,
    "int": lambda _: 3,
    "float": lambda _: 0.5,
    "bool": lambda _: True,
    "no bool": lambda _: False,
    "text": lambda _: "a",
    "none": lambda _: None,
    "numbers": lambda _: [1, 2, 3],
    "sizes": lambda _: torch.Size([2, 3]),
    "device": lambda world: torch.device(torch_device(world.device)),
    "dtype": lambda _: torch.float64,
    "batches": lambda _: torch.utils.data.DataLoader(_rows(), batch_size=2),
    "rows": lambda _: _rows(),
    "arguments": lambda world: SimpleNamespace(device=torch_device(world.device)),
    "function": lambda _: len,
}
"""The kinds of values that code may be given."""
_TENSORS, _ARRAYS = frozenset({"tensor", "tensors", "named tensors"}), frozenset({"array", "arrays"})


def _rows() -> Any:
    return torch.utils.data.TensorDataset(torch.zeros(4, 3), torch.zeros(4))


def entering(world: World) -> AbstractContextManager[Any]:
    """Return the context in which the code of a world runs."""
    if world.mode == "grad":
        return nullcontext()
    context: AbstractContextManager[Any] = getattr(torch, world.mode)()
    return context
