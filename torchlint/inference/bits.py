"""Sets of possibilities as plain integers: what ``enum.IntFlag`` computes in Python, ``int`` does in C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enum import IntFlag

    Bits = IntFlag
else:

    class _Named(type):
        def __iter__(cls) -> Iterator[Bits]:
            return iter(cls.members.values())

        def __getitem__(cls, name: str) -> Bits:
            return cls.members[name]

    class Bits(int, metaclass=_Named):
        """Declared and spelled like ``enum.IntFlag``; results of operators are integers without a name.

        Walks of functions join and compare these sets all the time: with ``IntFlag`` a fifth of a check went there.
        """

        def __init_subclass__(cls) -> None:
            cls.members = {word: cls(bit) for word, bit in vars(cls).items() if word.isupper()}
            for word, bit in cls.members.items():
                bit.name = word
                setattr(cls, word, bit)
