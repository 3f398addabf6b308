"""In which form an operation gives its results: one tensor, a pair of values and indices, or any number of tensors."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import constants_of, descend
from torchlint.models.dtype_promotion import real_parts
from torchlint.models.operation_sets import LENGTHS, NEVER_ELEMENTS, PARTIAL, words
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, join_all
from torchlint.values.asking import ANY_ELEMENT, CallSite, Path, Presumption

PAIRS_WITH_DIM: Final = words("max min median nanmedian")
"""Reductions whose result is ``(values, indices)`` where a dimension is given."""
_INDICES: Final = words("max min median nanmedian sort topk kthvalue mode cummax cummin unique unique_consecutive")
_WITH_INDICES: Final = words("""
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
    max_pool1d max_pool2d max_pool3d
""")
"""Functions that give indices, too, where ``return_indices=True`` asks for them."""
_FLAGS: Final = {
    **dict.fromkeys(_WITH_INDICES, ("return_indices",)),
    **dict.fromkeys(("unique", "unique_consecutive"), ("return_inverse", "return_counts")),
    "nonzero": ("as_tuple",),
}  # fmt: skip
_POSITIONS: Final = {
    "unique": (1, 2), "unique_consecutive": (0, 1),
    **dict.fromkeys(words("max_pool1d max_pool2d max_pool3d"), (5,)),
    **dict.fromkeys(words("fractional_max_pool2d fractional_max_pool3d"), (3,)),
    **dict.fromkeys(words("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d"), (1,)),
}  # fmt: skip
"""Where these flags stand behind the tensor."""
_ALIKE: Final = words("""
    split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes meshgrid broadcast_tensors atleast_1d
    atleast_2d atleast_3d gradient nonzero where unsafe_chunk unsafe_split unsafe_split_with_sizes split_copy
    unbind_copy split_with_sizes_copy unravel_index
""")
"""Functions whose results are alike, as many as there may be."""
_MAYBE_SEVERAL: Final = words("atleast_1d atleast_2d atleast_3d")
"""Functions that give several tensors where they are given several."""
FIELDS: Final = {
    **dict.fromkeys(words("values eigenvalues sign Q L mantissa U LU hist min solution inverse"), 0),
    **dict.fromkeys(words("indices eigenvectors logabsdet R exponent S pivots bin_edges max residuals info"), 1),
    **dict.fromkeys(words("V Vh rank"), 2),
    "singular_values": 3,
}  # fmt: skip
"""The positions of the named results of a pair or triple."""
_OF_LU: Final = {"P": 0, "L": 1, "U": 2}


def gives_several(site: CallSite, name: str, word: str, first: int) -> bool | None:
    """Return whether a call gives several results; None where both are possible.

    ``name`` is the row of the table, ``first`` the position of the first argument behind the tensor.
    """
    if name not in LENGTHS:
        return False
    if word in PAIRS_WITH_DIM:
        return _has_dimension(site, word, first)
    if word == "where":
        return len(site.given.positional) + len(site.given.keywords) == 1 and not site.given.starred
    if word in _MAYBE_SEVERAL:
        return len(site.given.positional) > 1 or bool(site.given.starred)
    flags = _FLAGS.get(word)
    if flags is None or name == "torch.adaptive_max_pool1d":
        return True
    return _asked(site, flags, _POSITIONS.get(word, ()), first)


def _has_dimension(site: CallSite, word: str, first: int) -> bool | None:
    if "dim" in site.given.keywords or "axis" in site.given.keywords:
        return True
    given = site.given.positional[first:]
    if not given:
        return None if site.given.starred or site.given.spread else False
    if first in site.given.starred:
        return None
    second = site.asker.value(given[0], (), site.context)
    if "other" in site.given.keywords or second.kind == a.TENSOR:
        return word in ("median", "nanmedian")
    return None if second.kind & a.TENSOR else True


def _asked(site: CallSite, flags: tuple[str, ...], positions: tuple[int, ...], first: int) -> bool | None:
    answers: set[bool] = set()
    for place, flag in enumerate(flags):
        position = positions[place] + first if place < len(positions) else None
        given = site.value(position, flag)
        if given is None:
            continue
        known = constants_of(given)
        answers |= {True, False} if known is None else {bool(each) for each in known}
    if site.given.spread:
        answers |= {True, False}
    return False if True not in answers else None if False in answers and len(flags) == 1 else True


def shaped(site: CallSite, made: Abstract, name: str, word: str, path: Path, first: int) -> Abstract:
    """Return what a path leads to in the results of an operation.

    ``made`` is the result where there is only one, and what each is as long as nothing else is known of it.
    """
    several = gives_several(site, name, word, first)
    if several is None and path and path[0] != ANY_ELEMENT and site.asker.presumes(Presumption.USAGE):
        several = True  # who takes one apart got several
    alone = descend(made, path) if several is not True else None
    if several is False:
        assert alone is not None
        return alone
    held = _held(made, name, word, path)
    return held if alone is None else join(alone, held)


def _held(made: Abstract, name: str, word: str, path: Path) -> Abstract:
    if not path:
        return a.A_SEQUENCE
    step, rest = path[0], path[1:]
    if word in _ALIKE:
        return descend(made, rest)
    fields = _OF_LU if word in ("lu", "lu_unpack") else FIELDS
    position = fields.get(step[1:]) if isinstance(step, str) and step[:1] == "." else step
    if word == "aminmax" or name.endswith("histogram"):
        position = 0
    if word in ("svd", "slogdet", "eigh", "lstsq", "svd_lowrank", "pca_lowrank"):  # some are real where it is complex
        made = made.but(dtype=made.dtype | real_parts(made.dtype))
    lengths = LENGTHS[name]
    if isinstance(position, int) and position < 0 and len(lengths) == 1:
        position += lengths[0]
    dead = PARTIAL.get(name, ())
    if isinstance(position, int) and position >= 0:
        return descend(dead_result(made, word) if position in dead else made, rest)
    possible = [made, *([dead_result(made, word)] if dead else [])]
    return descend(join_all(possible), rest)


def dead_result(made: Abstract, word: str) -> Abstract:
    """Return a result that never requires grad: the indices of a maximum, the pivots of a factorisation."""
    if word in _INDICES or word in _WITH_INDICES:
        dtype = a.INT64
    else:
        dtype = a.ANY_DTYPE if word.startswith("native_") else a.INTEGRAL | a.FLOATING
    return made.detached().but(dtype=dtype)


def never_dtype(name: str, word: str, given: int) -> int:
    """Return what the elements are of a result that never requires grad; ``given`` are the dtypes of the operands."""
    measured = NEVER_ELEMENTS.get(name, a.ANY_DTYPE)
    if word in _OF_INT64:
        return a.INT64
    if word.startswith("bitwise_") or word in ("gcd", "lcm"):
        return given & ~a.FLOATING or measured
    if word in ("all", "any"):
        return measured & ~a.INTEGRAL | given & _UINT8
    if not measured & a.FLOATING:
        return measured
    return measured & ~a.FLOATING | given & a.FLOATING | (a.FLOATING if given & ~a.FLOATING else 0)


_UINT8: Final = 1 << 7
_OF_INT64: Final = words(
    "argmax argmin argsort argwhere count_nonzero multinomial nonzero nonzero_static one_hot matrix_rank"
)
