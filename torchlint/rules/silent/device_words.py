"""What makes a tensor on the host, what moves one, and what of torch refuses tensors of two devices."""

from __future__ import annotations

from typing import Final

from torchlint.rules.api import LEGACY_DTYPES

BY_MODULE: Final = ("it comes where its module is, which may be moved",)
"""The reason for a tensor of which no step is told."""
WITHOUT_DEVICE: Final = frozenset({"Tensor", "from_numpy", *LEGACY_DTYPES})
"""Those of the factories that cannot be told a device."""
DATA_FACTORIES: Final = frozenset({"tensor", "as_tensor", "asarray"}) | WITHOUT_DEVICE
FACTORIES: Final = tuple(
    sorted(
        {
            *"zeros ones full empty rand randn randint randperm arange linspace logspace eye tril_indices".split(),
            *"triu_indices hann_window hamming_window blackman_window bartlett_window kaiser_window".split(),
            *DATA_FACTORIES,
        }
    )
)
MOVES: Final = frozenset("to cuda cpu xpu npu mps hpu type type_as".split())
OPERATORS: Final = frozenset("+ - * / // % ** @ & | ^ += -= *= /= //= %= **= @= &= |= ^= == != < <= > >=".split())
"""Operators of two tensors."""
OF_TENSORS_ALONE: Final = frozenset(
    "BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss KLDivLoss L1Loss MSELoss NLLLoss SmoothL1Loss addcdiv "
    "addcmul addmm addmv baddbmm binary_cross_entropy binary_cross_entropy_with_logits bmm cat cdist concat "
    "conv1d conv2d conv3d cosine_similarity cross cross_entropy dot dstack fmax fmin hstack huber_loss index_add "
    "index_add_ index_copy_ index_select inner kl_div kron l1_loss lerp linear logical_and logical_or logical_xor "
    "masked_fill masked_fill_ masked_scatter masked_select matmul maximum minimum mm mse_loss mv nll_loss outer "
    "pairwise_distance scatter_add scatter_add_ scatter_reduce smooth_l1_loss stack take_along_dim vdot vstack".split()
)
"""Functions, methods and losses that refuse tensors of two devices, and of which all that has no other name is one."""
JOINING: Final = OF_TENSORS_ALONE | frozenset(
    "add add_ allclose atan2 bilinear bitwise_and bitwise_or block_diag bucketize cartesian_prod chain_matmul "
    "column_stack cosine_embedding_loss dist div div_ divide einsum embedding eq equal floor_divide fmod gather "
    "ge greater greater_equal grid_sample gt heaviside hypot isclose isin le less less_equal logaddexp lt mul "
    "mul_ multiply nanquantile ne not_equal pow quantile remainder row_stack scaled_dot_product_attention scatter "
    "scatter_ searchsorted sub sub_ subtract take tensordot triplet_margin_loss true_divide where xlogy".split()
)
"""These and those that take numbers, too, as measured on the simulated accelerator."""
LAYERS: Final = frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding EmbeddingBag GRU GRUCell GroupNorm LSTM LSTMCell LayerNorm Linear MultiheadAttention "
    "PReLU RMSNorm RNN RNNCell TransformerEncoderLayer".split()
)
"""Layers whose weights refuse a tensor of another device."""
