"""What the operands of an operation give together: gradient, place, dtype and dimensions of a result computed of them.

A result requires grad, and is on an accelerator, as soon as one operand does or is: so it is safe only where all are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from torchlint.models.dtype_promotion import promoted, with_number
from torchlint.models.rank_rules import broadcast
from torchlint.values.abstract import (
    ANY,
    ANY_DTYPE,
    ANY_RANK,
    ARRAY,
    BOOL,
    BOTTOM,
    COMPLEX64,
    DEVICE,
    DTYPE,
    FLOAT32,
    FLOATING,
    INT64,
    INTEGER,
    MODULE,
    MODULE_OUT,
    NO_REFERENCES,
    NONE,
    NUMBER,
    OPTION,
    OTHER,
    SAFE,
    SCALAR,
    SEQUENCE,
    SIZE,
    STRING,
    SURE,
    TENSOR,
    Abstract,
    join,
)
from torchlint.values.asking import Asker, Oracle
from torchlint.values.references import ConstantRef

if TYPE_CHECKING:
    from torchlint.semantic.graph import Node
    from torchlint.values.contexts import Context

_OWN: Final = SURE | MODULE_OUT | OPTION
"""Evidence that only a tensor has."""


def combined(asker: Asker, operands: list[Abstract], node: Node, context: Context | None, numbers: bool) -> Abstract:
    """Return the tensor that is computed of operands, before grad mode is asked.

    ``numbers`` says that the operation takes Python numbers, too, so that an operand of which nothing is known is one as
    likely. Operands that are no tensor have a part in the dtype alone.
    """
    is_proof = asker.oracle is Oracle.PROOF
    tensors = [each for each in operands if each.kind & TENSOR]
    known = [each for each in tensors if each.kind == TENSOR]
    may_be_numbers = numbers and bool(known) and not is_proof
    is_large = any(not each.rank & 1 for each in known)
    joined, all_safe = BOTTOM, SAFE | SAFE << 1
    for each in tensors:
        part = _contribution(each, numbers, may_be_numbers, is_large)
        all_safe &= (part.grad & SAFE) | (part.device & SAFE) << 1
        joined = join(joined, part)
    if not tensors:
        joined, all_safe = Abstract(TENSOR, SAFE, SAFE, ANY_DTYPE, ANY_RANK), 3
    grad = joined.grad & ~SAFE | all_safe & SAFE
    device = joined.device & ~SAFE | all_safe >> 1
    dtype, rank = _elements(asker, operands, node, context, may_be_numbers)
    if not dtype & FLOATING:
        grad = SAFE
    grad_from = joined.grad_from if grad & ~SAFE else None
    device_from = joined.device_from if device & ~SAFE else None
    return Abstract(TENSOR, grad or SAFE, device or SAFE, dtype, rank, NO_REFERENCES, grad_from, device_from)


def _contribution(operand: Abstract, numbers: bool, may_be_number: bool, beside_large: bool) -> Abstract:
    """Return an operand with the evidence that it brings into a result."""
    grad = operand.grad or SAFE
    device = operand.device or SAFE
    if not operand.dtype & FLOATING:
        grad = SAFE
    if operand.kind != TENSOR and numbers:
        if may_be_number:
            grad, device = grad & _OWN, device & _OWN
        grad, device = grad | SAFE, device | SAFE
    if operand.kind == TENSOR and operand.rank == 1 and beside_large:
        device = SAFE  # a tensor without dimensions that stays on the host, else torch refuses it
    return operand.but(
        kind=TENSOR,
        grad=grad,
        device=device,
        references=NO_REFERENCES,
        grad_from=operand.grad_from if grad & ~SAFE else None,
        device_from=operand.device_from if device & ~SAFE else None,
    )


def _elements(
    asker: Asker, operands: list[Abstract], node: Node, context: Context | None, may_be_numbers: bool
) -> tuple[int, int]:
    """Return the dtypes and ranks of what is computed of operands on each element."""
    dtype = rank = 0
    numbers: list[Abstract] = []
    for each in operands:
        if not each.kind & (TENSOR | ARRAY):
            if each.kind & NUMBER:
                numbers.append(each)
            continue
        own = ANY_DTYPE if each.kind & ARRAY else each.dtype
        own_rank = each.rank if each.kind == TENSOR else ANY_RANK
        if each.kind != TENSOR and each.kind & NUMBER and may_be_numbers:
            numbers.append(each)
            rank = broadcast(rank, ANY_RANK) if rank else ANY_RANK
            continue
        dtype = promoted(dtype, own, rank, own_rank) if rank else own
        rank = broadcast(rank, own_rank) if rank else own_rank
    dtype = dtype or ANY_DTYPE
    for each in numbers if dtype != ANY_DTYPE else ():
        dtype = with_number(dtype, sorts_of(each, asker), asker.default_dtype(node, context))
    return dtype, rank or ANY_RANK


def sorts_of(number: Abstract, asker: Asker) -> int:
    """Return which sorts of numbers a value may be: the bits BOOL, INT64, FLOAT32 and COMPLEX64."""
    sorts = INT64 if number.kind & INTEGER else 0
    if not number.kind & SCALAR:
        return sorts
    types = {each.type for each in number.references if isinstance(each, ConstantRef)}
    for kind, bit in ((bool, BOOL), (float, FLOAT32), (complex, COMPLEX64)):
        sorts |= bit if kind in types else 0
    if not types & {bool, float, complex}:
        sorts |= FLOAT32 | BOOL | (COMPLEX64 if asker.oracle is Oracle.PROOF else 0)
    return sorts


# ---------------------------------------------------------------------- kinds
_SINGLE: Final = tuple(1 << n for n in range(ANY.bit_length()))
_REFUSED: Final = MODULE | NONE | DEVICE | DTYPE


@lru_cache(maxsize=8192)
def result_kinds(one: int, two: int, operator: str) -> int:
    """Return the kinds that an operator may give, for the kinds of its operands; 0 where Python refuses all of them."""
    result = 0
    for mine in _SINGLE:
        if mine & one:
            for theirs in _SINGLE:
                if theirs & two:
                    result |= _of_two(mine, theirs, operator)
    return result


def _of_two(one: int, two: int, operator: str) -> int:
    both = one | two
    if one == STRING:
        return STRING if operator == "%" or two in (STRING, INTEGER, SCALAR) else OTHER if two == OTHER else 0
    if both & TENSOR:
        return TENSOR if not both & (_REFUSED | STRING) else 0
    if both & ARRAY:
        return ARRAY | (SCALAR if both & NUMBER else 0) if not both & _REFUSED else 0
    if both & OTHER:  # an object decides itself; `int | None` in an annotation is one, too
        return OTHER
    if both & _REFUSED:
        return 0
    if both & (SEQUENCE | SIZE):
        if both & NUMBER:
            return both & (SEQUENCE | SIZE) if operator == "*" else 0
        return both & SEQUENCE or SIZE | SEQUENCE
    if both & STRING:
        return STRING if operator == "*" else 0
    if both == INTEGER:
        return SCALAR if operator == "/" else NUMBER if operator == "**" else INTEGER
    return NUMBER  # a bool is a SCALAR, too


def united(values: Iterable[Abstract]) -> int:
    """Return the kinds that any of some values may be of."""
    kinds = 0
    for each in values:
        kinds |= each.kind
    return kinds
