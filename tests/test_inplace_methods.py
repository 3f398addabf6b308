"""The table of in-place methods, measured again with the torch at hand: `x.data.foo_()` against `x.foo_()`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests import nightly
from torchlint.rules.data.tensor_uses import ALIKE, CALLING_BACK, REFORMING

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    nightly.only("measuring the in-place methods of torch again"),
]

torch = pytest.importorskip("torch")

MAKERS: dict[str, Callable[[], Any]] = {
    "floating": lambda: torch.linspace(0.1, 0.9, 9).reshape(3, 3),
    "integral": lambda: torch.arange(1, 10).reshape(3, 3),
    "bool": lambda: (torch.arange(9) % 2 == 0).reshape(3, 3),
}
SHAPES: dict[str, Callable[[Any], Any]] = {
    "plain": lambda made: made,
    "row": lambda made: made[:1].clone(),
    "leaf": lambda made: made.requires_grad_(),
    "result": lambda made: made.requires_grad_() * 1,
}
CASES = [(kind, shape) for kind in MAKERS for shape in SHAPES if kind == "floating" or shape in ("plain", "row")]


@cache
def arguments(kind: str) -> list[tuple[Any, ...]]:
    same, index, mask = MAKERS[kind](), torch.tensor([0, 2]), torch.tensor([[True, False, True]] * 3)
    where = torch.zeros(3, 3, dtype=torch.long)
    return [
        *((), (1,), (2,), (0.5,), (0, 1), (0.2, 0.8), (0,), (0, 0), (2, 0, 1.0), ((9,),), ((3, 3),), ((2, 2), (1, 2))),
        *((same,), (same, same), (mask, same), (mask, 1), (same[0], same[0]), (same[:1],), (same, same, 1.0)),
        *((0, index, 1), (0, index, same[:2]), (0, where, same), (0, where, 1.0), (0, where, same, "sum")),
        *((index, same[0, :2]), ((torch.tensor([0, 1]), torch.tensor([1, 2])), same[0, :2])),
        (torch.stack([same, same]), torch.stack([same, same])),
        (lambda value: value * 0,),
        (same, lambda value, other: value),
    ]


@cache
def outcome(kind: str, shape: str, name: str, at: int, way: str) -> tuple[object, ...]:
    given = arguments(kind)[at]
    torch.manual_seed(0)
    x = SHAPES[shape](MAKERS[kind]())
    memory = x.data_ptr()
    error = None
    try:
        if way == "no_grad":
            with torch.no_grad():
                getattr(x, name)(*given)
        else:
            getattr(x.data if way == "data" else x.detach(), name)(*given)  # torchlint: ignore[TNS201] what is asked
    except Exception as raised:  # noqa: BLE001 - whatever a method may raise on odd arguments
        error = type(raised).__name__
    size = x.untyped_storage().nbytes()
    state = tuple(x.shape), x.stride(), x.dtype, x.requires_grad, x.is_leaf, x.storage_offset(), size
    return error, *state, x.data_ptr() == memory, repr(x.detach().flatten().tolist())


def differs(name: str, one: str, other: str) -> bool | None:
    """Whether the method does something else; None where no arguments were found that it accepts."""
    ran = None
    for kind, shape in CASES:
        for at in range(len(arguments(kind))):
            before = outcome(kind, shape, name, at, one)
            if before[0] is None:
                if before != outcome(kind, shape, name, at, other):
                    return True
                ran = False
    return ran


@pytest.mark.parametrize("name", sorted(ALIKE))
def test_a_listed_method_does_the_same_under_no_grad(name: str) -> None:
    assert differs(name, "data", "no_grad") is False


@pytest.mark.parametrize("name", sorted((REFORMING | CALLING_BACK) - {"map2_"}))
def test_a_method_that_changes_the_form_is_not_listed(name: str) -> None:
    if hasattr(torch.Tensor, name) and "sparse" not in name:
        assert differs(name, "data", "no_grad")
    assert name not in ALIKE


@pytest.mark.parametrize("name", sorted(ALIKE | REFORMING | CALLING_BACK))
def test_detach_does_the_same_as_data(name: str) -> None:
    assert not differs(name, "data", "detach")
