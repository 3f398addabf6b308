"""Which rows of two texts differ, in time that does not explode where many rows are alike, as blank ones are."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

Difference = tuple[int, int, int, int]
"""From and up to a row of the old text, from and up to a row of the new one, counted from 0."""


def differences(old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """Give what is different, in order.

    Rows that both texts have once are taken to be the same row, if they come in the same order; what lies between two
    of them is looked at in the same way, and where there are none, it differs as a whole.
    """
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        start, end, begin, stop = waiting.pop()
        head = _common(old[start:end], new[begin:stop])
        start, begin = start + head, begin + head
        tail = _common(old[start:end][::-1], new[begin:stop][::-1])
        end, stop = end - tail, stop - tail
        if (start, begin) == (end, stop):
            continue
        anchors = _anchors(old[start:end], new[begin:stop])
        if not anchors:
            yield start, end, begin, stop
            continue
        ends = [(-1, -1), *anchors, (end - start, stop - begin)]
        between = [
            (start + one + 1, start + next_one, begin + other + 1, begin + next_other)
            for (one, other), (next_one, next_other) in pairwise(ends)
        ]
        waiting += reversed(between)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the rows that both have once, as many as come in the same order."""
    known, counts = Counter(old), Counter(new)
    places = {row: at for at, row in enumerate(new) if counts[row] == 1 == known[row]}
    pairs = [(at, places[row]) for at, row in enumerate(old) if row in places]
    # The longest ascending run: of each length the one that ends lowest, each with the pair before it.
    lowest: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        length = bisect.bisect_left(lowest, place)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [place]
        ends[length : length + 1] = [at]
    found = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
