"""How code finds the device: every spelling of ``cuda`` leads to it, and what torch says of it reads ``cuda``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlint.proof.simulated.host_copies import copied_deep, typed_names
from torchlint.proof.simulated.memory import BACKEND, on_device, true_device
from torchlint.proof.simulated.namespace import NAMESPACE

CUDA = torch.device("cuda", 0)
_REFUSALS = (TypeError, RuntimeError, ValueError, NotImplementedError, AssertionError)
_BY_KEYWORD = ("device", "map_location")
_BY_PLACE = ("to", "cuda", "new_tensor")
_ABSENT: Any = object()


def translated(value: Any) -> Any:
    """Give the device that is meant where ``cuda`` is said; anything else as it is."""
    if isinstance(value, str):
        return value.replace("cuda", BACKEND, 1) if re.fullmatch(r"cuda(:\d+)?", value) else value
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device(BACKEND, value.index or 0)
    return value


def said(text: str) -> str:
    """Give a text of torch's with ``cuda`` in the place of the backend's own name."""
    text = re.sub(rf"torch\.{BACKEND}\.", "torch.cuda.", text)
    return re.sub(rf"(?<![\w.]){BACKEND}(?=:\d|['\"]|,|$| )", "cuda", text)


class SpelledCuda(TorchFunctionMode):  # type: ignore[misc]  # torch is not read
    """Reads ``cuda`` in calls of torch as the simulated device."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call what was called, with the device that was meant; see torch's own protocol."""
        name = getattr(func, "__name__", "")
        if name == "__get__":  # an attribute: most calls by far
            return func(*args)
        try:
            if not kwargs and name not in _READ:
                return func(*args)
            values, keywords = _reading(name, args, dict(kwargs or {}))
            if (own := _OWN.get(name)) is not None:
                return own(func, *values, **keywords)
            return func(*values, **keywords)
        except _REFUSALS as error:
            text = said(str(error))
            if text == str(error):
                raise
            raise type(error)(text) from None


def _reading(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    for each in _BY_KEYWORD:
        if each in keywords:
            keywords[each] = translated(keywords[each])
    values = [translated(value) if at and name in _BY_PLACE else value for at, value in enumerate(args)]
    if name in ("to", "copy_", "type", "cuda", "cpu"):
        keywords.pop("non_blocking", None)  # the host has one stream, and no pinned memory
    return values, keywords


def _type(func: Any, tensor: Any, kind: Any = None, *_: Any, **keywords: Any) -> Any:
    kind = keywords.get("dtype", kind)
    if kind is None:
        return said(func(tensor))
    if (dtype := typed_names(kind)) is not None:
        return tensor.to(BACKEND, dtype)
    return func(tensor, kind)


def _cuda(_: Any, tensor: Any, device: Any = None, **__: Any) -> Any:
    if isinstance(device, int):
        device = torch.device("cuda", device)
    return tensor.to(BACKEND if device is None else translated(device))


_OWN: dict[str, Callable[..., Any]] = {
    "type": _type,
    "cuda": _cuda,
    "pin_memory": lambda _, tensor, *__: tensor,
    "is_pinned": lambda *_, **__: False,
}
_READ = frozenset({*_BY_PLACE, *_OWN})
"""Calls that may name a device without a keyword."""


# ---------------------------------------------------------------------- what is not called through torch's protocol
def _set_default_device(device: Any) -> None:
    _set(translated(device))


def _default_device() -> torch.device:
    found = _get()
    return CUDA if found.type == BACKEND else found


_set, _get = torch.set_default_device, torch.get_default_device
_to, _legacy_default = torch.nn.Module.to, torch.set_default_tensor_type


def _module_to(module: Any, *values: Any, **keywords: Any) -> Any:
    keywords = {name: translated(value) for name, value in keywords.items() if name != "non_blocking"}
    return _to(module, *map(translated, values), **keywords)


def _module_cuda(module: Any, device: Any = None) -> Any:
    return module._apply(lambda tensor: tensor.cuda(device))  # noqa: SLF001 - as torch's own does


def _legacy_default_type(kind: Any) -> None:
    if typed_names(kind) is not None:
        raise NotImplementedError("the simulated device is no default tensor type")
    _legacy_default(kind)


_PATCHES: tuple[tuple[Any, str, Any], ...] = (
    (torch.Tensor, "device", property(lambda tensor: CUDA if on_device(tensor) else true_device(tensor))),
    (torch.Tensor, "is_cuda", property(on_device)),
    (torch.Tensor, "get_device", lambda tensor: 0 if on_device(tensor) else -1),
    (torch.Tensor, "__deepcopy__", copied_deep),
    (torch.nn.Module, "to", _module_to),
    (torch.nn.Module, "cuda", _module_cuda),
    (torch, "set_default_device", _set_default_device),
    (torch, "get_default_device", _default_device),
    (torch, "set_default_tensor_type", _legacy_default_type),
    *((torch.cuda, name, value) for name, value in NAMESPACE.items()),
)
_entered = False


@contextlib.contextmanager
def spelled() -> Iterator[None]:
    """Spell the device for the length of a block; within another such block nothing changes."""
    global _entered  # noqa: PLW0603 - there is one process to speak for
    if _entered:
        yield
        return
    before = [(owner, name, vars(owner).get(name, _ABSENT)) for owner, name, _ in _PATCHES]
    for owner, name, value in _PATCHES:
        setattr(owner, name, value)
    _entered = True
    try:
        with SpelledCuda():
            yield
    finally:
        _entered = False
        for owner, name, value in before:
            delattr(owner, name) if value is _ABSENT else setattr(owner, name, value)
