"""Dataclasses that are frozen to the type checker alone: Python's own guard makes one nine times as slow to make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as frozen
else:

    def frozen(*, frozen: bool, slots: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Make a dataclass of which nobody changes an object; walks of functions make hundreds of them."""
        assert frozen
        return dataclass(slots=slots, eq=eq, unsafe_hash=eq)


__all__ = ["frozen"]
