"""Which dtype comes out where operands of several meet, over sets of dtypes as bits.

The rules are torch's ``result_type``: a tensor with dimensions wins over one without, and that over a Python number,
unless the weaker one is of a higher category (bool, integers, floating, complex).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from torchlint.values import abstract as a

COMPLEX: Final = a.COMPLEX64 | a.COMPLEX128
_BITS: Final = tuple(1 << n for n in range(a.ANY_DTYPE.bit_length()))


def bits_of(dtypes: int) -> tuple[int, ...]:
    """Return the single dtypes of a set."""
    return tuple(bit for bit in _BITS if bit & dtypes)


def _category(bit: int) -> int:
    return 0 if bit == a.BOOL else 1 if bit & a.INTEGRAL else 3 if bit & COMPLEX else 2


@lru_cache(maxsize=512)
def _two(one: int, two: int) -> int:
    """Return what two single dtypes of tensors with dimensions are promoted to."""
    if one == two:
        return one
    low, high = sorted((one, two), key=_category)
    if (one | two) & (a.OTHER_FLOAT | a.OTHER_INTEGER):  # float8 with nothing else, uint64 with some: several are meant
        return high | (COMPLEX | a.OTHER_FLOAT if one & a.FLOATING and two & a.FLOATING else 0)
    if _category(low) < _category(high):
        return a.COMPLEX128 if high == a.COMPLEX64 and low == a.FLOAT64 else high
    if one & COMPLEX:
        return a.COMPLEX128
    if one & a.FLOATING:
        return a.FLOAT32 if (one | two) == a.FLOAT16 | a.BFLOAT16 else max(one, two)
    if a.UINT8 in (one, two):
        other = one + two - a.UINT8
        return a.INT16 if other == a.INT8 else other
    return max(one, two)


_COMPLEX_OF: Final = {
    a.FLOAT16: a.OTHER_FLOAT,
    a.BFLOAT16: a.COMPLEX64,
    a.FLOAT32: a.COMPLEX64,
    a.FLOAT64: a.COMPLEX128,
}


def _weaker(strong: int, weak: int) -> int:
    """Return the dtype of an operand with dimensions beside one without."""
    if _category(weak) <= _category(strong):
        return strong
    if weak & COMPLEX and strong & a.FLOATING:
        return _COMPLEX_OF.get(strong, COMPLEX | a.OTHER_FLOAT)
    return _two(strong, weak)


@lru_cache(maxsize=4096)
def promoted(one: int, two: int, one_rank: int, two_rank: int) -> int:
    """Return the dtypes of a result of two tensors: sets of dtypes, and the bits of their numbers of dimensions."""
    if one == two and (one == a.ANY_DTYPE or one in _BITS):
        return one
    result = 0
    alike = bool(one_rank & two_rank & 1) or (one_rank > 1 and two_rank > 1)
    for mine in bits_of(one):
        for theirs in bits_of(two):
            if alike:
                result |= _two(mine, theirs)
            if one_rank > 1 and two_rank & 1:
                result |= _weaker(mine, theirs)
            if one_rank & 1 and two_rank > 1:
                result |= _weaker(theirs, mine)
    return result


@lru_cache(maxsize=4096)
def with_number(dtypes: int, numbers: int, default: int) -> int:
    """Return the dtypes of a tensor's beside a Python number.

    ``numbers`` are the sorts that the number may be: the bits BOOL, INT64, FLOAT32 (floating) and COMPLEX64 (complex);
    ``default`` is the default dtype, which integers take on beside a floating number.
    """
    result = 0
    for mine in bits_of(dtypes):
        for sort in bits_of(numbers):
            if _category(sort) <= _category(mine):
                result |= mine
            elif sort == a.INT64:
                result |= a.INT64
            elif sort == a.FLOAT32:
                result |= default
            else:
                strong = mine if mine & a.FLOATING else default
                for each in bits_of(strong):
                    result |= _weaker(each, a.COMPLEX64)
    return result


def divided(dtypes: int, default: int) -> int:
    """Return the dtypes of a true division: integers give the default dtype."""
    return dtypes & a.FLOATING | (default if dtypes & ~a.FLOATING else 0)


_WIDENING: Final = frozenset("sum prod cumsum cumprod nansum trace".split())


def reduced(word: str, dtypes: int) -> int:
    """Return the dtypes of a reduction: sums of integers and of truth values are of int64."""
    if word in _WIDENING and dtypes & ~a.FLOATING:
        return dtypes & a.FLOATING | a.INT64
    return dtypes | (a.INT64 if word == "sum_to_size" and dtypes & ~a.FLOATING else 0)


def under_autocast(dtypes: int) -> int:
    """Return the dtypes of a product that autocast, which a caller may have entered, computes in a half precision."""
    return dtypes | (a.FLOAT16 | a.BFLOAT16 if dtypes & a.FLOAT32 else 0)


def real_parts(dtypes: int) -> int:
    """Return the dtypes of the real and imaginary parts, or of the sizes, of elements that may be complex."""
    result = dtypes & ~COMPLEX
    result |= a.FLOAT32 if dtypes & a.COMPLEX64 else 0
    result |= a.FLOAT64 if dtypes & a.COMPLEX128 else 0
    return result | (a.FLOAT16 if dtypes & a.OTHER_FLOAT else 0)
