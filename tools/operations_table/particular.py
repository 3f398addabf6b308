"""Arguments for operations that neither torch's own samples nor the general pool fit, by the last word of the name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from tools.operations_table.names import Operation
from tools.operations_table.trial import Call, Fresh


def of(operation: Operation) -> Iterator[Call]:
    """Yield the calls made for an operation."""
    make = _MADE.get(operation.word)
    yield from make() if make else ()


def _rising(*shape: int) -> Any:
    """Return a tensor of that shape of numbers between 0.1 and 0.9, which suit most functions."""
    count = int(torch.tensor(shape).prod())
    return torch.linspace(0.1, 0.9, count).reshape(shape)


def _images() -> Any:
    return _rising(2, 3, 4, 4)


_RECURRENT = (False, 1, 0.0, True, False, False)
"""No bias, one layer, no dropout, training, one direction, batch second."""


def _layer(gates: int) -> tuple[Any, ...]:
    return tuple(_rising(4 * gates, width) for width in (3, 4))


def _recurrent(gates: int, state: Callable[[], Any]) -> Callable[[], list[Call]]:
    return lambda: [
        Call((_rising(5, 2, 3), state(), _layer(gates), *_RECURRENT)),
        Call((_rising(10, 3), torch.tensor([2] * 5), state(), _layer(gates), *_RECURRENT[:-1])),
    ]


def _cell(gates: int, state: Callable[[], Any]) -> Callable[[], list[Call]]:
    return lambda: [Call((_rising(2, 3), state(), *_layer(gates)))]


def _hidden(*shape: int) -> Callable[[], Any]:
    return lambda: _rising(*shape)


def _hidden_pair(*shape: int) -> Callable[[], Any]:
    return lambda: (_rising(*shape), _rising(*shape))


def _normalised() -> list[Call]:
    statistics = (_rising(3).requires_grad_(False), _rising(3))
    return [
        *(Call((_images(), _rising(3), _rising(3), *statistics, train, 0.1, 1e-5, False)) for train in (True, False)),
        Call((_images(), _rising(3), _rising(3), None, None, True, 0.1, 1e-5, False)),
    ]


def _dropped() -> list[Call]:
    return [Call((_images(), 0.5, train)) for train in (True, False)]


def _bag() -> list[Call]:
    indices, offsets = torch.tensor([0, 1, 2, 1]), torch.tensor([0, 2])
    weight = _rising(3, 4)
    return [
        Call((weight, indices, offsets)),
        Call((indices, weight, offsets)),
        Call((indices, weight, offsets), {"max_norm": 0.1}),
        *(Call((indices, weight, offsets), {"mode": mode}) for mode in ("sum", "mean", "max")),
    ]


def _embedded() -> list[Call]:
    return [Call((torch.tensor([0, 2]), _rising(3, 4))), Call((torch.tensor([0, 2]), _rising(3, 4)), {"max_norm": 0.1})]


def _sparse(*shape: int) -> Any:
    return torch.eye(*shape).to_sparse()


def _compressed(values: Any) -> Call:
    return Call((torch.tensor([0, 1, 2]), torch.tensor([0, 1]), values, (2, 2)))


_MADE: dict[str, Callable[[], list[Call]]] = {
    "affine_grid": lambda: [Call((_rising(2, 2, 3), (2, 3, 4, 4)))],
    "affine_grid_generator": lambda: [Call((_rising(2, 2, 3), (2, 3, 4, 4), True))],
    "alpha_dropout": _dropped,
    "alpha_dropout_": _dropped,
    "as_subclass": lambda: [Call((_rising(2), torch.Tensor))],
    "batch_norm": _normalised,
    "bincount": lambda: [Call((torch.tensor([0, 1, 1]), _rising(3)))],
    "coalesce": lambda: [Call((torch.sparse_coo_tensor([[0, 0, 1]], _rising(3), (2,)),))],
    "conv_tbc": lambda: [Call((_rising(5, 2, 3), _rising(2, 3, 4), _rising(4)))],
    "convolution": lambda: [Call((_images(), _rising(5, 3, 2, 2), None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1))],
    "ctc_loss": lambda: [
        Call((_rising(6, 2, 4).log_softmax(-1), torch.tensor([[1, 2], [2, 3]]), *lengths))
        for lengths in (((6, 6), (2, 2)), (torch.tensor([6, 6]), torch.tensor([2, 2])))
    ],
    "dropout": _dropped,
    "dropout_": _dropped,
    "embedding": _embedded,
    "embedding_bag": _bag,
    "embedding_renorm_": lambda: [Call((_rising(3, 4), torch.tensor([0, 2]), 0.1, 2.0))],
    "empty_quantized": lambda: [Call(((2, 3), torch.quantize_per_tensor(_rising(2, 3), 0.1, 0, torch.quint8)))],
    "fake_quantize_per_channel_affine": lambda: [
        Call((_rising(2, 3), _rising(3), torch.zeros(3, dtype=kind), 1, 0, 255))
        for kind in (torch.int32, torch.float32)
    ],
    "feature_alpha_dropout": _dropped,
    "feature_alpha_dropout_": _dropped,
    "feature_dropout": _dropped,
    "feature_dropout_": _dropped,
    "float_power_": lambda: [Call((_rising(2, 3).double(), each)) for each in (2.0, _rising(2, 3).double())],
    "fold": lambda: [Call((_rising(1, 12, 9), (4, 4), (2, 2)))],
    "from_file": lambda: [Call((__file__, False, 4), {"dtype": torch.uint8}), Call((__file__, False, 4))],
    "fused_moving_avg_obs_fake_quant": lambda: [
        Call((_rising(2, 3), torch.ones(1), torch.ones(1), torch.zeros(1), torch.ones(1), torch.ones(1),
              torch.zeros(1, dtype=torch.int32), 0.1, 0, 255, 0))
    ],
    "grid_sampler": lambda: [Call((_images(), _rising(2, 4, 4, 2), 0, 0, True))],
    "gru": _recurrent(3, _hidden(1, 2, 4)),
    "gru_cell": _cell(3, _hidden(2, 4)),
    "instance_norm": _normalised,
    "lstm": _recurrent(4, _hidden_pair(1, 2, 4)),
    "lstm_cell": _cell(4, _hidden_pair(2, 4)),
    "map2_": lambda: [Call((_rising(2), _rising(2), _rising(2), lambda first, *_: first))],
    "mkldnn_adaptive_avg_pool2d": lambda: [Call((_images().to_mkldnn(), (2, 2)))],
    "mkldnn_convolution": lambda: [Call((_images(), _rising(5, 3, 2, 2), None, (0, 0), (1, 1), (1, 1), 1))],
    "mkldnn_max_pool2d": lambda: [Call((_images().to_mkldnn(), (2, 2)))],
    "mkldnn_max_pool3d": lambda: [Call((_rising(2, 3, 4, 4, 4).to_mkldnn(), (2, 2, 2)))],
    "native_dropout": lambda: [Call((_images(), 0.5, train)) for train in (True, False)],
    "poisson_nll_loss": lambda: [Call((_rising(3), _rising(3), True, False, 1e-8, reduction)) for reduction in (0, 1)],
    "quantize_per_channel": lambda: [
        Call((_rising(2, 3), _rising(3), torch.zeros(3, dtype=torch.int64), 1, torch.quint8))
    ],
    "quantize_per_tensor": lambda: [Call((_rising(2, 3), 0.1, 0, torch.quint8))],
    "quantize_per_tensor_dynamic": lambda: [Call((_rising(2, 3), torch.quint8, False))],
    "rnn_relu": _recurrent(1, _hidden(1, 2, 4)),
    "rnn_relu_cell": _cell(1, _hidden(2, 4)),
    "rnn_tanh": _recurrent(1, _hidden(1, 2, 4)),
    "rnn_tanh_cell": _cell(1, _hidden(2, 4)),
    **dict.fromkeys(("reshape", "view"), lambda: [Call((each, (-1,))) for each in (_rising(2, 3), _rising(2, 3).T)]),
    "reshape_as": lambda: [Call((_rising(2, 3).T, _rising(6)))],
    "resize_as_sparse_": lambda: [Call((_sparse(3), _sparse(3)))],
    "segment_reduce": lambda: [Call((_rising(4), "sum"), {"lengths": torch.tensor([1, 3])})],
    "sparse_bsc_tensor": lambda: [_compressed(_rising(2, 1, 1))],
    "sparse_bsr_tensor": lambda: [_compressed(_rising(2, 1, 1))],
    "sparse_compressed_tensor": lambda: [_compressed(_rising(2)).adding(layout=torch.sparse_csr)],
    "sparse_coo_tensor": lambda: [Call((torch.tensor([[0, 1], [1, 0]]), _rising(2), (2, 2)))],
    "sparse_csc_tensor": lambda: [_compressed(_rising(2))],
    "sparse_csr_tensor": lambda: [_compressed(_rising(2))],
    "sparse_mask": lambda: [Call((_rising(3, 3), _sparse(3)))],
    "sparse_resize_": lambda: [Call((_sparse(3), (4, 4), 2, 0))],
    "sparse_resize_and_clear_": lambda: [Call((_sparse(3), (4, 4), 2, 0))],
    "saddmm": lambda: [Call((_rising(3, 3), _sparse(3), _rising(3, 3)))],
    "sspaddmm": lambda: [Call((_sparse(3), _sparse(3), _rising(3, 3)))],
    "to_padded_tensor": lambda: [Call((Fresh(_nested), 0.0))],
    "type": lambda: [Call((_rising(2), word)) for word in ("torch.DoubleTensor", "torch.LongTensor")],
    "view_as_complex_copy": lambda: [Call((_rising(3, 2),))],
    "unflatten": lambda: [Call((_rising(6), 0, (2, 3)))],
}  # fmt: skip


def _nested() -> Any:
    return torch.nested.nested_tensor([_rising(2), _rising(3)], requires_grad=torch.is_grad_enabled())
