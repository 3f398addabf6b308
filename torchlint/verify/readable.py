"""What was observed before and after, as people compare it: numbers as numbers, and a value in one short line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from torchlint.source.shortening import one_line
from torchlint.verify.compare import ABSENT

Seen = tuple[str, object, object]
"""An observable with both of its values."""
_ROOM = 60
"""Characters of a row of numbers that is shown whole; of a longer one, what differs is."""
_WRAPPED = re.compile(r"(?:np|numpy)\.\w+\((.*)\)")
"""How NumPy 2 spells a number of its own."""
_TEXTS = ("shares memory with", "is an input", "warnings")
"""Observables that are lists of names or texts."""
_OF_CONTENT = ("class", "dtype", "shape", "elements", "value")


def readable(found: Sequence[Seen]) -> list[tuple[str, str, str]]:
    """Return what differed in one world as text.

    Where a name held another sort of thing afterwards, that is one difference and not one in each of its properties.
    """
    facts = {what: (before, after) for what, before, after in found}
    told: dict[str, tuple[str, str]] = {}
    changed: set[str] = set()
    for what, before, after in found:
        name, _, trait = what.rpartition(": ")
        if trait in _OF_CONTENT and ABSENT in (before, after) and _is_exchanged(name, facts):
            changed.add(name)
            told[name] = (_thing(name, facts, 0), _thing(name, facts, 1))
        else:
            told[what] = pair(what, before, after)
    # What else was seen of the one thing, and who shared its memory, says no more.
    return [
        (what, *values)
        for what, values in told.items()
        if what.rpartition(": ")[0] not in changed
        and not (what.endswith(_TEXTS) and len({_without(changed, each) for each in facts[what]}) == 1)
    ]


def _without(names: set[str], value: object) -> object:
    return tuple(each for each in value if each not in names) if isinstance(value, tuple) else value


def pair(what: str, before: object, after: object) -> tuple[str, str]:
    """Return two values as text that differs where they do."""
    if _is_elements(before) and _is_elements(after):
        return _elements(before, after)
    if what.endswith(_TEXTS):
        return in_a_line(_listed(before)), in_a_line(_listed(after))
    one, other = _plain(before), _plain(after)
    if one == other and _is_value(before) and _is_value(after):
        one, other = (f"{_plain(each)} ({each[0]})" for each in (before, after))  # type: ignore[index]
    if one == other:
        one, other = repr(before), repr(after)
    return in_a_line(one), in_a_line(other)


def in_a_line(text: str) -> str:
    """Return a text in a line of at most 160 characters."""
    return one_line(text, 160)


# ---------------------------------------------------------------------- another sort of thing
def _is_exchanged(name: str, facts: dict[str, tuple[object, object]]) -> bool:
    """Whether a name held a tensor or an array on one side, and a number or the like on the other."""
    known = [facts[each] for each in (f"{name}: elements", f"{name}: value") if each in facts]
    return all(any(each[at] != ABSENT for each in known) for at in (0, 1))


def _present(name: str, facts: dict[str, tuple[object, object]]) -> list[str]:
    return [trait for trait in _OF_CONTENT if f"{name}: {trait}" in facts]


def _thing(name: str, facts: dict[str, tuple[object, object]], at: int) -> str:
    has = {trait: facts[f"{name}: {trait}"][at] for trait in _present(name, facts)}
    value = has.get("value", ABSENT)
    if value != ABSENT:
        return in_a_line(f"{_plain(value)} ({_sort(value)})")
    elements = has.get("elements")
    text = _plain(elements)
    sort = has.get("class", "")
    return in_a_line(f"{text} ({sort})" if isinstance(sort, str) and sort != ABSENT else text)


def _sort(value: object) -> str:
    return str(value[0]) if isinstance(value, tuple) and value else ""


def is_only_element(name: str, found: Sequence[Seen]) -> bool:
    """Whether a name held a tensor of one element before, and that element as a number of Python afterwards."""
    facts = {what: (before, after) for what, before, after in found}
    elements, value = facts.get(f"{name}: elements", ("", ""))[0], facts.get(f"{name}: value", ("", ""))[1]
    made = _tensor(elements) if _is_elements(elements) else None  # type: ignore[arg-type]
    return made is not None and made.numel() == 1 and _is_value(value) and _plain(value) == repr(made.item())


# ---------------------------------------------------------------------- one value
def _plain(value: object) -> str:
    if _is_elements(value):
        numbers = _numbers(value)  # type: ignore[arg-type]
        return repr(value) if numbers is None else _nested(numbers, value[1])  # type: ignore[index]
    if _is_value(value):
        sort, text = map(str, value)  # type: ignore[call-overload]
        wrapped = _WRAPPED.fullmatch(text)
        return (wrapped[1] if wrapped else text) or f"a {sort}"
    if value is None:
        return "none"
    match value:
        case (str() as sort, int() as length):
            return f"{sort} of {length}"
        case str():
            return value or "nothing"
    return repr(value)


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(filter(None, map(str, value))) or "none"
    return _plain(value)


def _is_value(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(each, str) for each in value)


def _is_elements(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], bytes)


# ---------------------------------------------------------------------- rows of numbers
def _elements(before: Any, after: Any) -> tuple[str, str]:
    one, other = _numbers(before), _numbers(after)
    if one is None or other is None:
        return in_a_line(repr(before)), in_a_line(repr(after))
    whole = _nested(one, before[1]), _nested(other, after[1])
    if before[0] != after[0]:
        return in_a_line(f"{whole[0]} ({before[0]})"), in_a_line(f"{whole[1]} ({after[0]})")
    if whole[0] == whole[1] and before[1] != after[1]:
        return f"{whole[0]} {before[1]}", f"{whole[1]} {after[1]}"
    if whole[0] == whole[1]:  # such as two sorts of nan
        return before[2].hex(" ", -4), after[2].hex(" ", -4)
    if before[1] != after[1] or max(map(len, whole)) <= _ROOM:
        return in_a_line(whole[0]), in_a_line(whole[1])
    apart = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    more = f" and {len(apart) - 1} more" if len(apart) > 1 else ""
    place = f"at {list(_index(apart[0], before[1]))}"
    return f"{one[apart[0]]} {place}{more}", f"{other[apart[0]]} {place}{more}"


def _index(at: int, shape: Sequence[int]) -> Iterable[int]:
    found: list[int] = []
    for size in reversed(shape):
        found.append(at % size)
        at //= size
    return reversed(found)


def _numbers(elements: tuple[str, Sequence[int], bytes]) -> list[str] | None:
    """Return elements as Python would write them; None where they are of no dtype that says how."""
    made = _tensor(elements)
    return None if made is None else [_SPELLED.get(made.dtype, str)(each) for each in made.tolist()]


def _tensor(elements: tuple[str, Sequence[int], bytes]) -> Any:
    """Return elements as a tensor with one dimension; None where they are of no dtype of torch."""
    name, shape, raw = elements
    dtype = getattr(torch, name.rpartition(".")[2], None)
    if not isinstance(dtype, torch.dtype) or not all(isinstance(size, int) for size in shape):
        return None
    try:
        made = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
    except (TypeError, ValueError, RuntimeError):
        return None
    return made if made.numel() == math.prod(shape) else None


_SPELLED: dict[torch.dtype, Callable[[Any], str]] = {
    torch.float32: lambda number: str(np.float32(number)),
    torch.float16: lambda number: str(np.float16(number)),
    torch.complex64: lambda number: str(np.complex64(number)),
    torch.bfloat16: lambda number: str(float(f"{number:.3g}")),
}
"""Python would write a narrow number with all digits of a wide one."""


def _nested(numbers: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return numbers[0]
    step = len(numbers) // shape[0] if shape[0] else 0
    return f"[{', '.join(_nested(numbers[at * step : (at + 1) * step], shape[1:]) for at in range(shape[0]))}]"
