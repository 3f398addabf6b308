"""What a run finds goes into the cache in portions, so that a run that is killed keeps most of it."""

from __future__ import annotations

from torchlint.cache.memory import Memory
from torchlint.discover import Target
from torchlint.model import FileResult

EVERY = 3_000_000_000
"""Nanoseconds between portions at least."""
SHARE = 20
"""Writing may take one part in so many of a run's time: each portion writes all that is known of its folders anew."""


class Portions:
    """Results on their way into a memory; it looks at the files again before it believes what was found in them."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: list[tuple[Target, FileResult, bytes]] = []
        self._due = memory.clock() + EVERY

    def add(self, target: Target, result: FileResult, raw: bytes) -> None:
        """Take what was found in a file that held ``raw``, and write where it is time to."""
        self._waiting.append((target, result, raw))
        if self._memory.clock() >= self._due:
            self.write()

    def write(self) -> None:
        """Write all that was taken."""
        begun = self._memory.clock()
        self._memory.refresh()
        for each in self._waiting:
            self._memory.remember(*each)
        self._waiting.clear()
        self._memory.write()
        ended = self._memory.clock()
        self._due = ended + max(EVERY, SHARE * (ended - begun))
