"""What the elements of an operation's result are: floats, integers or truth values."""

from __future__ import annotations

from torchlint.facts.value import Dtype, Grad, Kind, Value, of_kind, tensor
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.operations import leaf, operations
from torchlint.inference.models.tables import words

_KEEPING_INTEGERS = words("""
    clone abs absolute neg negative sum prod cumsum cumprod nansum add sub subtract mul multiply square clamp
    clamp_min clamp_max clip max min maximum minimum fmin fmax remainder fmod floor_divide index_select gather
    take take_along_dim masked_select masked_fill where cat concat concatenate stack hstack vstack dstack
    column_stack row_stack flip fliplr flipud roll rot90 repeat tile repeat_interleave sort topk kthvalue mode
    median nanmedian unique unique_consecutive cummax cummin tril triu diag diagflat diag_embed scatter
    scatter_add index_add index_copy index_fill index_put pad block_diag combinations kron outer ger matmul mm bmm
    mv dot vdot inner addmm chain_matmul round floor ceil trunc fix sign sgn trace amax amin aminmax diff msort
    put addcmul cross tensordot einsum
""")
"""Operations that give integers where they are given integers; others may make floats of them."""

_TRUTHS = words("""
    eq ge gt le lt ne greater greater_equal less less_equal not_equal isclose isfinite isin isinf isnan isneginf
    isposinf isreal logical_and logical_not logical_or logical_xor signbit bool
""")

_INTEGERS = words("""
    argmax argmin argsort argwhere bucketize count_nonzero multinomial nonzero searchsorted one_hot matrix_rank
""")


def never_dtype(name: str) -> Dtype:
    """Return what the elements are of a result that never requires grad."""
    word = leaf(name)
    if name in operations().float_but_never or word == "histc":
        return Dtype.FLOATING
    if word in _TRUTHS:
        return Dtype.BOOL
    return Dtype.INTEGRAL if word in _INTEGERS else Dtype.BOOL | Dtype.INTEGRAL


def result_dtype(name: str, dtype: Dtype) -> Dtype:
    """Return what the elements of an operation's result are, for those of its inputs."""
    if name not in _KEEPING_INTEGERS:
        return dtype if dtype == Dtype.FLOATING else dtype | Dtype.INTEGRAL | Dtype.FLOATING
    if name in ("sum", "prod", "cumsum", "cumprod", "nansum") and dtype & Dtype.BOOL:
        return (dtype & ~Dtype.BOOL) | Dtype.INTEGRAL
    return dtype | Dtype.INTEGRAL if dtype & Dtype.BOOL else dtype


def with_indices(result: Value, given: Arguments) -> Value | None:
    """Return the tuple of ``return_counts=True`` and ``return_indices=True``; None where none is asked for."""
    asked = sum(given.says(word) is True for word in ("return_inverse", "return_counts", "return_indices"))
    index = tensor(Grad.DETACHED, result.device, Dtype.INTEGRAL, why_device=result.why_device)
    return of_kind(Kind.SEQUENCE, items=(result, *[index] * asked)) if asked else None
