"""Calls one operation once and says what was seen: the results, whether they require grad, what was written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

FLOATING, INTEGRAL, BOOL, QUANTIZED = "FLOATING", "INTEGRAL", "BOOL", "QUANTIZED"

_KINDS: tuple[tuple[Any, str], ...] = (
    (torch.Size, "SIZE"),
    ((bool, float, complex, torch.SymBool, torch.SymFloat), "SCALAR"),
    ((int, torch.SymInt), "INTEGER"),
    (str, "STRING"),
    (type(None), "NONE"),
    (torch.device, "DEVICE"),
    (torch.dtype, "DTYPE"),
    (np.ndarray, "ARRAY"),
    ((list, tuple, dict, set), "SEQUENCE"),
)
"""The words of ``torchlint.facts.value.Kind``, first match first."""


@dataclass(frozen=True)
class Call:
    """Arguments as a pattern: every trial makes fresh tensors of it."""

    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def adding(self, **keywords: Any) -> Call:
        """Return the call with further keywords."""
        return Call(self.arguments, {**self.keywords, **keywords})

    @cached_property
    def form(self) -> tuple[Any, ...]:
        """The arguments without what hardly matters: of tensors the dtype, dimensions and layout."""
        return self._form(_tensor_form)

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """The types of the arguments, which are all that torch's parser of arguments looks at."""
        return self._form(lambda tensor: tensor.dim() == 0)

    def _form(self, of_tensor: Callable[[Any], Any]) -> tuple[Any, ...]:
        def form(thing: Any) -> Any:
            if isinstance(thing, torch.Tensor):
                return of_tensor(thing)
            if isinstance(thing, list | tuple):
                return (type(thing).__name__, *map(form, thing))
            return thing if isinstance(thing, bool | str | Fresh) else type(thing).__name__

        return (*map(form, self.arguments), *((word, form(each)) for word, each in sorted(self.keywords.items())))


def _tensor_form(tensor: Any) -> Any:
    return str(tensor.dtype), tensor.dim(), str(tensor.layout), tensor.is_contiguous() if _dense(tensor) else None


def _dense(tensor: Any) -> bool:
    return bool(tensor.layout == torch.strided)


@dataclass(frozen=True)
class Result:
    """One tensor among the results."""

    requires_grad: bool
    elements: str
    device: str


@dataclass(frozen=True)
class Seen:
    """What one call that torch accepted showed."""

    live: bool
    """Whether an argument required grad."""
    floating: bool
    """Whether an argument was a tensor of floating or complex elements."""
    integral: bool
    """Whether there were tensors among the arguments, and all of integers or truth values."""
    tensors_in: int
    kinds: frozenset[str]
    """What the result is where it is no tensor; of a sequence of tensors nothing."""
    results: tuple[tuple[Result, ...], ...]
    """The tensors at each place of the result; one place where the result itself is a tensor."""
    sole: bool
    """Whether the result itself is a tensor."""
    kept: bool = False
    """Whether a result requires grad under ``no_grad`` where an argument does."""
    cut: bool = False
    """Whether a floating result does not require grad under ``no_grad`` though an argument does."""
    shares: bool = False
    """Whether a result shares memory with an argument."""
    written: frozenset[str] = frozenset()
    """The arguments whose elements are others than before, by position or keyword."""

    @property
    def requires_grad(self) -> bool:
        """Whether any result requires grad."""
        return any(each.requires_grad for place in self.results for each in place)


class Refused(Exception):
    """Torch does not accept the call; the text is torch's."""


def attempt(function: Callable[..., Any], call: Call, grad: str, mode: bool = True) -> Seen:
    """Call a function with fresh tensors.

    ``grad`` says which of the floating arguments require grad: ``all``, ``given`` (those of the pattern that do, or
    the first where none does) or ``none``; ``mode`` is the grad mode. :class:`Refused` where torch raises.
    """
    arguments, keywords = _fresh(call, grad)
    tensors = dict(_named_tensors(arguments, keywords))
    before = {name: (each, each.detach().clone(), each._version) for name, each in tensors.items()}
    live = any(each.requires_grad for each in tensors.values())
    memory = {_memory(each) for each in tensors.values()} | {_memory(each) for each in arguments}
    _seed()
    try:
        with torch.set_grad_enabled(mode):
            result = function(*arguments, **keywords)
            if isinstance(result, Iterator):
                result = list(result)
    except Exception as error:  # noqa: BLE001 - whatever torch raises on arguments that it does not want
        raise Refused(f"{type(error).__name__}: {error}") from None
    return _seen(result, before, memory, live=live, mode=mode)


def _seen(result: Any, before: dict[str, Any], memory: set[int], live: bool, mode: bool) -> Seen:
    places = tuple(_places(result))
    found = [each for place in places for each in place]
    places = places if found else ()
    return Seen(
        live=live,
        floating=any(_elements(old) == FLOATING for _, old, _ in before.values()),
        integral=bool(before) and all(_elements(old) in (INTEGRAL, BOOL) for _, old, _ in before.values()),
        tensors_in=len(before),
        kinds=frozenset(_kinds(result)),
        results=tuple(
            tuple(Result(each.requires_grad, _elements(each), each.device.type) for each in place) for place in places
        ),
        sole=isinstance(result, torch.Tensor),
        # some operations hand an empty argument on as it is, which says nothing of others
        kept=not mode and live and any(each.requires_grad and each.numel() for each in found),
        cut=not mode and live and any(not each.requires_grad and _elements(each) == FLOATING for each in found),
        shares=any(_memory(each) in memory - {0} for each in [result, *found]),
        written=frozenset(name for name, (each, old, version) in before.items() if _changed(each, old, version)),
    )


def _changed(tensor: Any, old: Any, version: int) -> bool:
    try:
        if tensor.shape != old.shape or tensor.dtype != old.dtype:
            return True
        same = torch.equal(torch.nan_to_num(tensor.detach()), torch.nan_to_num(old))
    except Exception:  # noqa: BLE001 - layouts that cannot be compared: trust the counter of writes
        return bool(tensor._version != version)
    return not same


def _memory(thing: Any) -> int:
    """Return the address of what holds the elements of a tensor or an array; 0 where there is none."""
    if isinstance(thing, np.ndarray):
        return int(thing.ctypes.data)
    try:
        return int(thing.untyped_storage().data_ptr()) if isinstance(thing, torch.Tensor) else 0
    except Exception:  # noqa: BLE001 - sparse and wrapped tensors have no storage of their own
        return 0


def _places(result: Any) -> Iterator[list[Any]]:
    if isinstance(result, tuple | list) and not isinstance(result, torch.Size):
        yield from (list(_flat(each)) for each in result)
    elif isinstance(result, torch.Tensor | dict):
        yield list(_flat(result))


def _flat(thing: Any) -> Iterator[Any]:
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from _flat(each)
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from _flat(each)


def _kinds(result: Any) -> Iterator[str]:
    if isinstance(result, torch.Tensor) or next(_flat(result), None) is not None:
        return
    yield next((kind for types, kind in _KINDS if isinstance(result, types)), "OTHER")


def _elements(tensor: Any) -> str:
    if tensor.dtype == torch.bool:
        return BOOL
    if tensor.is_quantized:
        return QUANTIZED
    return FLOATING if tensor.is_floating_point() or tensor.is_complex() else INTEGRAL


# ---------------------------------------------------------------------- fresh arguments
def _fresh(call: Call, grad: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    marked = [each for _, each in _named_tensors(call.arguments, dict(call.keywords)) if each.requires_grad]
    floating = [each for _, each in _named_tensors(call.arguments, dict(call.keywords)) if _elements(each) == FLOATING]
    wanted = {"all": floating, "given": marked or floating[:1], "none": []}[grad]
    ids = {id(each) for each in wanted}

    def copied(thing: Any) -> Any:
        if isinstance(thing, torch.Tensor):
            made = thing.detach().clone()
            return made.requires_grad_().clone() if id(thing) in ids else made
        if type(thing) in (list, tuple):
            return type(thing)(copied(each) for each in thing)
        if isinstance(thing, dict):
            return {key: copied(each) for key, each in thing.items()}
        return thing() if isinstance(thing, Fresh) else thing

    with torch.enable_grad():
        return tuple(copied(each) for each in call.arguments), {
            key: copied(each) for key, each in call.keywords.items()
        }


@dataclass(frozen=True)
class Fresh:
    """An argument that must be made anew for every call, such as an array or a tensor after a backward pass."""

    make: Callable[[], Any]

    def __call__(self) -> Any:
        """Make it."""
        return self.make()


def _named_tensors(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, thing in [*((str(at), each) for at, each in enumerate(arguments)), *keywords.items()]:
        for at, each in enumerate(_flat(thing)):
            yield (name if each is thing else f"{name}[{at}]"), each


def _seed() -> None:
    torch.default_generator.manual_seed(0)  # a tenth of a per mille of the time of `torch.manual_seed`


@contextlib.contextmanager
def settings_kept() -> Iterator[Callable[[], bool]]:
    """Yield what says whether a setting of the program is another than on entry."""
    before = _settings()
    yield lambda: _settings() != before


def _settings() -> tuple[Any, ...]:
    return (
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_num_threads(),
    )
