"""Which functions, methods and layers of torch keep a tensor where it is, and which refuse tensors of two devices."""

from __future__ import annotations

KEEPING = frozenset(
    "view reshape flatten unsqueeze repeat expand permute transpose t contiguous clone float long int double half bool "
    "detach type tril triu repeat_interleave expand_as view_as reshape_as sqrt exp log abs neg square cumsum tile "
    "cumprod flip roll fill_ zero_ normal_ uniform_ bernoulli_ clamp requires_grad_ sigmoid tanh softmax log_softmax "
    "relu cos sin round floor ceil sign reciprocal rsqrt diff argsort nan_to_num logical_not broadcast_to unflatten "
    "movedim pad swapaxes swapdims one_hot zeros_like ones_like full_like empty_like rand_like randn_like diag_embed "
    "to".split()
)
"""Methods and functions that give a tensor with dimensions on the device of the one that they are given.

Of those that may move it (``to``) inference tells whether they do.
"""
PERHAPS_MOVING = frozenset({"to", "type"})
JOINING = frozenset(
    "cat concat stack hstack vstack where matmul mm bmm mv dot outer add sub mul div maximum minimum pow fmod lerp "
    "addmm baddbmm einsum kron cross cdist dist logical_and logical_or logical_xor eq ne lt le gt ge isin bucketize "
    "searchsorted gather scatter scatter_add index_select index_add masked_fill masked_select take_along_dim logaddexp "
    "linear conv1d conv2d conv3d embedding mse_loss l1_loss smooth_l1_loss cross_entropy nll_loss kl_div "
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity grid_sample "
    "scaled_dot_product_attention add_ sub_ mul_ div_ scatter_ scatter_add_ scatter_reduce index_add_ index_copy_ "
    "masked_fill_ gather addcmul addcdiv cosine_embedding_loss huber_loss quantile nanquantile heaviside hypot atan2 "
    "remainder floor_divide true_divide multiply subtract divide greater less less_equal greater_equal not_equal fmin "
    "fmax inner vdot tensordot chain_matmul block_diag cartesian_prod dstack column_stack row_stack bitwise_and "
    "bitwise_or xlogy isclose allclose equal addmv masked_scatter take bilinear pairwise_distance "
    "triplet_margin_loss".split()
)
"""Functions and methods that refuse tensors of two devices; what this holds is measured on the simulated one."""
COMBINING = frozenset(
    "cat concat stack hstack vstack dstack column_stack where outer add sub mul div maximum minimum pow gather "
    "masked_fill cross kron block_diag cartesian_prod logical_and logical_or logical_xor eq ne lt le gt ge greater "
    "greater_equal less less_equal not_equal fmin fmax multiply subtract divide true_divide floor_divide fmod "
    "remainder bitwise_and bitwise_or atan2 hypot xlogy logaddexp".split()
)
"""Those of them whose result has dimensions where what they are given has some, and is where that is."""
PRODUCTS = {"mm": 2, "addmm": 2, "outer": 2, "cdist": 2, "bmm": 3, "baddbmm": 3}
"""Those of them whose result has so many dimensions, whatever they are given."""
LISTED = frozenset("cat concat stack hstack vstack dstack".split())
"""Those of them that join the members of a list."""
REDUCING = frozenset(
    "sum mean prod any all amax amin argmax argmin norm std var logsumexp count_nonzero nansum nanmean".split()
)
"""Methods and functions that give fewer dimensions, or one number, on the device of the one that they are given."""
ONLY_OF_TENSORS = frozenset(
    "index_select index_add index_add_ index_copy_ scatter_add scatter_add_ scatter_reduce masked_fill masked_fill_ "
    "masked_select masked_scatter take_along_dim bmm baddbmm addmm addmv addcmul addcdiv lerp".split()
)
"""Methods that nothing but a tensor has: what they are asked of is one."""
PAIRING = frozenset(
    "matmul mm bmm mv dot outer cross cdist kron inner vdot linear conv1d conv2d conv3d mse_loss l1_loss "
    "smooth_l1_loss huber_loss cross_entropy nll_loss kl_div binary_cross_entropy cosine_similarity "
    "binary_cross_entropy_with_logits pairwise_distance logical_and logical_or logical_xor maximum minimum fmin "
    "fmax".split()
)
"""Functions of torch whose first two arguments are tensors and nothing else."""
TAKING = JOINING | KEEPING | REDUCING | {"meshgrid"}
LAYERS = frozenset(
    f"torch.nn.{each}"
    for each in (
        "Linear Bilinear Embedding EmbeddingBag Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
        "LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d LSTM GRU RNN LSTMCell GRUCell RNNCell PReLU "
        "MultiheadAttention TransformerEncoderLayer"
    ).split()
)
"""Layers whose weights refuse a tensor of another device."""
RECURRENT = frozenset(f"torch.nn.{each}" for each in "LSTM LSTMCell".split())
"""Those of them that are given two states together."""
LOSSES = frozenset(
    f"torch.nn.{each}Loss" for each in "BCE BCEWithLogits MSE L1 SmoothL1 Huber CrossEntropy NLL KLDiv".split()
)
"""Losses that refuse tensors of two devices."""
