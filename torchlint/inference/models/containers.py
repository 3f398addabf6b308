"""What lists, dicts and other holders of values give back, and what they hold after a change."""

from __future__ import annotations

import ast

from torchlint.inference.arguments import Arguments
from torchlint.inference.facts import ANY, UNKNOWN, Kind, Value, join, join_all, of_kind

_GROWING = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "extend": 0, "update": 0, "setdefault": 1}

FOREIGN = Kind.OTHER | Kind.ARRAY | Kind.SCALAR | Kind.STRING | Kind.SEQUENCE
"""What objects of libraries other than torch give."""


def part(value: Value) -> Value:
    """Give what iterating over a value, or taking one of its parts, may give."""
    if not value.kind:
        return value
    if value.must(Kind.MODULE) and (value.items or value.member is not None):
        held = value.element()
        return held.having(place=value.place, why_place=value.why_place) if held.must(Kind.MODULE) else held
    if value.items is not None or value.member is not None:
        return value.element() if value.items != () else UNKNOWN
    if value.must(Kind.TENSOR):
        return value.having(rank=None, names=frozenset(), instance=frozenset(), const=None)
    if value.must(Kind.ARRAY):
        return of_kind(Kind.ARRAY | Kind.SCALAR)
    if value.must(Kind.SIZE):
        return of_kind(Kind.INTEGER)
    if value.must(Kind.STRING):
        return of_kind(Kind.STRING)
    if value.may(Kind.TENSOR):
        kind = value.kind if not value.may(Kind.OTHER | Kind.MODULE) else ANY
        return Value(kind, value.grad, value.place, value.dtype, why_grad=value.why_grad, why_place=value.why_place)
    if value.may(Kind.OTHER) and value.must(FOREIGN) and not value.names and not value.instance:
        return of_kind(FOREIGN)
    return UNKNOWN


def element(base: Value, where: ast.expr, index: Value) -> Value:
    """Give ``base[where]``."""
    if isinstance(where, ast.Slice):
        return _sliced(base)
    at = index.const
    if base.items is not None and type(at) is int and -len(base.items) <= at < len(base.items):
        return base.items[at]
    if isinstance(index.const, str):
        for key, value in base.keys:
            if key == index.const:
                return value
        if base.keys and base.must(Kind.SEQUENCE) and base.member is None:
            return UNKNOWN
    if base.must(Kind.SIZE):
        return of_kind(Kind.INTEGER)
    return part(base)


def _sliced(base: Value) -> Value:
    if base.must(Kind.SEQUENCE | Kind.SIZE):
        if base.must(Kind.SIZE):
            return base
        return of_kind(Kind.SEQUENCE, member=base.element())
    if base.must(Kind.STRING):
        return of_kind(Kind.STRING)
    if base.items is not None or base.member is not None:
        return base.having(items=None, member=base.element(), rank=None)
    return part(base).having(kind=base.kind) if base.may(Kind.TENSOR) else part(base)


def method(base: Value, name: str, given: Arguments) -> Value | None:
    """Give the result of a method of a list, dict, set or other Python container; None for other names."""
    held = base.element() if base.items != () else UNKNOWN
    match name:
        case "items":
            return of_kind(Kind.SEQUENCE, member=of_kind(Kind.SEQUENCE, items=(_key(), held)))
        case "values" | "copy" | "__iter__":
            return base.having(items=None, member=held) if name == "copy" else of_kind(Kind.SEQUENCE, member=held)
        case "keys":
            return of_kind(Kind.SEQUENCE, member=_key())
        case "pop" | "popleft" | "get" | "setdefault" | "popitem":
            return _taken(base, held, given)
        case "index" | "count":
            return of_kind(Kind.INTEGER)
        case "append" | "extend" | "insert" | "update" | "clear" | "sort" | "reverse" | "remove" | "add" | "appendleft":
            return of_kind(Kind.NONE)
    return None


def _key() -> Value:
    return of_kind(Kind.STRING | Kind.INTEGER | Kind.SCALAR | Kind.OTHER)


def _taken(base: Value, held: Value, given: Arguments) -> Value:
    wanted = given.find(0, "key")
    for key, value in base.keys:
        if wanted is not None and wanted.const == key:
            return value
    default = given.find(1, "default")
    if default is not None and not default.must(Kind.NONE):
        return join(held, default)
    return held


def grown(base: Value, name: str, given: Arguments) -> Value | None:
    """Give a container after a method that puts something into it; None for other methods."""
    if name not in _GROWING or not given.positional[_GROWING[name] :]:
        return None
    new = given.positional[_GROWING[name]]
    if name in ("extend", "update"):
        new = part(new)
    return holding(base, new)


def holding(base: Value, new: Value) -> Value:
    """Give a container after something was put into it."""
    if base.items is not None:
        held: Value | None = join_all(base.items)
    else:
        held = base.member
    if held is None:
        return base  # nothing is known of what else it holds
    return base.having(items=None, member=join(held, new))


def unpacked(value: Value, targets: list[ast.expr]) -> list[Value]:
    """Give the values that unpacking hands to each of some targets."""
    starred = any(isinstance(each, ast.Starred) for each in targets)
    if value.items is not None and len(value.items) == len(targets) and not starred:
        return list(value.items)
    if value.items is not None and starred:
        return _unpacked_star(value.items, targets)
    return [part(value) for _ in targets]


def _unpacked_star(items: tuple[Value, ...], targets: list[ast.expr]) -> list[Value]:
    at = next(index for index, each in enumerate(targets) if isinstance(each, ast.Starred))
    after = len(targets) - at - 1
    middle = items[at : len(items) - after]
    return [*items[:at], join_all(middle) if middle else UNKNOWN, *items[len(items) - after :]][: len(targets)]
