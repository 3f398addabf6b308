"""Answers that rest on each other: guessed, found, compared, and asked for again until guess and finding agree.

A method asks for an attribute that another sets from what the first one set; a function calls itself. Whoever asks for
something that is being looked for at this moment gets the finding of the round before, and what was made in a round
with a wrong guess is forgotten. A guess that agrees with what was found by it holds for every run, by induction.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from torchlint.inference.facts import UNKNOWN, Value, join

_Made = TypeVar("_Made")

_JOINED: Final = 3
"""From this round on a guess only grows."""

_GIVEN_UP: Final = 5
"""From this round on a guess that was wrong is that nothing is known."""


_DEEPEST: Final = 4
"""Containers in containers are told apart this deep: a function that wraps its own result would never settle."""


def clipped(value: Value, depth: int = _DEEPEST) -> Value:
    """Give a value of which nothing is known that is nested too deeply."""
    if value.items is None and value.member is None and not value.keys:
        return value
    if not depth:
        return value.having(items=None, member=UNKNOWN, keys=())
    return value.having(
        items=tuple(clipped(each, depth - 1) for each in value.items) if value.items is not None else None,
        member=clipped(value.member, depth - 1) if value.member is not None else None,
        keys=tuple((word, clipped(each, depth - 1)) for word, each in value.keys),
    )


class Rounds:
    """The rounds of one question to a project; questions that it leads to belong to it."""

    def __init__(self) -> None:
        self._under_way = False
        self._number = 0
        self._guesses: dict[Hashable, Value] = {}
        self._asked: set[Hashable] = set()
        self._made: list[tuple[dict[Any, Any], object]] = []
        self._wrong = False

    def guess(self, thing: Hashable, first: Value) -> Value:
        """Give what is guessed of something whose walk is under way; ``first`` in the first round."""
        self._asked.add(thing)
        return self._guesses.setdefault(thing, first)

    def found(self, thing: Hashable, value: Value) -> None:
        """Compare what was found with what was guessed, if anybody asked."""
        if thing not in self._asked:
            return
        before, value = self._guesses[thing], clipped(value)
        if before is UNKNOWN or value.same(before):
            return
        self._wrong = True
        if self._number >= _GIVEN_UP:
            self._guesses[thing] = UNKNOWN
        else:
            self._guesses[thing] = join(before, value) if self._number >= _JOINED else value

    def keep(self, store: dict[_Made, Any], key: _Made) -> None:
        """Forget what is stored under a key, should a guess of this round be wrong."""
        if self._under_way:
            self._made.append((store, key))

    def settle(self, walk: Callable[[], _Made]) -> _Made:
        """Walk, and walk again while guesses were wrong."""
        if self._under_way:
            return walk()
        self._under_way = True
        try:
            for self._number in range(_GIVEN_UP + 3):
                self._asked, self._made, self._wrong = set(), [], False
                result = walk()
                if not self._wrong:
                    self._made = []
                    break
                self._forget()
            return result
        finally:
            self._forget()
            self._under_way = False
            self._guesses = {}

    def _forget(self) -> None:
        for store, key in self._made:
            store.pop(key, None)
        self._made = []
