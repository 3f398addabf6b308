"""How many dimensions the result of an operation has, as bits; any number where that does not follow from the call."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from torchlint.models.descent import constants_of
from torchlint.models.operation_sets import ALWAYS_FULL, FULL_REDUCTIONS, words
from torchlint.semantic.graph import SEQUENCE as SEQUENCE_NODE
from torchlint.semantic.graph import Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract
from torchlint.values.asking import CallSite

SCALAR_RANK: Final = 1
_MOST: Final = a.RANKS[-1]

LOSSES: Final = words("""
    cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div ctc_loss
    binary_cross_entropy_with_logits hinge_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss
    gaussian_nll_loss soft_margin_loss multi_margin_loss multilabel_margin_loss cosine_embedding_loss
    multilabel_soft_margin_loss triplet_margin_with_distance_loss
""")
"""Functions of ``torch.nn.functional`` whose result has no dimension unless ``reduction`` says otherwise."""

_LIKE_FIRST: Final = words("""
    abs absolute acos acosh alpha_dropout angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh
    bernoulli celu ceil clone conj conj_physical contiguous cos cosh cpu cuda cummax cummin cumprod cumsum
    dequantize detach digamma dropout elu erf erfc erfinv exp exp2 expm1 fix flip fliplr flipud floor frac gelu glu
    hardshrink hardsigmoid hardswish hardtanh i0 isfinite isinf isnan isneginf isposinf isreal layer_norm leaky_relu
    lgamma log log10 log1p log2 log_softmax logcumsumexp logical_not logit logsigmoid mish nan_to_num neg
    negative normalize positive reciprocal relu relu6 resolve_conj resolve_neg roll round rrelu rsqrt selu sgn sigmoid
    sign signbit silu sin sinc sinh softmax softmin softplus softshrink softsign sort sqrt square tan tanh tanhshrink
    threshold tril triu trunc argsort index_add index_copy index_fill scatter scatter_add index_select gather renorm
    msort chunk split tensor_split narrow swapaxes swapdims transpose movedim moveaxis batch_norm
    group_norm instance_norm bitwise_not zeros_like ones_like rand_like randn_like empty_like full_like randint_like
    requires_grad_ pin_memory to type type_as float double half bfloat16 long int short char byte bool xpu t cat concat
    concatenate topk
""")
"""Operations whose result has as many dimensions as the first tensor (of a list: as each)."""

_BROADCAST: Final = words("""
    masked_fill add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power
    maximum minimum fmax fmin atan2 arctan2 hypot logaddexp logaddexp2 eq ne lt le gt ge greater less greater_equal
    less_equal not_equal isclose logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor where lerp
    addcmul addcdiv clamp clip clamp_min clamp_max copysign nextafter heaviside ldexp xlogy rsub
""")
"""Operations on each element, whose operands are broadcast."""

_FIXED: Final = {
    **dict.fromkeys(words("mm addmm ger outer nonzero argwhere"), a.RANKS[2]),
    **dict.fromkeys(words("bmm baddbmm"), a.RANKS[3]),
    **dict.fromkeys(words("mv addmv ravel masked_select bincount histc"), a.RANKS[1]),
    **dict.fromkeys(ALWAYS_FULL, SCALAR_RANK),
}  # fmt: skip
_MORE: Final = words("stack one_hot diag_embed")
"""Operations whose result has a dimension more than the first tensor."""
_SIZED: Final = words("view reshape expand broadcast_to permute view_copy")
"""Operations that are told the sizes, or the dimensions, of the result."""


def lower(rank: int) -> int:
    """Return the ranks with a dimension less; what has none keeps none."""
    return rank & 1 | rank >> 1 | rank & _MOST


def higher(rank: int) -> int:
    """Return the ranks with a dimension more."""
    return (rank << 1 | rank & _MOST) & a.ANY_RANK


def at_most(rank: int) -> int:
    """Return all ranks up to the largest possible one."""
    return (1 << rank.bit_length()) - 1 if rank else 0


@lru_cache(maxsize=1024)
def broadcast(one: int, two: int) -> int:
    """Return the ranks of what two tensors are broadcast to: the larger of each pair."""
    result = 0
    for mine in a.RANKS:
        for theirs in a.RANKS:
            if mine & one and theirs & two:
                result |= max(mine, theirs)
    return result


@lru_cache(maxsize=1024)
def multiplied(one: int, two: int) -> int:
    """Return the ranks of a matrix product of two tensors."""
    result = 0
    for mine in a.RANKS[1:]:
        for theirs in a.RANKS[1:]:
            if not (mine & one and theirs & two):
                continue
            if mine == a.RANKS[1]:
                result |= theirs >> 1 if theirs != _MOST else a.RANKS[4] | _MOST
            elif theirs == a.RANKS[1]:
                result |= mine >> 1 if mine != _MOST else a.RANKS[4] | _MOST
            else:
                result |= max(mine, theirs)
    return result or a.ANY_RANK


def of_dimensions(count: int) -> int:
    """Return the bit of a number of dimensions."""
    return a.RANKS[min(count, len(a.RANKS) - 1)]


def of_sizes(site: CallSite, first: int, keyword: str = "size", last: int | None = None) -> int:
    """Return the rank that a call is told by sizes: ``zeros(2, 3)``, ``zeros((2, 3))``; ``first`` is their position."""
    given = site.given.positional[first:last]
    if any(at >= first for at in site.given.starred):
        return a.ANY_RANK
    if not given:
        node = site.given.keywords.get(keyword)
        return _of_size_argument(site, node) if node is not None else a.ANY_RANK
    return of_dimensions(len(given)) if len(given) > 1 else _of_size_argument(site, given[0])


def _of_size_argument(site: CallSite, node: Node) -> int:
    if node.op == SEQUENCE_NODE and node.data in ("tuple", "list"):
        return of_dimensions(len(node.ins))
    value = site.asker.value(node, (), site.context)
    return a.RANKS[1] if value.must(a.INTEGER) else a.ANY_RANK


def dimension_of(site: CallSite, position: int) -> Abstract | None:
    """Return what a call says with ``dim``; None where it says nothing."""
    given = site.value(position, "dim")
    return given if given is not None else site.value(None, "axis")


def of_result(site: CallSite, name: str, rank: int, broadcast_rank: int, first: int) -> int:
    """Return the ranks of an operation's result.

    ``rank`` is that of the first tensor, ``broadcast_rank`` that of all operands together, and ``first`` the position
    of the first argument behind the tensor: 0 for a method, 1 for a function.
    """
    word = name.rpartition(".")[2]
    if word in _LIKE_FIRST:
        return rank
    if word in _BROADCAST:
        return broadcast_rank
    if word in _FIXED:
        return _FIXED[word]
    if word in FULL_REDUCTIONS or word in ("kthvalue", "mode"):
        return _of_reduction(site, word, rank, first)
    if word in _MORE or word == "unsqueeze":
        return higher(rank)
    if word in _SIZED:
        return _of_sized(site, rank, first)
    if word in ("select", "unbind", "diagonal"):
        return lower(rank)
    if word in ("squeeze", "flatten", "squeeze_"):
        return _of_smaller(site, word, rank, first)
    if word in LOSSES and ".functional." in name:
        return SCALAR_RANK if reduces(site) else a.ANY_RANK
    if word in ("view_as", "reshape_as", "expand_as"):
        other = site.value(first, "other")
        return other.rank if other is not None and other.must(a.TENSOR) else a.ANY_RANK
    return at_most(rank) if word == "sum_to_size" else a.ANY_RANK


def _of_reduction(site: CallSite, word: str, rank: int, first: int) -> int:
    position = first + (word in ("norm", "kthvalue", "quantile", "nanquantile"))
    dim = dimension_of(site, position)
    if dim is None and (site.given.starred or site.given.spread):
        return a.ANY_RANK
    if dim is None or dim.must(a.NONE):
        return SCALAR_RANK if word in FULL_REDUCTIONS else lower(rank)
    if dim.must(a.TENSOR):  # max(a, b), or a number of integers without dimensions
        return broadcast(rank, dim.rank) | lower(rank)
    if dim.must(a.SCALAR):  # std(unbiased)
        return SCALAR_RANK
    if not dim.must(a.NUMBER | a.SEQUENCE | a.SIZE):
        return a.ANY_RANK
    keeps = site.value(None, "keepdim")
    if keeps is None and len(site.given.positional) > position + 1:
        return at_most(rank)
    said = constants_of(keeps) if keeps is not None else frozenset({False})
    smaller = lower(rank) if dim.must(a.NUMBER) else at_most(rank)
    if said is None:
        return smaller | rank
    return (rank if True in said else 0) | (smaller if False in said or not said else 0)


def _of_sized(site: CallSite, rank: int, first: int) -> int:
    given = site.value(first, "dtype")
    if given is not None and given.must(a.DTYPE):
        return rank
    return of_sizes(site, first, "shape")


def _of_smaller(site: CallSite, word: str, rank: int, first: int) -> int:
    given = site.given.positional[first:] or site.given.keywords
    if word == "flatten":
        return at_most(rank) & ~1 | a.RANKS[1] if given else a.RANKS[1]
    dim = dimension_of(site, first)
    return rank | lower(rank) if dim is not None and dim.must(a.INTEGER) else at_most(rank)


def reduces(site: CallSite) -> bool:
    """Whether a loss is reduced to one number: by default, and with ``mean`` or ``sum``."""
    said = site.value(None, "reduction")
    legacy = site.value(None, "reduce")
    if site.given.spread or (legacy is not None and constants_of(legacy) != frozenset({True})):
        return False
    if said is None:
        return all(site.asker.value(each, (), site.context).must(a.TENSOR) for each in site.given.positional[2:])
    known = constants_of(said)
    return known is not None and known <= {"mean", "sum", "batchmean"}
