"""What operators and comparisons make of values: of tensors a tensor, of others what Python says."""

from __future__ import annotations

from typing import Final

from torchlint.models.combined_operands import combined, result_kinds, sorts_of, united
from torchlint.models.dtype_promotion import divided, under_autocast
from torchlint.models.rank_rules import multiplied
from torchlint.semantic.graph import Node
from torchlint.values import abstract as a
from torchlint.values.abstract import Abstract, join, of_kind, unknown
from torchlint.values.asking import Asker, Presumption
from torchlint.values.contexts import Context
from torchlint.values.references import ConstantRef

_OF_INTEGERS: Final = ("&", "|", "^", "~", "<<", ">>")
"""Operators that torch refuses for floating tensors."""
_TRUTH: Final = of_kind(a.SCALAR)


def arithmetic(asker: Asker, values: list[Abstract], operator: str, node: Node, context: Context | None) -> Abstract:
    """Return what an operator makes of values.

    Grad mode is applied here: what ``+x`` and ``x += y`` leave of a tensor keeps its gradient whatever the mode is.
    """
    if not values or not all(each.kind for each in values):
        return a.BOTTOM
    plain = operator[:-1] if operator[-1:] == "=" else operator
    if len(values) == 1 and plain == "+" and values[0].kind == a.TENSOR:
        return values[0].plain()
    made = asker.under(_operated(asker, values, plain, node, context), node, context)
    return made if plain == operator else _augmented(values, made)


def _operated(asker: Asker, values: list[Abstract], operator: str, node: Node, context: Context | None) -> Abstract:
    one, two = values[0], values[-1]
    if len(values) == 1:
        kind = one.kind & ~a.NONE
        if operator == "-" and (negative := _negative(one)) is not None:
            return negative
    else:
        kind = result_kinds(one.kind, two.kind, operator)
        if any(each.kind == a.TENSOR for each in values) and kind & a.TENSOR:
            kind &= a.TENSOR | a.STRING
    if not kind:
        return a.A_NUMBER if asker.presumes(Presumption.USAGE) else unknown(a.OF_CALL, node)
    if kind & a.OTHER and not asker.presumes(Presumption.USAGE):  # an object's own operator may give anything
        return join(unknown(a.OF_CALL, node), _tensors(asker, values, operator, node, context))
    if not kind & a.TENSOR:
        is_floating = any(each.kind == a.SCALAR and sorts_of(each, asker) == a.FLOAT32 for each in values)
        return of_kind(kind & ~a.INTEGER if is_floating else kind)
    made = _tensors(asker, values, operator, node, context)
    return made if kind == a.TENSOR else made.but(kind=kind)


def _negative(value: Abstract) -> Abstract | None:
    """Return the constants with their signs turned; None where the value is not known to be constants."""
    numbers = [each.value for each in value.references if isinstance(each, ConstantRef)]
    if not value.must(a.NUMBER) or not numbers or len(numbers) != len(value.references):
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
        whole = made.dtype & ~a.FLOATING or a.INTEGRAL | a.BOOL
        return made.detached().but(dtype=whole)
    if operator != "@":
        return made
    dtype = made.dtype if asker.presumes(Presumption.USAGE) else under_autocast(made.dtype)
    return made.but(dtype=dtype, rank=multiplied(one.rank, two.rank))


def _augmented(values: list[Abstract], after: Abstract) -> Abstract:
    """Return what ``x += y`` leaves in ``x``: a tensor keeps its dtype, its dimensions, and its own gradient."""
    before = values[0]
    if not before.kind & a.TENSOR or not after.kind & a.TENSOR:
        return after
    kept = Abstract(
        a.TENSOR,
        after.grad | before.grad & ~a.SAFE,
        before.device or a.SAFE,
        before.dtype or a.ANY_DTYPE,
        before.rank,
        a.NO_REFERENCES,
        before.grad_from if before.grad & ~a.SAFE else after.grad_from,
        before.device_from,
    )
    if before.grad & ~a.SAFE and not before.grad & a.SAFE:
        kept = kept.but(grad=kept.grad & ~a.SAFE)
    if not kept.dtype & a.FLOATING:
        kept = kept.detached()
    return kept if before.kind == a.TENSOR else join(kept, after)


def comparison(asker: Asker, values: list[Abstract], node: Node, context: Context | None) -> Abstract:
    """Return what a comparison gives: of tensors a tensor of truth values, without a gradient, where they are."""
    if not all(each.kind for each in values):
        return a.BOTTOM
    if node.data in ("not", "is", "is not", "in", "not in") or len(values) < 2:
        return _TRUTH
    kinds = united(values)
    if any(not each.kind & ~(a.NONE | a.STRING) for each in values):
        return _TRUTH if not kinds & (a.ARRAY | a.OTHER) else of_kind(a.SCALAR | kinds & (a.ARRAY | a.OTHER))
    kind = (
        a.TENSOR if any(each.kind == a.TENSOR for each in values) else kinds & (a.TENSOR | a.ARRAY | a.OTHER) | a.SCALAR
    )
    if node.data == "chain":
        kind |= a.SCALAR
    if not kind & a.TENSOR:
        return of_kind(kind)
    made = combined(asker, values, node, context, numbers=True).detached()
    return made.but(kind=kind, dtype=a.BOOL)
