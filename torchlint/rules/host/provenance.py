"""How a conversion came by its doubt: what the value is made of decides how sure a finding is."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import FileContext, Reason


def grade(reasons: list[Reason | None], call: cst.Call, context: FileContext) -> Confidence:
    """Return how sure it is that one of the missing halves is needed, where no source of the fault is known.

    ``reasons`` has one for each half, None where nothing is known. `POSSIBLE` is what an argument of the function, or a
    call in it, brings to the place directly: whoever calls it with a live tensor, or one on an accelerator, meets the
    error. All else is `UNPROVEN`: a value that was not followed further, an operand beside a tensor that is known, what
    another method left in an attribute.
    """
    if context.settings.strict:
        return Confidence.POSSIBLE
    place = context.python(call)
    is_direct = isinstance(place, ast.AST) and any(
        each is not None and _is_direct(each, place, context) for each in reasons
    )
    return Confidence.POSSIBLE if is_direct else Confidence.UNPROVEN


def _is_direct(reason: Reason, place: ast.AST, context: FileContext) -> bool:
    """Whether a reason begins at an argument or a call of a function around the place, and nothing stood between."""
    steps = list(reason.chain())
    if any(step.aside or _is_held(step) for step in steps):
        return False
    start = next((step.node for step in steps if step.node is not None), None)
    if start is None or not context.holds(start):
        return False
    around = {None, *(each for each in context.ancestors(place))}
    return context.function_around(start) in around


def _is_held(step: Reason) -> bool:
    """Whether a step says that an attribute of the object held the value meanwhile."""
    return step.node is None and step.text.startswith("`self.")


def nothing_known(receiver: str, row: int) -> str:
    """Return the step of a finding whose value was not followed: there is none else to tell."""
    return f"nothing is known of `{receiver}`: it was not followed further, line {row}"
