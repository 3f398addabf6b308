"""What a binary operator makes of two values: of tensors a tensor, of numbers, texts and sequences their kinds."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.facts.value import ABSENT, ANY, ANY_DTYPE, Dtype, Kind, Mode, Value, of_kind
from torchlint.inference.lattice import any_element, claimed_like, join
from torchlint.inference.models import tensors
from torchlint.inference.models.call_arguments import joined_operands

OF_INTEGERS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.Invert)
"""Operators that torch refuses for floating tensors: what they give is whole numbers, without a graph."""


_BESIDE_TENSORS = Kind.TENSOR | Kind.INTEGER | Kind.SCALAR | Kind.NONE


def combined(left: Value, right: Value, operator: ast.operator, mode: Mode) -> Value:
    """Return what an operator makes of two values: a tensor decides what it is, and else a claim of either side."""
    result = _operated(left, right, operator, mode)
    return claimed_of_operands(result, (left, right))


def claimed_of_operands(result: Value, operands: Sequence[Value]) -> Value:
    """Return what an operator makes: no claim where there is a tensor, and no object that may decide what comes out."""
    is_shown = any(each.is_tensor and each.claimed in ("", ABSENT) for each in operands)
    if is_shown and (not result.is_tensor or all(each.must(_BESIDE_TENSORS) for each in operands)):
        return result.having(claimed="") if result.claimed else result
    if is_shown:
        return result.having(claimed="the other operand may decide what comes out")
    return claimed_like(next((each for each in operands if each.claimed), operands[0]), result)


def _operated(left: Value, right: Value, operator: ast.operator, mode: Mode) -> Value:
    if not left.may(Kind.TENSOR) and not right.may(Kind.TENSOR):
        return _without_tensors(left, right, operator)
    result = of_tensors(left, right, operator, mode)
    if _zero_dim(left) and _zero_dim(right):
        result = result.having(rank=0)
    return result if left.is_tensor or right.is_tensor else result.having(kind=ANY, rank=None)


def of_tensors(left: Value, right: Value, operator: ast.operator | ast.unaryop, mode: Mode) -> Value:
    """Return the tensor that an operator makes of two values; one with a single operand is given it twice."""
    either = joined_operands([value for value in (left, right) if value.may(Kind.TENSOR)])
    if isinstance(operator, OF_INTEGERS):
        alone = Dtype.BOOL & either.dtype if left.is_tensor and right.is_tensor else Dtype(0)
        return tensors.computed(either.having(dtype=(alone or Dtype.INTEGRAL) | either.dtype & ~Dtype.FLOATING), mode)
    result = tensors.computed(either, mode)
    floats = any(isinstance(each.const, float | complex) for each in (left, right))
    if result.dtype & Dtype.BOOL and isinstance(operator, ast.operator):
        result = result.having(dtype=result.dtype | Dtype.INTEGRAL)
    if isinstance(operator, ast.Div) or floats or Dtype.FLOATING in (left.dtype, right.dtype):
        return result.having(dtype=Dtype.FLOATING)
    if left.const is None and right.const is None and not (left.is_tensor and right.is_tensor):
        return result.having(dtype=ANY_DTYPE)
    return result


def _zero_dim(value: Value) -> bool:
    return value.must(Kind.SCALAR | Kind.INTEGER) or (value.is_tensor and value.rank == 0)


def _without_tensors(left: Value, right: Value, operator: ast.operator) -> Value:
    if left.must(Kind.INTEGER) and right.must(Kind.INTEGER) and not isinstance(operator, ast.Div):
        return of_kind(Kind.INTEGER)
    if left.must(Kind.SEQUENCE) and right.must(Kind.SEQUENCE):
        return of_kind(Kind.SEQUENCE, member=join(any_element(left), any_element(right)))
    if left.must(Kind.SEQUENCE) and isinstance(operator, ast.Mult):
        return left.having(items=None, member=any_element(left))
    if left.may(Kind.ARRAY) or right.may(Kind.ARRAY):
        return of_kind((left.kind | right.kind) & (Kind.ARRAY | Kind.SCALAR | Kind.OTHER) or Kind.ARRAY)
    if left.may(Kind.STRING):
        return of_kind(Kind.STRING | (left.kind & ~Kind.STRING))
    return of_kind((left.kind | right.kind) & ~Kind.TENSOR)
