"""The reasons of what a call gives: they begin at this call's arguments, and one step of them is the call.

The result of a function is found out once for all calls that hand over the same facts. Its reasons begin where those of
the first call's arguments do, in a function that may have nothing to do with another call; so they are told anew.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from torchlint.facts.value import Reason, Value
from torchlint.inference.models.call_arguments import Arguments

_EXPLAINED = 3
"""The parts of what a function gives are explained this deep."""

Origins = Mapping[int, Reason]
"""The reasons of a call's arguments, by the identity of those that the first call's had in their place."""


def origins(first: tuple[Arguments, Value | None], other: tuple[Arguments, Value | None]) -> Origins:
    """Pair the reasons of the arguments and receivers of two calls that hand over the same facts."""
    (given, receiver), (now, now_receiver) = first, other
    found: dict[int, Reason] = {}
    if given is not now:
        _pair(receiver, now_receiver, found)
        for one, two in zip(given.positional, now.positional, strict=True):
            _pair(one, two, found)
        for word, one in given.keywords.items():
            _pair(one, now.keywords[word], found)
    return found


def _pair(one: Value | None, two: Value | None, found: dict[int, Reason], depth: int = _EXPLAINED) -> None:
    if one is two or one is None or two is None:
        return
    for before, after in ((one.why_grad, two.why_grad), (one.why_device, two.why_device)):
        if before is not None and after is not None and before is not after:
            found.setdefault(id(before), after)
    if not depth:
        return
    _pair(one.member, two.member, found, depth - 1)
    for before_part, after_part in zip(one.items or (), two.items or (), strict=False):
        _pair(before_part, after_part, found, depth - 1)
    for (_, before_part), (_, after_part) in zip(one.keys, two.keys, strict=False):
        _pair(before_part, after_part, found, depth - 1)


def through(value: Value, node: ast.AST, told: Origins, what: str = "returns it", depth: int = _EXPLAINED) -> Value:
    """Say that what is known of a value, and of the parts of a container, comes from the text of a function called."""

    def step(reason: Reason | None) -> Reason | None:
        return Reason("{code} " + what, node, _told_anew(reason, told), weak=True) if reason is not None else None

    steps = {"why_grad": step(value.why_grad), "why_device": step(value.why_device)}
    if depth and value.has_parts:
        return value.with_parts(lambda each: through(each, node, told, what, depth - 1), **steps)
    return value.having(**steps)


def told_anew(value: Value, told: Origins, depth: int = _EXPLAINED) -> Value:
    """Return what the first call gave with the reasons of another call's arguments."""
    if not told:
        return value
    steps = {
        "why_grad": value.why_grad and _told_anew(value.why_grad, told),
        "why_device": value.why_device and _told_anew(value.why_device, told),
    }
    if depth and value.has_parts:
        return value.with_parts(lambda each: told_anew(each, told, depth - 1), **steps)
    return value.having(**steps)


def _told_anew(reason: Reason, told: Origins) -> Reason:
    """Return a reason whose first steps are those of another call's argument; itself where it has none of these."""
    later: list[Reason] = []
    step: Reason | None = reason if told else None
    while step is not None and id(step) not in told:
        later.append(step)
        step = step.after
    if step is None:
        return reason
    found = told[id(step)]
    for each in reversed(later):
        found = replace(each, after=found)
    return found
