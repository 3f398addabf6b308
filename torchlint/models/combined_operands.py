"""What the operands of an operation give together: gradient, place, dtype and dimensions of a result computed of them.

A result requires grad, and is on an accelerator, as soon as one operand does or is: so it is safe only where all are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from torchlint.models.dtype_promotion import promoted, with_number
from torchlint.models.rank_rules import broadcast
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join
from torchlint.values.asking import Asker, Presumption
from torchlint.values.references import ConstantRef

if TYPE_CHECKING:
    from torchlint.semantic.graph import Node
    from torchlint.values.contexts import Context

_OWN: Final = a.SURE | a.MODULE_OUT | a.OPTION
"""Evidence that only a tensor has."""


def combined(asker: Asker, operands: list[Abstract], node: Node, context: Context | None, numbers: bool) -> Abstract:
    """Return the tensor that is computed of operands, before grad mode is asked.

    ``numbers`` says that the operation takes Python numbers, too: an unknown operand is one as likely. Operands that
    are no tensor have a part in the dtype alone.
    """
    is_presumed = asker.presumes(Presumption.USAGE)
    tensors = [each for each in operands if each.kind & a.TENSOR]
    known = [each for each in tensors if each.kind == a.TENSOR]
    may_be_numbers = numbers and bool(known) and is_presumed
    is_large = any(not each.rank & 1 for each in known)
    joined, all_safe = a.BOTTOM, a.SAFE | a.SAFE << 1
    for each in tensors:
        part = _contribution(each, numbers, may_be_numbers and not _is_told(each), is_large)
        all_safe &= (part.grad & a.SAFE) | (part.device & a.SAFE) << 1
        joined = join(joined, part)
    if not tensors:
        joined, all_safe = Abstract(a.TENSOR, a.SAFE, a.SAFE, a.ANY_DTYPE, a.ANY_RANK), 3
    grad = joined.grad & ~a.SAFE | all_safe & a.SAFE
    device = joined.device & ~a.SAFE | all_safe >> 1
    dtype, rank = _elements(asker, operands, node, context, numbers, may_be_numbers)
    if not dtype & a.FLOATING:
        grad = a.SAFE
    grad_from = joined.grad_from if grad & ~a.SAFE else None
    device_from = joined.device_from if device & ~a.SAFE else None
    return Abstract(a.TENSOR, grad or a.SAFE, device or a.SAFE, dtype, rank, a.NO_REFERENCES, grad_from, device_from)


def _is_told(operand: Abstract) -> bool:
    """Whether an operand is known to be a tensor or a number, and which."""
    return not operand.kind & ~(a.TENSOR | a.NUMBER | a.NONE)


def _contribution(operand: Abstract, numbers: bool, may_be_number: bool, beside_large: bool) -> Abstract:
    """Return an operand with the evidence that it brings into a result."""
    grad = operand.grad or a.SAFE
    device = operand.device or a.SAFE
    if not operand.dtype & a.FLOATING:
        grad = a.SAFE
    if operand.kind != a.TENSOR and numbers:
        if may_be_number:
            grad, device = grad & _OWN, device & _OWN
        grad, device = grad | a.SAFE, device | a.SAFE
    if operand.kind == a.TENSOR and operand.rank == 1 and beside_large:
        device = a.SAFE  # a tensor without dimensions that stays on the host, else torch refuses it
    return operand.but(
        kind=a.TENSOR,
        grad=grad,
        device=device,
        references=a.NO_REFERENCES,
        grad_from=operand.grad_from if grad & ~a.SAFE else None,
        device_from=operand.device_from if device & ~a.SAFE else None,
    )


def _elements(
    asker: Asker,
    operands: list[Abstract],
    node: Node,
    context: Context | None,
    numbers_too: bool,
    may_be_numbers: bool,
) -> tuple[int, int]:
    """Return the dtypes and ranks of what is computed of operands on each element."""
    dtype = rank = 0
    numbers: list[Abstract] = []
    for each in operands:
        if not each.kind & (a.TENSOR | a.ARRAY):
            if each.kind & a.NUMBER:
                numbers.append(each)
            continue
        own = a.ANY_DTYPE if each.kind & a.ARRAY else each.dtype
        own_rank = each.rank if _is_told(each) else a.ANY_RANK
        if each.kind & a.NUMBER and numbers_too:
            numbers.append(each)
            own_rank |= 1
        if may_be_numbers and not _is_told(each):
            rank = broadcast(rank, own_rank) if rank else own_rank
            continue
        dtype = promoted(dtype, own, rank, own_rank) if dtype else own
        rank = broadcast(rank, own_rank) if rank else own_rank
    dtype = dtype or a.ANY_DTYPE
    for each in numbers if dtype != a.ANY_DTYPE else ():
        beside = with_number(dtype, sorts_of(each, asker), asker.default_dtype(node, context))
        dtype = beside | (dtype if each.kind & a.TENSOR else 0)
    return dtype, rank or a.ANY_RANK


def sorts_of(number: Abstract, asker: Asker) -> int:
    """Return which sorts of numbers a value may be: the bits BOOL, INT64, FLOAT32 and COMPLEX64."""
    sorts = a.INT64 if number.kind & a.INTEGER else 0
    if not number.kind & a.SCALAR:
        return sorts
    types = {each.type for each in number.references if isinstance(each, ConstantRef)}
    for kind, bit in ((bool, a.BOOL), (float, a.FLOAT32), (complex, a.COMPLEX64)):
        sorts |= bit if kind in types else 0
    if not types & {bool, float, complex}:
        sorts |= a.FLOAT32 | a.BOOL | (0 if asker.presumes(Presumption.USAGE) else a.COMPLEX64)
    return sorts


# ---------------------------------------------------------------------- kinds
_SINGLE: Final = tuple(1 << n for n in range(a.ANY.bit_length()))
_REFUSED: Final = a.MODULE | a.NONE | a.DEVICE | a.DTYPE


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
    if one == a.STRING:
        return (
            a.STRING if operator == "%" or two in (a.STRING, a.INTEGER, a.SCALAR) else a.OTHER if two == a.OTHER else 0
        )
    if both & a.TENSOR:
        return a.TENSOR if not both & (_REFUSED | a.STRING) else 0
    if both & a.ARRAY:
        return a.ARRAY | (a.SCALAR if both & a.NUMBER else 0) if not both & _REFUSED else 0
    if both & a.OTHER:  # an object decides itself; `int | None` in an annotation is one, too
        return a.OTHER
    if both & _REFUSED:
        return 0
    if both & (a.SEQUENCE | a.SIZE):
        if both & a.NUMBER:
            return both & (a.SEQUENCE | a.SIZE) if operator == "*" else 0
        return both & a.SEQUENCE or a.SIZE | a.SEQUENCE
    if both & a.STRING:
        return a.STRING if operator == "*" else 0
    if both == a.INTEGER:
        return a.SCALAR if operator == "/" else a.NUMBER if operator == "**" else a.INTEGER
    return a.NUMBER  # a bool is a SCALAR, too


def united(values: Iterable[Abstract]) -> int:
    """Return the kinds that any of some values may be of."""
    kinds = 0
    for each in values:
        kinds |= each.kind
    return kinds
