"""What torch's layers do with their arguments: most take numbers only, some keep a tensor or a module given to them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.rules.api import leaf

_NUMBERS_ONLY = frozenset(
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d "
    "AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d "
    "BatchNorm3d Bilinear CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d "
    "ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "CosineEmbeddingLoss CosineSimilarity CrossMapLRN2d Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout "
    "Flatten Fold GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh "
    "HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d "
    "LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d "
    "LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d "
    "LazyInstanceNorm3d LazyLinear LeakyReLU Linear LocalResponseNorm LogSigmoid LogSoftmax MSELoss "
    "MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish MultiLabelMarginLoss "
    "MultiheadAttention PReLU PairwiseDistance PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU "
    "ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
    "SELU SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh "
    "Tanhshrink Threshold TripletMarginLoss Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d "
    "ZeroPad1d ZeroPad2d ZeroPad3d".split()
)
"""Layers that keep nothing of what they are given but numbers and texts (read in torch 2.13)."""
_MANY = 1_000
_NUMBERS = dict.fromkeys(_NUMBERS_ONLY, _MANY) | {
    **dict.fromkeys(("Embedding", "EmbeddingBag"), 7),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer", "FractionalMaxPool2d"), 4),
    **dict.fromkeys(("FractionalMaxPool3d", "SyncBatchNorm"), 4),
    **dict.fromkeys(("BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "NLLLoss", "MultiLabelSoftMarginLoss"), 0),
    "MultiMarginLoss": 2,
}
"""So many arguments of a layer are numbers or texts; behind them stands what it may keep."""
_KEPT = frozenset({"weight", "_weight", "pos_weight", "activation", "_random_samples", "process_group"})
"""Keywords of those layers by which they are given a tensor or a module to keep."""


def kept_by_layer(
    names: frozenset[str], given: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> tuple[ast.expr, ...]:
    """Return the arguments that a layer of torch may keep; of one that is not known, all of them."""
    count = _count(names)
    before = next((at for at, each in enumerate(given) if isinstance(each, ast.Starred)), len(given))
    kept = given[min(before, count) :] if count < _MANY else ()
    named = [
        each.value
        for each in keywords
        if not _are_known(names) or each.arg in _KEPT or (each.arg is None and count < _MANY)
    ]
    return (*kept, *named)


def numbers_of_layer(names: frozenset[str], given: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """Return the arguments of a layer of torch that can only be numbers or texts."""
    return given[: _count(names)]


def _are_known(names: frozenset[str]) -> bool:
    """Whether it is known what layers of these names keep."""
    return bool(names) and all(leaf(each) in _NUMBERS for each in names)


def _count(names: frozenset[str]) -> int:
    return min((_NUMBERS.get(leaf(each), 0) for each in names), default=0)
