"""What operators and comparisons make of values: of tensors a tensor, of others what Python says."""

from __future__ import annotations

from typing import Final

from torchlint.models.combined_operands import combined, result_kinds, sorts_of, united
from torchlint.models.dtype_promotion import divided
from torchlint.models.rank_rules import multiplied
from torchlint.semantic.graph import Node
from torchlint.values.abstract import (
    A_NUMBER,
    ANY_DTYPE,
    ARRAY,
    BOOL,
    BOTTOM,
    FLOAT32,
    FLOATING,
    INTEGER,
    INTEGRAL,
    NO_REFERENCES,
    NONE,
    NUMBER,
    OF_CALL,
    OTHER,
    SAFE,
    SCALAR,
    STRING,
    TENSOR,
    Abstract,
    join,
    of_kind,
    unknown,
)
from torchlint.values.asking import Asker, Oracle
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef

_OF_INTEGERS: Final = ("&", "|", "^", "~", "<<", ">>")
"""Operators that torch refuses for floating tensors."""
_TRUTH: Final = of_kind(SCALAR)


def arithmetic(asker: Asker, values: list[Abstract], operator: str, node: Node, context: Context | None) -> Abstract:
    """Return what an operator makes of values.

    Grad mode is applied by the caller, but for an augmented operator (``+=``): there it is applied here, because a
    tensor that is changed in place keeps its own gradient whatever the mode.
    """
    if not values or not all(each.kind for each in values):
        return BOTTOM
    plain = operator[:-1] if operator[-1:] == "=" else operator
    result = _operated(asker, values, plain, node, context)
    return result if plain == operator else _augmented(asker, values, result, node, context)


def _operated(asker: Asker, values: list[Abstract], operator: str, node: Node, context: Context | None) -> Abstract:
    one, two = values[0], values[-1]
    if len(values) == 1:
        kind = one.kind & ~NONE
        if operator == "-" and (negative := _negative(one)) is not None:
            return negative
    else:
        kind = result_kinds(one.kind, two.kind, operator)
        if any(each.kind == TENSOR for each in values) and kind & TENSOR:
            kind &= TENSOR | STRING
    if not kind:
        return unknown(OF_CALL, node) if asker.oracle is Oracle.PROOF else A_NUMBER
    if kind & OTHER and asker.oracle is Oracle.PROOF:  # an object's own operator may give anything
        return join(unknown(OF_CALL, node), _tensors(asker, values, operator, node, context))
    if not kind & TENSOR:
        is_floating = any(each.kind == SCALAR and sorts_of(each, asker) == FLOAT32 for each in values)
        return of_kind(kind & ~INTEGER if is_floating else kind)
    made = _tensors(asker, values, operator, node, context)
    return made if kind == TENSOR else made.but(kind=kind)


def _negative(value: Abstract) -> Abstract | None:
    """Return the constants with their signs turned; None where the value is not known to be constants."""
    numbers = [each.value for each in value.references if isinstance(each, ConstantRef)]
    if not value.must(NUMBER) or not numbers or len(numbers) != len(value.references):
        return None
    turned = [-each for each in numbers if isinstance(each, int | float | complex)]
    return of_kind(value.kind, frozenset(ConstantRef(each, type(each)) for each in turned))


def _tensors(asker: Asker, values: list[Abstract], operator: str, node: Node, context: Context | None) -> Abstract:
    """Return the tensor among what an operator may give."""
    one, two = values[0], values[-1]
    made = combined(asker, values, node, context, numbers=operator != "@")
    if operator == "/":
        return made.but(dtype=divided(made.dtype, asker.default_dtype(node, context)))
    if operator in _OF_INTEGERS:
        whole = made.dtype & ~FLOATING or INTEGRAL | BOOL
        return made.detached().but(dtype=whole)
    return made.but(rank=multiplied(one.rank, two.rank)) if operator == "@" else made


def _augmented(asker: Asker, values: list[Abstract], result: Abstract, node: Node, context: Context | None) -> Abstract:
    """Return what ``x += y`` leaves in ``x``: a tensor keeps its dtype, its dimensions, and its own gradient."""
    before = values[0]
    after = asker.under(result, node, context)
    if not before.kind & TENSOR or not result.kind & TENSOR:
        return after
    kept = Abstract(
        TENSOR,
        after.grad | before.grad & ~SAFE,
        before.device or SAFE,
        before.dtype or ANY_DTYPE,
        before.rank,
        NO_REFERENCES,
        before.grad_from if before.grad & ~SAFE else after.grad_from,
        before.device_from,
    )
    if before.grad & ~SAFE and not before.grad & SAFE:
        kept = kept.but(grad=kept.grad & ~SAFE)
    if not kept.dtype & FLOATING:
        kept = kept.detached()
    return kept if before.kind == TENSOR else join(kept, after)


def comparison(asker: Asker, values: list[Abstract], node: Node, context: Context | None) -> Abstract:
    """Return what a comparison gives: of tensors a tensor of truth values, without a gradient, where they are."""
    if not all(each.kind for each in values):
        return BOTTOM
    if node.data in ("not", "is", "is not", "in", "not in") or len(values) < 2:
        return _TRUTH
    kinds = united(values)
    if any(not each.kind & ~(NONE | STRING) for each in values):
        return _TRUTH if not kinds & (ARRAY | OTHER) else of_kind(SCALAR | kinds & (ARRAY | OTHER))
    kind = TENSOR if any(each.kind == TENSOR for each in values) else kinds & (TENSOR | ARRAY | OTHER) | SCALAR
    if node.data == "chain":
        kind |= SCALAR
    if not kind & TENSOR:
        return of_kind(kind)
    made = combined(asker, values, node, context, numbers=True).detached()
    return made.but(kind=kind, dtype=BOOL)
