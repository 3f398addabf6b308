"""What torch's functions and methods do to grad, as data: measured by calling them, see ``operations.json``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache

from torchlint.facts.value import Kind

FULL_REDUCTIONS = frozenset(
    """
    sum mean prod norm std var max min median nanmedian nansum nanmean amax amin all any argmax argmin logsumexp
    count_nonzero trace dot vdot dist
""".split()
)
"""Reductions whose result is 0-dim where no dimension is given."""

LOSSES = frozenset(
    """
    cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div ctc_loss
    binary_cross_entropy_with_logits hinge_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss
    gaussian_nll_loss soft_margin_loss multi_margin_loss multilabel_margin_loss cosine_embedding_loss
    multilabel_soft_margin_loss triplet_margin_with_distance_loss
""".split()
)
"""Functions of ``torch.nn.functional`` whose result is 0-dim unless ``reduction`` or ``reduce`` says otherwise."""

DISTINCTIVE = frozenset(
    """
    detach requires_grad_ backward unsqueeze unsqueeze_ data_ptr is_contiguous contiguous retain_grad detach_
    new_zeros new_ones new_tensor new_empty new_full type_as scatter scatter_ scatter_add_ index_select
    masked_fill masked_fill_ masked_select narrow addmm bmm baddbmm normal_ uniform_ fill_ zero_ copy_ add_ sub_
    mul_ div_ clamp_ addcmul_ addcdiv_ expand_as view_as argmax argmin topk logsumexp log_softmax sigmoid_ tanh_
    permute unfold gather numel nelement squeeze_ half bernoulli_ random_ exponential_ clamp softmax is_cuda cuda
    unbind matmul mm log_ exp_ sqrt_ pow_ float long transpose_ resize_ resize_as_ index_fill_ index_add_
    index_copy_ lerp_ floor_ ceil_ round_ trunc_ sign_ abs_ neg_ relu_ t_ addr_ map_ apply_ cauchy_ log_normal_
    geometric_ renorm_ tril_ triu_ set_
""".split()
)
"""Methods that among the objects met beside tensors only a tensor (or a module that holds some) has."""

CASTS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}

LEGACY_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


@dataclass(frozen=True)
class Operations:
    """The table for one torch version."""

    torch: str
    methods: frozenset[str]
    functions: frozenset[str]
    never: frozenset[str]
    """Methods by name and functions by full name whose results never require grad."""
    float_but_never: frozenset[str]
    keeps_grad: frozenset[str]
    """Operations whose result is the argument itself or a view of it, and so requires grad even under ``no_grad``."""
    no_tensor: dict[str, Kind]
    """Operations that give no tensor, and what they give."""
    partial: dict[str, tuple[int, ...]]
    """The indices of the results that never require grad."""
    factories: frozenset[str]
    takes_device: frozenset[str]
    """Functions that put their result where ``device=`` says."""
    scalars: dict[str, str]
    """By the last word of an operation the positions and keywords of arguments that never hold a tensor."""

    def knows(self, function: str) -> bool:
        """Whether a full name is a function of torch."""
        return function in self.functions


_ASKED_ELSEWHERE = frozenset("torch.get_default_device".split())
"""Functions whose result is more than its kind: where a device is matters, and the table does not say."""

_WITH_VALUES = frozenset("torch.sparse_coo_tensor".split())
"""Functions that make a tensor of values, whose grad it takes over, and are read as factories nevertheless."""

_INPLACE_UNREAD = frozenset("torch.nn.functional.rrelu".split())
"""Functions that hand their argument on with ``inplace=True`` only, and are read as if they never did."""


@lru_cache(maxsize=1)
def operations() -> Operations:
    """Read the table that comes with torchlint."""
    # Not by `importlib.resources`, whose import takes longer than reading the table.
    with open(os.path.join(os.path.dirname(__file__), "operations.json"), "rb") as stream:
        table = json.load(stream)
    no_tensor = {**table["nontensor_methods"], **table["nontensor_functions"]}
    return Operations(
        torch=table["torch"],
        methods=frozenset(table["methods"]),
        functions=frozenset(table["functions"]) - _ASKED_ELSEWHERE,
        never=frozenset(table["never_methods"] + table["never_functions"]),
        float_but_never=frozenset(table["float_but_never"]),
        keeps_grad=frozenset(table["keeps_grad_methods"] + table["keeps_grad_functions"]) - _INPLACE_UNREAD,
        no_tensor={name: _kind(words) for name, words in no_tensor.items() if name not in _ASKED_ELSEWHERE},
        partial={**_tuples(table["partial_methods"]), **_tuples(table["partial_functions"])},
        factories=frozenset(table["factories"] + table["factory_methods"]) | _WITH_VALUES,
        takes_device=frozenset(table["takes_device"]),
        scalars=table["scalars"],
    )


def _kind(words: list[str]) -> Kind:
    kind = Kind(0)
    for word in words:
        kind |= Kind[word]
    return kind


def _tuples(indices: dict[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(each) for name, each in indices.items()}


def leaf(name: str) -> str:
    """Return the last word of a dotted name."""
    return name.rpartition(".")[2]
