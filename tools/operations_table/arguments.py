"""Arguments to try on every operation alike: a pool of first tensors, of what may follow them, and of keywords."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import torch

from tools.operations_table.trial import Call, Fresh

MAIN, SHORT = 9, 14
"""So many of the first tensors are tried with everything, the others with so many of what may follow."""


@cache
def selves() -> tuple[Any, ...]:
    """Return first tensors: every number of dimensions up to five, elements of every class, some layouts."""
    square = torch.tensor(
        [[2.0, 0.5, 0.1], [0.5, 2.0, 0.3], [0.1, 0.3, 2.0]]
    )  # positive definite: has a Cholesky factor
    return (
        square,
        square[0] / 4,
        torch.tensor(0.5),
        torch.linspace(0.1, 0.9, 6).reshape(2, 3),
        torch.linspace(0.1, 0.9, 24).reshape(2, 3, 4),
        torch.linspace(0.1, 0.9, 32).reshape(1, 2, 4, 4),
        torch.arange(1, 10).reshape(3, 3),
        torch.arange(3),
        torch.arange(9).reshape(3, 3) % 2 == 0,
        # from here on with little after them
        torch.complex(square, square / 2),
        torch.tensor([[0.25]]),
        torch.linspace(0.1, 0.9, 6).reshape(2, 3).T,  # its memory is not in the order of its elements
        torch.linspace(0.1, 0.9, 64).reshape(1, 1, 4, 4, 4),
        *(
            square.to(dtype)
            for dtype in (torch.bfloat16, torch.float16, torch.float64, torch.complex128, torch.complex32)
        ),
        torch.tensor(2),
        *(
            torch.arange(1, 10, dtype=kind).reshape(3, 3)
            for kind in (torch.uint8, torch.int8, torch.int16, torch.int32)
        ),
        torch.tensor(True),
    )


@cache
def odd_selves() -> tuple[Any, ...]:
    """Return tensors of the rare layouts, and some that a backward pass has seen."""
    square = selves()[0]
    return (
        square.to_sparse(),
        square.to_sparse_csr(),
        square.to_sparse_csc(),
        square.to_mkldnn() if torch.backends.mkldnn.is_available() else square,
        torch.quantize_per_tensor(square, 0.1, 0, torch.quint8),
        torch.quantize_per_channel(square, torch.full((3,), 0.1), torch.zeros(3, dtype=torch.int64), 0, torch.qint8),
        Fresh(lambda: _after_backward(create_graph=False)),
        Fresh(lambda: _after_backward(create_graph=True)),
        Fresh(lambda: torch.ones(2, 3, requires_grad=True)),
    )


def _after_backward(create_graph: bool) -> Any:
    leaf = torch.ones(2, 3, requires_grad=True)
    (leaf * leaf).sum().backward(create_graph=create_graph)
    return leaf


@cache
def following(index: int) -> tuple[tuple[Any, ...], ...]:
    """Return what may follow the first tensor of that index: nothing, numbers, dimensions, sizes, indices, tensors."""
    same = selves()[index]
    at, dims = torch.tensor([0, 2]), same.dim()
    mask = torch.ones_like(same, dtype=torch.bool)
    zeros = torch.zeros_like(same, dtype=torch.int64)
    flat = same.reshape(-1)
    rows: list[tuple[Any, ...]] = [
        *((), (0,), (1,), (0.5,), (0, 1), (2,), (same,), (torch.float64,), (torch.int64,), (0.2, 0.8), (1, 0)),
        *((0, 1, 2), (same, same), (same, same, same), (-1,), (True,), (0, 0), (1, 0, 2)),
        *((2, 0, 1), (0, 0, 1), (0, 0, 2), ([1, 2],), ([0, 1],), ((0,), (0,)), (2, 0), ((2, 2), (1, 2)), ([0],)),
        *((tuple(same.shape),), tuple((size,) for size in same.shape[:1]), (tuple([1] * dims),), tuple([1] * dims)),
        *(((3, *same.shape),), (-1, 1), ((-1,),), (1, 1, 1), (1, [1, -1]), (1, 0, 2)),
        *(("cpu",), (torch.float32,), (0, torch.tensor(0)), (at,), (0, at), (0.5, 0), (2, 0, 1.0), (3, 0.0, 1.0)),
        *((same, 1), (same, same, 1.0), (1.0, same), (mask,), (mask, same), (mask, 1.0)),
        *((zeros,), (0, zeros), (0, zeros, same), (0, zeros, 1.0), (0, zeros, same, "sum"), ((zeros,), same)),
        *((flat,), (flat[:3],), (flat, flat), ([same, same],), (same.to(torch.int64),), (zeros, same)),
        *((torch.tensor(0.5),), (torch.tensor(1),), (lambda value: value * 0,), (same, lambda value, _: value)),
        *((same, same, same, same), (same, 0), (same, 0, 1), ("ij->ji",), (torch.tensor([0, 1, 2]), 1)),
        *((), ([0, 1], [1, 0])),
    ]  # fmt: skip
    if dims:
        half = same[: max(1, same.shape[0] // 2)]
        rows += [(same[0],), (half,), (0, torch.tensor([0]), same[:1]), (0, torch.tensor([0]), same[:1], "mean")]
        rows += [(0, torch.tensor([0]), 1.0), (same[:1], 0), (same[0], 0, 0), (same[0], same[0]), (same[..., :1],)]
        rows += [(same.diagonal(), 0) if dims > 1 else (same,), (same.mT if dims > 1 else same,)]
    if dims == 2:
        rows += [(same.unsqueeze(0), same.unsqueeze(0)), (same.mT, same), (same[:, 0], same[0]), (same, same[0])]
        rows += [(same, same.unsqueeze(0)), (same, torch.tensor([1, 2, 3], dtype=torch.int32))]
    return tuple(rows)


@cache
def for_all(method: bool) -> tuple[Call, ...]:
    """Return the calls to try on every operation; a method's first argument is the tensor that offers it."""
    calls = tuple(_of_a_tensor())
    return calls if method else (*calls, *of_several(), *of_no_tensor())


def _of_a_tensor() -> Iterator[Call]:
    for index, first in enumerate(selves()):
        for rest in following(index)[: None if index < MAIN else SHORT]:
            yield Call((first, *rest))
    for first in odd_selves():
        for rest in ((), (0,), (0, 0), (0, 1), (2,), (selves()[0],), (torch.float32,), (torch.int64,), ((9,),)):
            yield Call((first, *rest))


@cache
def of_several() -> tuple[Call, ...]:
    """Return calls whose first argument is a sequence of tensors, or no tensor before one."""
    calls = []
    for first in selves()[: MAIN + 3]:
        mask = torch.ones_like(first, dtype=torch.bool)
        calls += [Call(([first, first], *rest)) for rest in ((), (0,), (1,), ("ij",), (first,))]
        calls += [Call((first, first, first)), Call(("...->...", first)), Call(("i,i->i", first, first))]
        calls += [Call((1.0, first)), Call((2, first)), Call((mask, first, first)), Call((mask, first, 0.0))]
        calls += [Call((mask,)), Call((mask, 1.0, 0.0)), Call(([first], [first]))]
        if first.dim():
            calls.append(Call((torch.zeros(2, dtype=torch.int64), first)))
    return tuple(calls)


@cache
def of_no_tensor() -> tuple[Call, ...]:
    """Return calls without a tensor: sizes, bounds, data, arrays, settings."""
    array = Fresh(lambda: np.ones((2, 3), np.float32))
    indices, size = [[0, 1], [1, 0]], (2, 2)
    return (
        *map(Call, ((), (2,), (2, 3), ((2, 3),), (0, 4), (0, 1, 3), (0.0, 1.0, 3), (5, size), (0, 5, size), (1.5,))),
        *map(Call, (([1.0, 2.0],), ([1, 2],), (size, 1.5), (size, (2, 1)), (size, (0, 1)), (0.0, 1.0, size), (array,))),
        *map(Call, ((indices, [1.0, 2.0], size), ([0, 1, 2], [0, 1], [1.0, 2.0], size))),
        *map(Call, (([0, 1], [0], [[[1.0]]], (1, 1)), ((2, 1), (3, 1)), (torch.float32, torch.int64), ("cpu",))),
        *map(Call, ((torch.float32,), (2, 2, 2), (1, 2.0))),
        Call((Fresh(lambda: bytearray(16)),), {"dtype": torch.float32}),
        Call((2,), {"dtype": torch.float64}),
        Call((indices, [1.0, 2.0]), {}),
        Call(([0, 1, 2], [0, 1], [1.0, 2.0], size), {"layout": torch.sparse_csr}),
        Call((size,), {"scale": 0.1, "zero_point": 0, "dtype": torch.quint8}),
    )  # fmt: skip


@cache
def keywords() -> tuple[dict[str, Any], ...]:
    """Return the keywords to add, one group at a time, to calls that torch accepts."""
    switches = (
        "keepdim inplace training train return_inverse return_counts return_indices return_index sorted stable largest"
        " as_tuple copy hermitian upper full_matrices compute_uv eigenvectors left unbiased some get_infos"
        " log accumulate normalized onesided return_complex non_blocking need_weights hard sparse output_indices"
    ).split()
    return (
        *({word: value} for word, value in product(switches, (True, False))),
        *({"dim": dim} for dim in (0, -1, (0,))),
        {"dim": 0, "return_inverse": True, "return_counts": True},
        *({"dtype": dtype} for dtype in (torch.float64, torch.float32, torch.int64, torch.bool)),
        {"p": 0.5, "training": False},
        {"device": "cpu"},
        *({"reduction": word} for word in ("none", "sum", "mean")),
        {"weight": torch.linspace(0.1, 0.9, 3)},
        {"pos_weight": torch.linspace(0.1, 0.9, 3)},
    )
