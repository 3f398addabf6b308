"""Values for the free names of a fragment, world by world, of the kinds that inference gives to the names.

What inference proved of a name is believed; where it knows no kind, those that the use of the name suggests are tried.
"""

from __future__ import annotations

import builtins
import importlib
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import torch
from torch import nn

from torchlint.facts.value import Device, Dtype, Grad, Kind, Value
from torchlint.knowledge import any_element
from torchlint.verify import allowed
from torchlint.verify.extract import Hole
from torchlint.verify.observables import spelled
from torchlint.verify.observe import Snippet
from torchlint.verify.worlds import (
    ALONE,
    DTYPES,
    LIVE,
    Inputs,
    NoSuchWorldError,
    World,
    make_inputs,
    ordinary,
    torch_device,
)

_ROUNDS_OF_KINDS = 200
"""Ways of giving kinds to the names of unknown kind that are tried before a fragment is given up."""
_PROBED = 10
_MOST_WAYS = 4
"""Ways that run, of those, that are taken through all worlds."""


def _import(name: str, *others: Any) -> Any:
    """Import for torch's own C code, which asks the calling frame for it; no fragment can name it."""
    if name.partition(".")[0] not in ("torch", "numpy") and name not in sys.modules:
        raise ImportError(f"a fragment may not import {name}")
    return builtins.__import__(name, *others)


_BUILTINS = {
    **{name: getattr(builtins, name) for name in (*allowed.BUILTINS, *allowed.ERRORS, "locals")},
    "__import__": _import,
}


@dataclass(frozen=True)
class Choice:
    """One thing that a name may stand for: a kind, and one value of it where the kind has several."""

    kind: str
    pick: int = 0

    def __str__(self) -> str:
        return _SHOWN.get(self, self.kind)


@dataclass(frozen=True)
class Bound(Snippet):
    """A fragment's text with what its names stand for."""

    holes: tuple[Hole, ...] = ()
    choices: tuple[Choice, ...] = ()

    def inputs(self, world: World) -> Inputs:
        """Make a fresh value for each free name.

        Raises NoSuchWorldError where one cannot be made.
        """
        try:
            return self._inputs(world)
        except (RuntimeError, TypeError, ValueError, AttributeError) as error:
            raise NoSuchWorldError(spelled(error)) from error

    def _inputs(self, world: World) -> Inputs:
        names: dict[str, Any] = {}
        roots: dict[str, Any] = {}
        for number, (hole, choice) in enumerate(zip(self.holes, self.choices, strict=True)):
            fitting = fitted(world, hole)
            if choice.kind == "tensor":
                made = make_inputs(fitting, ["t"])
                names[hole.name] = _moved(made.names["t"], number)
                roots |= {f"{hole.name}.{each}": tensor for each, tensor in made.roots.items()}
            else:
                names[hole.name] = _made(fitting, hole, choice)
        return Inputs(names, roots)

    def space(self) -> dict[str, Any]:
        """Return the modules that a fragment may name, and of Python's own words only those on the list."""
        return {"__name__": "case", "__builtins__": dict(_BUILTINS), "torch": torch, "numpy": np, "math": math}


def worlds(device: str, holes: Iterable[Hole], choices: Iterable[Choice], grad_is_off: bool) -> tuple[World, ...]:
    """Return the worlds of a device that differ for names that stand for these things."""
    chosen = [(hole, choice.kind) for hole, choice in zip(holes, choices, strict=True)]
    found: dict[tuple[object, ...], World] = {}
    graph = ALONE if any(hole.new for hole, _ in chosen) else LIVE
    for world in ordinary(device):
        if grad_is_off and world.mode == "grad":
            continue
        seen = tuple(_visible(fitted(world, hole), kind) for hole, kind in chosen)
        found.setdefault((world.mode, seen), _plainer(replace(world, graph=graph), [kind for _, kind in chosen]))
    return tuple(found.values())


def probing(all_worlds: tuple[World, ...]) -> tuple[World, ...]:
    """Return few worlds of many, each of another layout, dtype or standing.

    Code that runs at all runs in one of them.
    """
    kinds: dict[tuple[str, str, bool], World] = {}
    for each in all_worlds:
        kinds.setdefault((each.layout, each.dtype, each.state in _WITHOUT_GRAD), each)
    return tuple(sorted(kinds.values(), key=_usual)[:_PROBED])


def _usual(world: World) -> int:
    layouts, dtypes = ("matrix", "scalar", "vector", "one element"), ("float32", "int64", "bool")
    layout = layouts.index(world.layout) if world.layout in layouts else len(layouts)
    return layout + 2 * (dtypes.index(world.dtype) if world.dtype in dtypes else len(dtypes))


def fitted(world: World, hole: Hole) -> World:
    """Return a world as a name finds it of which inference knows something, or the rule."""
    value = hole.value
    if hole.new:
        world = replace(world, state=_NEW.get(world.state, world.state))
    if value.exact in DTYPES:
        world = replace(world, dtype=value.exact)
    elif value.may(Kind.TENSOR) and value.dtype and world.dtype not in _POSSIBLE[value.dtype & ~Dtype(0)]:
        world = replace(world, dtype=_POSSIBLE[value.dtype][0])
    if value.may(Kind.TENSOR) and not value.grad & (Grad.UNKNOWN | Grad.ATTACHED) and world.state not in _WITHOUT_GRAD:
        world = replace(world, state="detached")
    if value.grad == Grad.ATTACHED and world.state in _WITHOUT_GRAD and world.dtype not in ("int64", "bool"):
        world = replace(world, state="leaf" if hole.new else "result")
    if value.device == Device.HOST:
        world = replace(world, device="cpu")
    if value.rank is not None and world.layout not in _RANKS.get(value.rank, (world.layout,)):
        world = replace(world, layout=_RANKS[value.rank][0])
    return world


_NEW = {"result": "leaf", "view of a leaf": "leaf", "detached": "frozen parameter"}
"""How tensors of a module stand to autograd that is being built, for those that stand otherwise in a world."""
_WITHOUT_GRAD = ("detached", "frozen parameter")
_FLOATS = ("float32", "float64", "float16", "complex64")
_POSSIBLE: dict[Dtype, tuple[str, ...]] = {
    Dtype(number): (
        *(_FLOATS if number & Dtype.FLOATING else ()),
        *(("int64",) if number & Dtype.INTEGRAL else ()),
        *(("bool",) if number & Dtype.BOOL else ()),
    )
    for number in range(1, 8)
}
_RANKS = {0: ("scalar",), 1: ("vector", "one element"), 2: ("matrix", "empty", "transposed", "expanded")}


def _visible(world: World, kind: str) -> object:
    """Return what of a world shows in a value of a kind."""
    if kind == "tensor":
        return world.device, world.state, world.dtype, world.layout
    if kind in ("array", "mask", "sizes", "tensors", "arrays"):
        return world.device, world.dtype if kind in ("array", "arrays") else "", world.layout
    return world.device if kind in ("device", "name of a device", "module", "indices") else ""


def _plainer(world: World, kinds: list[str]) -> World:
    if "tensor" in kinds:
        return world
    world = replace(world, state="detached")
    return world if set(kinds) & {"array", "arrays"} else replace(world, dtype="float32")


# ---------------------------------------------------------------------- what a name may stand for
def ways(holes: tuple[Hole, ...], runs: Callable[[tuple[Choice, ...]], bool]) -> list[tuple[Choice, ...]]:
    """Return the ways to fill the holes under which the code runs, likeliest first.

    What is asked for a tensor's words, and may be a tensor, is taken for one where the code runs with one.
    """
    options = [_options(each) for each in holes]
    believed = [at for at, each in enumerate(holes) if assumed(each) and each.use == "receiver"]
    found: list[tuple[Choice, ...]] = []
    for way in itertools.islice(_by_rank(options), _ROUNDS_OF_KINDS):
        if found and any(way[at] != found[0][at] for at in believed):
            continue
        if runs(way):
            found.append(way)
            if len(found) >= _MOST_WAYS:
                break
    return found


def _by_rank(options: list[tuple[Choice, ...]]) -> Iterator[tuple[Choice, ...]]:
    """Yield one of each, those first that take the first of most."""
    for total in range(sum(len(each) - 1 for each in options) + 1):
        yield from _summing(options, total)


def _summing(options: list[tuple[Choice, ...]], total: int) -> Iterator[tuple[Choice, ...]]:
    if not options:
        if total == 0:
            yield ()
        return
    first, *others = options
    room = sum(len(each) - 1 for each in others)
    for rank in range(max(0, total - room), min(len(first) - 1, total) + 1):
        for rest in _summing(others, total - rank):
            yield (first[rank], *rest)


def assumed(hole: Hole) -> bool:
    """Whether inference leaves a name's kind open and its use decides."""
    several = hole.value.may(Kind.TENSOR) and not hole.value.is_tensor
    return hole.value.unknown or (hole.use == "receiver" and several)


def _options(hole: Hole) -> tuple[Choice, ...]:
    value = hole.value
    if value.names:
        return tuple(Choice("named", at) for at in range(len(value.names)))
    if value.unknown:
        return _SUGGESTED.get(hole.use, _SUGGESTED["keyword"] if hole.use.endswith("=") else _ANYTHING)
    found = [choice for kind, choices in _KINDS.items() if value.may(kind) for choice in choices]
    if value.must(Kind.SEQUENCE) and value.items is None and (any_element(value).must(Kind.TENSOR)):
        found = [Choice("tensors")]
    return tuple(each for each in found if each not in _LISTS or each in _lists(value))


def _lists(value: Value) -> tuple[Choice, ...]:
    """Return the lists whose members are such as inference knows them; all where it knows none of those."""
    inner = any_element(value)
    fitting = tuple(each for each, kind in zip(_LISTS, _MEMBERS, strict=True) if kind is None or inner.may(kind))
    return fitting if any(_MEMBERS[each.pick] is not None for each in fitting) else _LISTS


_LISTS = tuple(Choice("list", at) for at in range(5))
_MEMBERS = (Kind.INTEGER, Kind.SCALAR, Kind.SEQUENCE, Kind.INTEGER, None)
"""What the members of these lists are; None where there are none."""
_KINDS: dict[Kind, tuple[Choice, ...]] = {
    Kind.TENSOR: (Choice("tensor"),),
    Kind.ARRAY: (Choice("array"),),
    Kind.SEQUENCE: _LISTS,
    Kind.SIZE: (Choice("sizes"),),
    Kind.INTEGER: (Choice("int"), Choice("int", 1)),
    Kind.SCALAR: (Choice("float"), Choice("flag"), Choice("flag", 1)),
    Kind.STRING: (Choice("string"), Choice("name of a device")),
    Kind.NONE: (Choice("none"),),
    Kind.MODULE: (Choice("module"),),
    Kind.DEVICE: (Choice("device"),),
    Kind.DTYPE: (Choice("dtype"),),
}
_TENSOR, _INT, _FLOAT, _ARRAY = Choice("tensor"), Choice("int"), Choice("float"), Choice("array")
_FLAGS = (Choice("flag"), Choice("flag", 1))
_ANYTHING = (_TENSOR, _INT, _FLOAT, _LISTS[0], _ARRAY, Choice("sizes"), Choice("device"), Choice("dtype"), *_FLAGS)
_SUGGESTED: dict[str, tuple[Choice, ...]] = {
    "receiver": (_TENSOR, Choice("module"), _ARRAY, _LISTS[0]),
    "operand": (_TENSOR, _FLOAT, _INT, _ARRAY),
    "index": (_INT, Choice("mask"), _TENSOR, Choice("indices")),
    "bound": (_INT,),
    "element": (_FLOAT, _INT, _TENSOR),
    "test": (*_FLAGS, _TENSOR, Choice("none")),
    "loop": (_LISTS[0], Choice("tensors"), _TENSOR, Choice("sizes")),
    "keyword": (_INT, _FLOAT, *_FLAGS, Choice("none"), Choice("device"), Choice("dtype"), _TENSOR, Choice("sizes")),
    "device=": (Choice("device"),),
    "dtype=": (Choice("dtype"),),
}


# ---------------------------------------------------------------------- making them
def _moved(tensor: Any, number: int) -> Any:
    """Make the second tensor of a fragment another than the first."""
    if number and tensor.dtype != torch.bool and tensor.numel() and 0 not in tensor.stride():
        with torch.no_grad():
            tensor.add_(number)
    return tensor


def _array(world: World) -> Any:
    return make_inputs(world, ["array"]).names["array"]


def _plain_tensor(world: World, dtype: Any) -> Any:
    made = make_inputs(replace(world, state="detached", dtype="float32"), ["t"]).names["t"]
    return (made > 0).to(dtype)


def _several(world: World, kind: str) -> Any:
    name = "t" if kind == "tensor" else "array"
    return [make_inputs(replace(world, state="detached"), [name]).names[name] for _ in range(2)]


def _module(world: World, hole: Hole) -> Any:
    names = hole.value.instance
    if names and names <= {"torch.nn.Linear"}:
        return nn.Linear(3, 2).to(torch_device(world.device))
    return make_inputs(world, ["model"]).names["model"]


def _named(hole: Hole, pick: int) -> Any:
    name = sorted(hole.value.names)[pick]
    assert allowed.callable_name(name)
    return reduce(getattr, name.split(".")[1:], importlib.import_module(name.partition(".")[0]))


_VALUES: dict[str, tuple[Any, ...]] = {
    "int": (3, 1),
    "float": (0.5,),
    "flag": (True, False),
    "string": ("sum",),
    "none": (None,),
    "dtype": (torch.float32,),
}
_LIST_VALUES: tuple[Callable[[], Any], ...] = (
    lambda: [2, 3],
    lambda: [0.5, -1.5, 2.0],
    lambda: [[1, 0.5], [2, 3]],
    lambda: (2, 3),
    list,
)
_SHOWN = {
    Choice(kind, at): f"{kind} {value!r}" for kind, values in _VALUES.items() for at, value in enumerate(values)
} | {Choice("list", at): f"list {make()!r}" for at, make in enumerate(_LIST_VALUES)}


def _indices(world: World) -> Any:
    return torch.tensor([0, 1], device=torch_device(world.device))


_BY_WORLD: dict[str, Callable[[World], Any]] = {
    "array": _array,
    "sizes": lambda world: _plain_tensor(world, torch.float32).size(),
    "device": lambda world: torch.device(torch_device(world.device)),
    "name of a device": lambda world: torch_device(world.device),
    "mask": lambda world: _plain_tensor(world, torch.bool),
    "indices": _indices,
    "tensors": partial(_several, kind="tensor"),
    "arrays": partial(_several, kind="array"),
}


def _made(world: World, hole: Hole, choice: Choice) -> Any:
    if choice.kind in _VALUES:
        return _VALUES[choice.kind][choice.pick]
    if choice.kind == "list":
        return _LIST_VALUES[choice.pick]()
    if choice.kind == "module":
        return _module(world, hole)
    return _named(hole, choice.pick) if choice.kind == "named" else _BY_WORLD[choice.kind](world)
