"""Answers that rest on each other: guessed, found, compared, and asked for again until guess and finding agree.

A method asks for an attribute that another sets from what the first one set; a function calls itself. Whoever asks for
something that is being looked for at this moment gets the finding of the round before, and what was made in a round
with a wrong guess is forgotten. A guess that covers what was found by it holds for every run, by induction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from torchlint.facts.value import UNKNOWN, Value
from torchlint.inference.lattice import join

_Made = TypeVar("_Made")

_Entry = tuple[dict[Any, Any], object]

_JOINED: Final = 3
"""From this round on a guess only grows."""

_GIVEN_UP: Final = 5
"""From this round on a guess that was wrong is that nothing is known."""

_LAST: Final = 12
"""So many rounds there are at most."""


_DEEPEST: Final = 4
"""Containers in containers are told apart this deep: a function that wraps its own result would never settle."""


def with_limited_depth(value: Value, depth: int = _DEEPEST) -> Value:
    """Return a value of which nothing is known that is nested too deeply."""
    if not value.has_parts:
        return value
    if not depth:
        return value.having(items=None, member=UNKNOWN, keys=())
    return value.with_parts(lambda each: with_limited_depth(each, depth - 1))


@dataclass
class _Round:
    """One walk for one question, with those for the questions that it led to and that could not be settled alone."""

    number: int
    asked: set[Hashable] = field(default_factory=set)
    """What was guessed, and is being looked for further out: the answer rests on it."""
    guessed: set[Hashable] = field(default_factory=set)
    """All that was guessed."""
    made: list[_Entry] = field(default_factory=list)
    wrong: bool = False

    def take(self, inner: _Round) -> None:
        """Let an inner round, which rests on guesses of this one, share its fate."""
        self.asked |= inner.asked
        self.guessed |= inner.guessed
        self.made += inner.made
        self.wrong |= inner.wrong


class Rounds:
    """The rounds of the questions to a project, one inside the other.

    A question settles alone where its answer rests on no guess that somebody further out has made: it is then walked
    again until its own guesses agree, and what it made is kept for good. Others are walked once in each round of the
    question on which they rest.
    """

    def __init__(self) -> None:
        self._rounds: list[_Round] = []
        self._guesses: dict[Hashable, Value] = {}
        self._resting: dict[tuple[int, object], set[Hashable]] = {}
        """The guesses on which what is stored rests, by the store and the key."""

    def guess(self, thing: Hashable, first: Value) -> Value:
        """Return what is guessed of something whose walk is under way; ``first`` in the first round."""
        self._rounds[-1].asked.add(thing)
        self._rounds[-1].guessed.add(thing)
        return self._guesses.setdefault(thing, first if self._number < _GIVEN_UP else UNKNOWN)

    def found(self, thing: Hashable, value: Value, last: bool = True) -> None:
        """Compare what was found with what was guessed, if anybody asked; ``last`` says that the walk is over."""
        if thing not in self._guesses or not self._rounds:
            return
        if last:
            self._rounds[-1].asked.discard(thing)
        before, value = self._guesses[thing], with_limited_depth(value)
        if before is UNKNOWN or value.same(before) or (self._number and join(before, value).same(before)):
            return
        self._rounds[-1].wrong = True
        if self._number >= _GIVEN_UP or value.same(UNKNOWN):  # what grows from nothing does not come back from there
            self._guesses[thing] = UNKNOWN
        else:
            self._guesses[thing] = join(before, value) if self._number >= _JOINED else value

    def words(self, method: Hashable) -> set[str]:
        """Return the attributes that were guessed of a method while it was being walked."""
        return {thing[1] for thing in self._guesses if isinstance(thing, tuple) and thing[0] is method}

    def keep(self, store: dict[_Made, Any], key: _Made) -> None:
        """Forget what is stored under a key, should a guess on which it may rest be wrong."""
        if self._rounds:
            self._rounds[-1].made.append((store, key))

    def used(self, store: dict[_Made, Any], key: _Made) -> None:
        """Take notice that the answer rests on something stored, and so on the guesses on which that rests."""
        if self._resting and self._rounds:
            things: Collection[Hashable] = self._resting.get((id(store), key), ())
            self._rounds[-1].asked.update(things)
            self._rounds[-1].guessed.update(things)

    def settle(self, walk: Callable[[], _Made]) -> _Made:
        """Walk, and walk again while guesses were wrong."""
        for number in range(_LAST):
            this = _Round(number)
            self._rounds.append(this)
            try:
                result = walk()
            except BaseException:
                self._forget(this)
                raise
            finally:
                self._rounds.pop()
            if this.asked and self._rounds:
                for store, key in this.made:
                    self._resting.setdefault((id(store), key), set()).update(this.asked)
                self._rounds[-1].take(this)
                return result
            if not this.wrong:
                self._end(this)
                return result
            self._forget(this)
        self._end(this)
        return result

    @property
    def _number(self) -> int:
        return max(each.number for each in self._rounds)

    def _end(self, this: _Round) -> None:
        for thing in this.guessed:
            self._guesses.pop(thing, None)
        for store, key in this.made:
            self._resting.pop((id(store), key), None)

    def _forget(self, this: _Round) -> None:
        for store, key in this.made:
            dropped = store.pop(key, None)
            if (close := getattr(dropped, "close", None)) is not None:
                close()
            self._resting.pop((id(store), key), None)
