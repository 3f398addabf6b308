"""What code puts into a list or a dictionary that another object keeps: ``meter.losses.append(loss)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, UNKNOWN, Kind, Reason, Value, of_kind
from torchlint.inference.lattice import join
from torchlint.inference.program.fillings import is_of_another

if TYPE_CHECKING:
    from torchlint.inference.interpreter.class_texts import Class
    from torchlint.inference.interpreter.statements import Flow

_OF_ANY = ""
"""In the place of a class: the object may be of any."""


class Filled:
    """What one walk puts into names, and into attributes of other objects than its own, by the class of the object."""

    def __init__(self) -> None:
        self._found: dict[str, Value] = {}

    def note(self, place: ast.expr, new: Value, values: Mapping[ast.expr, Value]) -> bool:
        """Remember what is put into a place; give whether that is news of another object."""
        held = new
        while isinstance(place, ast.Subscript):
            held, place = of_kind(Kind.SEQUENCE, member=held), place.value
        if isinstance(place, ast.Name):
            self._take(name_key(place.id), of_kind(Kind.SEQUENCE, member=_kept(held, place)))
            return False
        if not isinstance(place, ast.Attribute) or not is_of_another(place):
            return False
        owner = values.get(place.value, UNKNOWN)
        after = of_kind(Kind.SEQUENCE, member=_kept(held, place))
        news = [self._take(f"{name}.{place.attr}", after) for name in sorted(owner.instance) or (_OF_ANY,)]
        return any(news)

    def _take(self, key: str, held: Value) -> bool:
        before = self.get(key)
        self._found[key] = join(before, held)
        return not self._found[key].same(before)

    def get(self, key: str) -> Value:
        """Return what was put in under one of :func:`filling_keys`."""
        return self._found.get(key, NOTHING)


def _kept(value: Value, place: ast.Attribute | ast.Name) -> Value:
    """Return what is put into a place as the methods of the object find it: by the text of another function."""

    def step(reason: Reason | None) -> Reason | None:
        return Reason("{code} keeps it", place, reason, weak=True) if reason is not None else None

    steps = {"why_grad": step(value.why_grad), "why_device": step(value.why_device)}
    if value.must(Kind.SEQUENCE) and value.member is not None:
        return value.having(member=_kept(value.member, place), **steps)
    return value.having(**steps)


def set_in(flow: Flow, word: str) -> Value:
    """Return what a walk sets an attribute of ``self`` to, or puts under one of :func:`filling_keys`."""
    return flow.attributes[word] if word in flow.attributes else flow.filled.get(word)


def name_key(word: str) -> str:
    """Return what :class:`Filled` calls a name."""
    return f"{word}["


def filling_keys(known: Class, word: str) -> tuple[str, str]:
    """Return what :class:`Filled` calls an attribute of a class, and one of objects of which no class is known."""
    return f"{known.name}.{word}", f"{_OF_ANY}.{word}"
