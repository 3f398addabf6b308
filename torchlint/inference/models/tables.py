"""Tables of what functions do: rows of names and an effect, read once at import and checked there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from typing import Generic, TypeVar

from torchlint.facts.value import UNKNOWN, Kind, Mode, Value, of_kind
from torchlint.inference.models.call_arguments import Arguments

_Effect = TypeVar("_Effect")


class TableError(ValueError):
    """A row that cannot be understood; the message names it."""


@dataclass(frozen=True)
class Call:
    """A call as an effect sees it: which function, on what, with what, in which grad mode."""

    name: str
    """The function's full name, or a method's own."""
    given: Arguments
    mode: Mode
    receiver: Value = UNKNOWN

    @property
    def word(self) -> str:
        """Return the last word of the name."""
        return self.name.rpartition(".")[2]


Effect = Callable[[Call], Value | None]
"""What a call gives; None where nothing is known of it."""


class Table(Generic[_Effect]):
    """Names and what each of them does.

    A row reads ``name name -> effect``. A name may be a pattern as the shell knows them (``torch.backends.*``): the
    whole name comes before patterns, and the longest of these first. ``meaning`` says what the word for an effect
    means, and None where it means nothing.
    """

    def __init__(self, text: str, meaning: Callable[[str], _Effect | None]) -> None:
        self._known: dict[str, _Effect] = {}
        for row, names, word in _rows(text):
            effect = meaning(word)
            if effect is None:
                raise TableError(f"no effect is called {word!r}: {row}")
            for name in names:
                if name in self._known:
                    raise TableError(f"{name!r} has a row already: {row}")
                self._known[name] = effect
        patterns = sorted(filter(_PATTERN.search, self._known), key=len, reverse=True)
        self._patterns = [(re.compile(translate(each)).match, self._known[each]) for each in patterns]

    def find(self, name: str) -> _Effect | None:
        """Return what a name does; None where the table does not say."""
        if name in self._known:
            return self._known[name]
        return next((effect for matches, effect in self._patterns if matches(name)), None)

    def by_name(self) -> dict[str, _Effect]:
        """Return what each name does, of a table in which a pattern has no place."""
        if pattern := next(filter(_PATTERN.search, self._known), None):
            raise TableError(f"a name is needed here, not a pattern: {pattern}")
        return self._known


_PATTERN = re.compile(r"[*?\[]")


def _rows(text: str) -> Iterator[tuple[str, list[str], str]]:
    for row in filter(None, map(str.strip, text.splitlines())):
        names, arrow, word = row.partition("->")
        if not arrow or not names.strip() or not word.strip():
            raise TableError(f"a row reads `name name -> effect`: {row}")
        yield row, names.split(), word.strip()


def functions(text: str, effects: Iterable[Effect]) -> Table[Effect]:
    """Return a table of functions.

    A word is the name of one of ``effects``, or a kind of value: ``array|scalar``, ``sequence of integer``.
    An effect that no row asks for is an error too.
    """
    known = {each.__name__.removeprefix("_"): each for each in effects}
    asked: set[str] = set()

    def meaning(word: str) -> Effect | None:
        asked.add(word)
        return known.get(word) or constant(word)

    table = Table(text, meaning)
    if unasked := known.keys() - asked:
        raise TableError(f"no row asks for {', '.join(sorted(unasked))}")
    return table


def constant(word: str) -> Effect | None:
    """Return the effect of giving a value of some kinds, whatever the arguments; None where a word is no kind."""
    outer, _, inner = word.partition(" of ")
    kind, members = kinds(outer.split("|")), kinds(inner.split("|")) if inner else None
    if kind is None or (inner and members is None):
        return None
    value = of_kind(kind, member=None if members is None else of_kind(members))
    return lambda _: value


def kinds(words: Iterable[str]) -> Kind | None:
    """Return the union of kinds by their names in lower case; None where one is none."""
    found = Kind(0)
    for word in words:
        one = _KINDS.get(word)
        if one is None:
            return None
        found |= one
    return found


_KINDS = {str(each.name).lower(): each for each in Kind}


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set, each of which stands there once."""
    listed = text.split()
    found = frozenset(listed)
    if len(found) < len(listed):
        twice = sorted({each for each in listed if listed.count(each) > 1})
        raise TableError(f"{', '.join(twice)} stands twice in a list of words")
    return found
