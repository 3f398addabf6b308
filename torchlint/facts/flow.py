"""What becomes of a value: an answer that is excluded, sure, or neither, and what decides."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

YES: Final = "yes"
NO: Final = "no"
PERHAPS: Final = "perhaps"

WRITTEN_HERE: Final = "written here"
WRITTEN_THERE: Final = "written by a callee"
"""Reasons of a write that is seen."""


@dataclass(frozen=True, slots=True)
class FlowFact:
    """An answer about memory; a no is proven, of what is not known it is perhaps."""

    answer: str
    """YES, NO or PERHAPS."""
    at: ast.AST | None = None
    """What decides, where it stands in the file that was asked about."""
    reason: str = ""

    @property
    def is_no(self) -> bool:
        """Whether it is excluded."""
        return self.answer == NO


OPEN: Final = FlowFact(PERHAPS)
"""Nothing is known."""
