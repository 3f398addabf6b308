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
JOINING: Final = frozenset(
    "BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss KLDivLoss L1Loss MSELoss NLLLoss SmoothL1Loss add add_ "
    "addcdiv addcmul addmm addmv allclose atan2 baddbmm bilinear binary_cross_entropy "
    "binary_cross_entropy_with_logits bitwise_and bitwise_or block_diag bmm bucketize cartesian_prod cat cdist "
    "chain_matmul column_stack concat conv1d conv2d conv3d cosine_embedding_loss cosine_similarity cross "
    "cross_entropy dist div div_ divide dot dstack einsum embedding eq equal floor_divide fmax fmin fmod gather ge "
    "greater greater_equal grid_sample gt heaviside hstack huber_loss hypot index_add index_add_ index_copy_ "
    "index_select inner isclose isin kl_div kron l1_loss le lerp less less_equal linear logaddexp logical_and "
    "logical_or logical_xor lt masked_fill masked_fill_ masked_scatter masked_select matmul maximum minimum mm "
    "mse_loss mul mul_ multiply mv nanquantile ne nll_loss not_equal outer pairwise_distance pow quantile remainder "
    "row_stack scaled_dot_product_attention scatter scatter_ scatter_add scatter_add_ scatter_reduce searchsorted "
    "smooth_l1_loss stack sub sub_ subtract take take_along_dim tensordot triplet_margin_loss true_divide vdot vstack "
    "where xlogy".split()
)
"""Functions, methods and losses that refuse tensors of two devices, as measured on the simulated one."""
OF_TENSORS_ALONE: Final = frozenset(
    "BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss KLDivLoss L1Loss MSELoss NLLLoss SmoothL1Loss addcdiv "
    "addcmul addmm addmv baddbmm binary_cross_entropy binary_cross_entropy_with_logits bmm cat cdist concat conv1d "
    "conv2d conv3d cosine_similarity cross cross_entropy dot dstack fmax fmin hstack huber_loss index_add index_add_ "
    "index_copy_ index_select inner kl_div kron l1_loss lerp linear logical_and logical_or logical_xor masked_fill "
    "masked_fill_ masked_scatter masked_select matmul maximum minimum mm mse_loss mv nll_loss outer pairwise_distance "
    "scatter_add scatter_add_ scatter_reduce smooth_l1_loss stack take_along_dim vdot vstack".split()
)
"""Those of them of which all that has no other name is a tensor."""
REDUCING: Final = frozenset(
    "all amax amin any argmax argmin count_nonzero logsumexp max mean median min nanmean nansum norm prod squeeze std "
    "sum var".split()
)
"""Functions and methods that give fewer dimensions."""
LAYERS: Final = frozenset(
    "BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding EmbeddingBag GRU GRUCell GroupNorm LSTM LSTMCell LayerNorm Linear MultiheadAttention "
    "PReLU RMSNorm RNN RNNCell TransformerEncoderLayer".split()
)
"""Layers whose weights refuse a tensor of another device."""
