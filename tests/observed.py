"""What a run of torch observes, held against what was inferred: the judge of the soundness tests."""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from torchlint.facts.value import Device, Dtype, Grad, Kind, Value

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def kind_of(thing: object) -> Kind:
    """Return the kinds under which the inference may speak of a thing."""
    for types, kind in _KINDS:
        if isinstance(thing, types):
            return kind
    return Kind.SEQUENCE if hasattr(thing, "__next__") else Kind.OTHER


_KINDS: tuple[tuple[Any, Kind], ...] = (
    (torch.Tensor, Kind.TENSOR),
    (np.ndarray, Kind.ARRAY),
    (torch.Size, Kind.SIZE),
    ((bool, float, complex), Kind.SCALAR),
    (np.generic, Kind.SCALAR | Kind.INTEGER),
    (int, Kind.INTEGER),
    ((str, bytes), Kind.STRING),
    (type(None), Kind.NONE),
    (torch.nn.Module, Kind.MODULE),
    (torch.device, Kind.DEVICE),
    (torch.dtype, Kind.DTYPE),
    ((list, dict, set, frozenset, range), Kind.SEQUENCE),
    (tuple, Kind.SEQUENCE | Kind.OTHER),  # a named tuple is spoken of as an object of its class
)


def faults(thing: object, value: Value, depth: int = 2) -> list[str]:
    """Return what is observed of a thing but was excluded."""
    if not value.kind & kind_of(thing):
        return [f"a {type(thing).__name__} is none of {value.kind!r}"]
    if isinstance(thing, torch.Tensor):
        return list(_tensor_faults(thing, value))
    found = []
    if isinstance(thing, bool | int | float | str) and value.const is not None and value.const != thing:
        found.append(f"{thing!r} is not {value.const!r}")
    if isinstance(thing, torch.nn.Module):
        found += [f"a parameter: {each}" for p in thing.parameters() for each in _place_faults(p.device, value)]
    if isinstance(thing, torch.device):
        found += _place_faults(thing, value)
    if depth and isinstance(thing, list | tuple) and not isinstance(thing, torch.Size):
        found += _member_faults(list(thing), value, depth)
    if depth and isinstance(thing, dict):
        known = dict(value.keys)
        for key, each in thing.items():
            expected = known.get(key) if isinstance(key, str) else None
            expected = expected or value.member
            found += [f"at {key!r}: {fault}" for fault in faults(each, expected, depth - 1)] if expected else []
    return found


def _tensor_faults(thing: Any, value: Value) -> Iterator[str]:
    if thing.requires_grad and not value.may_require_grad:
        yield f"it requires grad, not {value.grad!r} of {value.dtype!r}"
    if not thing.requires_grad and value.grad == Grad.ATTACHED and value.dtype == Dtype.FLOATING:
        yield "it does not require grad, not certainly attached"
    if not value.dtype & elements(thing):
        yield f"it is of {thing.dtype}, not {value.dtype!r}"
    if value.exact is not None and str(thing.dtype) != f"torch.{value.exact}":
        yield f"it is of {thing.dtype}, not {value.exact}"
    if value.rank is not None and thing.dim() != value.rank:
        yield f"it has {thing.dim()} dimensions, not {value.rank}"
    yield from _place_faults(thing.device, value)


def elements(thing: Any) -> Dtype:
    if thing.dtype == torch.bool:
        return Dtype.BOOL
    return Dtype.FLOATING if thing.is_floating_point() or thing.is_complex() else Dtype.INTEGRAL


def _place_faults(device: Any, value: Value) -> list[str]:
    allowed = Device.UNKNOWN | (Device.HOST if device.type == "cpu" else Device.ACCELERATOR)
    return [] if value.device & allowed else [f"it is on {device}, not {value.device!r}"]


def _member_faults(things: list[object], value: Value, depth: int) -> list[str]:
    if value.items is not None:
        if len(value.items) != len(things):
            return [f"it has {len(things)} members, not {len(value.items)}"]
        pairs = list(zip(things, value.items, strict=True))
    else:
        pairs = [(thing, value.member) for thing in things] if value.member is not None else []
    return [f"[{at}]: {fault}" for at, (thing, each) in enumerate(pairs) for fault in faults(thing, each, depth - 1)]


def revealed(tree: ast.Module) -> dict[int, ast.expr]:
    """Return the expressions that are revealed, by row."""
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="reveal"), args=[inner]):
                assert node.lineno not in found, "one reveal a row"
                found[node.lineno] = inner
    return found


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave nothing behind: neither warnings nor a grad mode."""
    with warnings.catch_warnings(), torch.enable_grad(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")
        yield


class Rows(ast.NodeTransformer):
    """Hand ``reveal`` its row."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "reveal":
            node.args.append(ast.copy_location(ast.Constant(node.lineno), node))
        return node


def lacks_accelerator(error: Exception) -> bool:
    """Return whether code failed because it needs an accelerator and there is none."""
    return bool(re.search(r"CUDA|NVIDIA|xpu|XPU|not compiled|not available|not linked", str(error)))
